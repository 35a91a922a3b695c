package redis

import (
	"context"
	_ "embed" // the script
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"gatehouse/helper/limit"
)

// source is the script; its beginning describes keys, arguments and reply.
//
//go:embed script.lua
var source string

const (
	fieldsPerDemand = 4
	second          = int64(time.Second)
)

var errLength = errors.New("it hasn't the length that was asked for")

// script is one call of the script: the demands of a request whose buckets are
// in one slot.
type script struct {
	demands []int // their indices in the request's
	keys    []string
	args    []any
	reply   *redis.Cmd
}

// newCall groups demands for a Cluster by subject, because the buckets of one
// subject share a slot; otherwise all demands are one script.
func newCall(ctx context.Context, demands []limit.Demand, cluster bool) *call {
	c := &call{ctx: ctx, done: make(chan struct{})}
	for i := range demands {
		c.trips = demands[i].Calls
		s := c.scriptFor(demands, demands[i].Key.Subject(), cluster)
		s.add(i, &demands[i], max(1, demands[i].Batch))
	}
	return c
}

func (c *call) scriptFor(demands []limit.Demand, subject limit.Subject, cluster bool) *script {
	for i := range c.scripts {
		if !cluster || demands[c.scripts[i].demands[0]].Key.Subject() == subject {
			return &c.scripts[i]
		}
	}
	c.scripts = append(c.scripts, script{})
	return &c.scripts[len(c.scripts)-1]
}

func (s *script) add(index int, d *limit.Demand, most int) {
	interval, full, shadow := int64(d.Rule.Interval), int64(d.Rule.Full()), 0
	if d.Shadow {
		shadow = 1
	}
	s.demands = append(s.demands, index)
	s.keys = append(s.keys, keyName(d.Key))
	s.args = append(s.args, interval/second, interval%second, full/second, full%second, most, shadow)
}

// keyName has the subject as its hash tag. Base64 keeps it short: a million keys
// are a million names.
func keyName(key limit.Key) string {
	const prefix = "gatehouse:{"
	subject := key.Subject()
	name := make([]byte, 0, len(prefix)+36)
	name = append(name, prefix...)
	name = base64.RawURLEncoding.AppendEncode(name, subject[:])
	name = append(name, '}')
	return string(base64.RawURLEncoding.AppendEncode(name, key[len(subject):]))
}

// read puts the reply into the demands.
func (c *Client) read(s *script, demands []limit.Demand) error {
	reply, err := s.reply.Int64Slice()
	if err != nil {
		return fmt.Errorf("redis: reading the script's reply: %w", err)
	}
	if len(reply) != 2+fieldsPerDemand*len(s.demands) {
		return fmt.Errorf("redis: reading the script's reply: %w", errLength)
	}
	for i, index := range s.demands {
		d, fields := &demands[index], reply[2+fieldsPerDemand*i:]
		d.Taken = int(fields[0])
		d.Decision = d.Rule.Decision(time.Duration(fields[1]*second+fields[2]), d.Taken)
		if fields[3] != 0 {
			c.replaced(s.keys[i])
		}
	}
	return nil
}

// granted says whether the script has taken the tokens that it answers with.
func (s *script) granted(demands []limit.Demand) bool {
	for _, index := range s.demands {
		if !demands[index].Decision.Allowed && !demands[index].Shadow {
			return false
		}
	}
	return true
}

// reverse gives back what s took.
func (s *script) reverse(demands []limit.Demand) script {
	var back script
	for _, index := range s.demands {
		if d := &demands[index]; d.Taken > 0 {
			back.add(index, d, -d.Taken)
		}
	}
	return back
}
