package proxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"gatehouse/helper/transport"
	"gatehouse/helper/upstream"
)

// The results of a mirrored request.
const (
	MirrorSame      = "same"
	MirrorDifferent = "different"
	MirrorFailed    = "failed"  // it got no whole answer
	MirrorDropped   = "dropped" // it wasn't sent
)

const (
	mirrorQueue   = 64 // copies that wait
	mirrorWorkers = 8  // copies that are being sent
)

// MirrorOptions are what a mirror is made of.
type MirrorOptions struct {
	Upstream *Upstream     // that gets the copies
	Percent  float64       // of the requests
	Compare  bool          // the answers
	Timeout  time.Duration // for one copy
	// Result is called for each copy, on any goroutine. What differed is for the
	// log; without Compare an answer isn't reported at all.
	Result func(result string, difference Difference)
}

// Difference says in what two answers differ.
type Difference struct {
	TraceID     string
	Status      [2]int // of the client's answer, and of the mirror's
	Length      [2]int64
	BodyDiffers bool
	Failed      error // why there is no answer to compare
}

// Mirror sends copies of a route's requests to another upstream, after the client
// has had its whole answer: it neither delays nor fails one. What the copy is made
// of is what the backend got, with its identity headers. A request is dropped
// that had a body of more than retry.MaxBody bytes or no whole answer, and while too many
// wait. What becomes of a copy counts neither for the breaker nor for the health
// of the mirror's backends.
//
// A Mirror is safe for concurrent use; a nil one copies nothing.
type Mirror struct {
	options MirrorOptions
	queue   chan *copied
}

// NewMirror makes a mirror; Run must run while it is used.
func NewMirror(o MirrorOptions) *Mirror {
	return &Mirror{options: o, queue: make(chan *copied, mirrorQueue)}
}

// Run sends copies until the context ends. It returns nil when none is on its way
// any more.
func (m *Mirror) Run(ctx context.Context) error {
	var workers sync.WaitGroup
	for range mirrorWorkers {
		workers.Go(func() {
			for {
				select {
				case c := <-m.queue:
					m.deliver(ctx, c)
				case <-ctx.Done():
					return
				}
			}
		})
	}
	workers.Wait()
	return nil
}

// copied is a request as its backend got it, and what is to be compared of the
// answer. A nil one takes no notice.
type copied struct {
	method, path, query, host string
	header                    http.Header
	body                      []byte
	traceID                   string
	key                       uint64

	compare bool
	status  int
	length  int64
	digest  xxhash.Digest
}

// draw decides whether a request is copied. An upgrade isn't.
func (m *Mirror) draw(r *http.Request) *copied {
	if m == nil || rand.Float64()*100 >= m.options.Percent || r.Header["Upgrade"] != nil {
		return nil
	}
	c := &copied{compare: m.options.Compare}
	c.digest.Reset()
	return c
}

func (c *copied) take(out *http.Request, fields []transport.Field) {
	if c != nil {
		c.header, c.query, c.host = out.Header.Clone(), out.URL.RawQuery, out.Host
		transport.AddFields(c.header, fields)
		if c.header["User-Agent"] == nil {
			c.header["User-Agent"] = []string{""} // as httputil has it: net/http would add its own
		}
	}
}

func (c *copied) begun(status int) {
	if c != nil {
		c.status = status
	}
}

func (c *copied) answered(p []byte) {
	if c != nil && c.compare {
		c.length += int64(len(p))
		_, _ = c.digest.Write(p) // a digest takes every write
	}
}

// send hands over the copy of a call that has ended.
func (m *Mirror) send(c *call, r *http.Request) {
	made := c.copy
	if made == nil {
		return
	}
	made.method, made.path, made.traceID = r.Method, c.path, c.exchange.TraceID
	if key := m.options.Upstream.Key; key != nil {
		made.key = key(c.exchange, r)
	}
	if !c.ended || c.err != nil || c.exchange.Code != "" || !made.takeBody(c) {
		m.options.Result(MirrorDropped, Difference{})
		return
	}
	select {
	case m.queue <- made:
	default:
		m.options.Result(MirrorDropped, Difference{})
	}
}

// takeBody reads the kept body of a call; false means that it isn't all there.
func (c *copied) takeBody(from *call) bool {
	if from.request == nil {
		return true
	}
	if from.body == nil || !from.request.whole.Load() || !from.rewind() {
		return false
	}
	var err error
	c.body, err = io.ReadAll(from.reader)
	return err == nil
}

// deliver sends a copy and compares the answers.
func (m *Mirror) deliver(ctx context.Context, c *copied) {
	ctx, cancel := context.WithTimeout(ctx, m.options.Timeout)
	defer cancel()
	status, length, sum, err := m.call(ctx, c)
	switch d := (Difference{TraceID: c.traceID, Status: [2]int{c.status, status}, Length: [2]int64{c.length, length}}); {
	case err != nil:
		d.Failed = err
		m.options.Result(MirrorFailed, d)
	case !c.compare:
	case c.status == status && c.digest.Sum64() == sum && c.length == length:
		m.options.Result(MirrorSame, Difference{})
	default:
		d.BodyDiffers = c.digest.Sum64() != sum
		m.options.Result(MirrorDifferent, d)
	}
}

var errNoMirrorBackend = errors.New("the mirror's upstream has no backend for it")

func (m *Mirror) call(ctx context.Context, c *copied) (status int, length int64, sum uint64, err error) {
	u := m.options.Upstream
	if !u.Pool.Enter() {
		return 0, 0, 0, errNoMirrorBackend
	}
	defer u.Pool.Leave()
	var attempt upstream.Attempt
	backend := u.Pool.Pick(&attempt, c.key)
	if backend == nil {
		return 0, 0, 0, errNoMirrorBackend
	}
	defer attempt.Release()
	out := (&http.Request{Method: c.method, URL: &url.URL{}, Header: c.header, ContentLength: int64(len(c.body))}).WithContext(ctx)
	out.Host = u.Host.of(c.host, backend)
	target(out, backend.Target, c.path, c.query)
	if len(c.body) > 0 {
		out.Body = io.NopCloser(bytes.NewReader(c.body))
	}
	res, err := backend.Transport.RoundTrip(out)
	if err != nil {
		return 0, 0, 0, err
	}
	defer res.Body.Close() //nolint:errcheck // it was read to its end, or there is a better error
	var digest xxhash.Digest
	digest.Reset()
	length, err = io.Copy(&digest, res.Body)
	return res.StatusCode, length, digest.Sum64(), err
}
