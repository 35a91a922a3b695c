package redis

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"gatehouse/helper/trace"
)

// largest is how many calls a pipeline has at most.
const largest = 128

// call is what one request wants of Redis. Whoever made it may stop waiting for
// it: it shares nothing with the request.
type call struct {
	ctx     context.Context
	scripts []script
	trips   *[]trace.Call // of the request, not touched by the worker; nil: nobody wants to know
	err     error
	done    chan struct{} // closed when err and the replies are there
}

// do has a worker send the call and waits for the replies.
func (c *Client) do(ctx context.Context, call *call) error {
	start := time.Now()
	err := c.exchange(ctx, call)
	end := time.Now()
	c.called(end.Sub(start), err)
	if call.trips != nil {
		*call.trips = append(*call.trips, trace.Call{Start: start, End: end, Err: err})
	}
	return err
}

func (c *Client) exchange(ctx context.Context, call *call) error {
	select {
	case c.calls <- call:
	case <-ctx.Done():
		return unanswered(ctx)
	}
	select {
	case <-call.done:
		return call.err
	case <-ctx.Done():
		return unanswered(ctx)
	}
}

func unanswered(ctx context.Context) error {
	return fmt.Errorf("redis: no answer in time: %w", context.Cause(ctx))
}

// work sends calls until ctx ends: the first that comes, and all that are waiting
// already, in one pipeline.
func (c *Client) work(ctx context.Context) {
	batch := make([]*call, 0, largest)
	for {
		select {
		case <-ctx.Done():
			return
		case first := <-c.calls:
			batch = c.gather(append(batch[:0], first))
		}
		c.send(ctx, batch)
		clear(batch)
	}
}

func (c *Client) gather(batch []*call) []*call {
	for len(batch) < largest {
		select {
		case next := <-c.calls:
			batch = append(batch, next)
		default:
			return batch
		}
	}
	return batch
}

// send makes one round trip, and another for the scripts that a node didn't
// know: it was restarted, or its scripts were flushed.
func (c *Client) send(ctx context.Context, batch []*call) {
	ctx, cancel := context.WithDeadline(ctx, latest(batch))
	defer cancel()
	all := make([]*script, 0, 2*len(batch))
	for _, call := range batch {
		for i := range call.scripts {
			all = append(all, &call.scripts[i])
		}
	}
	c.pipeline(ctx, all, func(pipe redis.Pipeliner, s *script) *redis.Cmd {
		return pipe.EvalSha(ctx, c.hash, s.keys, s.args...)
	})
	var unknown []*script
	for _, s := range all {
		if redis.HasErrorPrefix(s.reply.Err(), "NOSCRIPT") {
			unknown = append(unknown, s)
		}
	}
	c.pipeline(ctx, unknown, func(pipe redis.Pipeliner, s *script) *redis.Cmd {
		return pipe.Eval(ctx, source, s.keys, s.args...)
	})
	for _, call := range batch {
		for _, s := range call.scripts {
			if err := s.reply.Err(); err != nil {
				call.err = fmt.Errorf("redis: %w", err)
			}
		}
		close(call.done)
	}
}

func (c *Client) pipeline(ctx context.Context, scripts []*script, queue func(redis.Pipeliner, *script) *redis.Cmd) {
	if len(scripts) == 0 {
		return
	}
	pipe := c.redis.Pipeline()
	for _, s := range scripts {
		s.reply = queue(pipe, s)
	}
	_, err := pipe.Exec(ctx)
	for _, s := range scripts {
		if s.reply.Err() == nil && s.reply.Val() == nil { // nothing was sent: a wrong password, for instance
			s.reply.SetErr(err)
		}
	}
}

// latest is when nobody waits for the batch any longer.
func latest(batch []*call) time.Time {
	var last time.Time
	for _, call := range batch {
		deadline, ok := call.ctx.Deadline()
		if !ok {
			deadline = time.Now().Add(dialTimeout)
		}
		if deadline.After(last) {
			last = deadline
		}
	}
	return last
}
