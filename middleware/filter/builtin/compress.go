package builtin

import (
	"bufio"
	"compress/gzip"
	"io"
	"net"
	"net/http"
	"sync"

	"gatehouse/helper/exchange"
	"gatehouse/middleware/filter"
)

// compress sends answers gzipped (RFC 9110, section 8.4.1.3) to clients that take that, where it is worth it and allowed: see
// compressible. Whether it does is decided with the answer's header, so nothing is ever held back; an answer of unknown
// length counts as large.
func compress(use filter.Use) (filter.Filter, error) {
	if err := use.Argument.None(); err != nil {
		return nil, err
	}
	compressors := &sync.Pool{New: func() any {
		// The fastest level: a gateway pays for every byte, and the better ones save little more of JSON and HTML.
		z, err := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
		if err != nil { // the level exists
			panic(err)
		}
		return z
	}}
	return filter.Func(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodHead { // has no body, and its Content-Length is that of the upstream's
				next.ServeHTTP(w, r)
				return
			}
			c := &compressor{
				ResponseWriter: w, pool: compressors, accepted: acceptsGzip(r.Header),
				always: exchange.From(r.Context()).Writer.FlushesAlways,
			}
			next.ServeHTTP(c, r)
			c.finish() // not after a panic: half an answer must not get the end of a whole one
		})
	}), nil
}

// compressor is the ResponseWriter of one answer. Unwrap lets http.ResponseController through to the server's own.
type compressor struct {
	http.ResponseWriter
	pool     *sync.Pool
	accepted bool        // the client takes gzip
	always   func() bool // each write goes out at once
	decided  bool        // the final header has gone out
	zip      *gzip.Writer
	pending  bool // zip holds bytes back
}

// Unwrap returns the writer beneath.
func (c *compressor) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// WriteHeader decides with the final header whether the answer is compressed.
func (c *compressor) WriteHeader(status int) {
	informational := status >= 100 && status < 200 && status != http.StatusSwitchingProtocols
	if !c.decided && !informational {
		c.decided = true
		c.decide(status)
	}
	c.ResponseWriter.WriteHeader(status)
}

func (c *compressor) decide(status int) {
	h := c.Header()
	if status == http.StatusNotModified && c.accepted {
		weaken(h) // as it was on the 200 that the client has
	}
	if !compressible(status, h) {
		return
	}
	vary(h)
	if !c.accepted {
		return
	}
	weaken(h)
	h.Set("Content-Encoding", "gzip")
	h.Del("Content-Length")
	h.Del("Accept-Ranges") // its ranges are those of the plain answer
	c.zip = c.pool.Get().(*gzip.Writer)
	c.zip.Reset(c.ResponseWriter)
}

// Write sends part of the body.
func (c *compressor) Write(p []byte) (int, error) {
	if !c.decided {
		c.WriteHeader(http.StatusOK)
	}
	if c.zip == nil {
		return c.ResponseWriter.Write(p)
	}
	n, err := c.zip.Write(p)
	c.pending = true
	if err == nil && c.always() {
		err = c.FlushError()
	}
	return n, err
}

// FlushError sends what is buffered, here and below. It is what http.ResponseController.Flush calls.
func (c *compressor) FlushError() error {
	if !c.decided {
		c.WriteHeader(http.StatusOK)
	}
	if c.pending {
		c.pending = false
		if err := c.zip.Flush(); err != nil {
			return err
		}
	}
	return http.NewResponseController(c.ResponseWriter).Flush()
}

// Flush is FlushError for callers that know only http.Flusher.
func (c *compressor) Flush() { _ = c.FlushError() }

// Hijack takes the connection over, for an upgrade, which is never compressed.
func (c *compressor) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c.decided = true
	return http.NewResponseController(c.ResponseWriter).Hijack()
}

// finish writes the end of the compressed body.
func (c *compressor) finish() {
	if c.zip == nil {
		return
	}
	_ = c.zip.Close()       // a client that left is seen by the exchange's writer
	c.zip.Reset(io.Discard) // let go of the answer
	c.pool.Put(c.zip)
}
