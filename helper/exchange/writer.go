package exchange

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Writer counts and records what goes to the client, applies the queued
// headers to the final answer, and cuts off a client that takes no byte for
// the write-idle time. Unwrap lets http.ResponseController through, so
// deadlines and full duplex work; Flush and Hijack are its own because the
// queue must be applied first.
type Writer struct {
	http.ResponseWriter
	ex *Exchange

	status   int // 0: no final header yet
	bytes    int64
	idle     time.Duration // 0: no limit
	extended time.Duration // when the write deadline was last moved, since the request began; 0: not yet
	always   bool          // each write is flushed
	failed   bool          // the client took no more
	interim  bool          // an informational header went out
	head     bool          // the answer to HEAD has no body
	old      bool          // HTTP/1.0: only the length tells whether a body is whole
}

// Failed says whether a write to the client failed.
func (w *Writer) Failed() bool { return w.failed }

// AddBytes counts bytes that went to the client past the writer, after Hijack.
func (w *Writer) AddBytes(n int64) { w.bytes += n }

// Started says whether the final header has gone out, or the connection was
// taken over.
func (w *Writer) Started() bool { return w.status != 0 }

// Begun says whether anything at all has gone out, also an informational header.
func (w *Writer) Begun() bool { return w.interim || w.status != 0 }

// Bytes is how much of the body went to the client.
func (w *Writer) Bytes() int64 { return w.bytes }

// FlushAlways makes each write go out at once.
func (w *Writer) FlushAlways() { w.always = true }

// FlushesAlways says whether each write goes out at once.
func (w *Writer) FlushesAlways() bool { return w.always }

// Unwrap returns the server's own writer, for http.ResponseController.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader sends an informational header through, without the hop-by-hop
// headers of the upstream's connection, or the final one with the queue
// applied. A second final header is ignored.
func (w *Writer) WriteHeader(status int) {
	if w.status != 0 {
		return
	}
	if status == http.StatusContinue {
		return // net/http says it itself, once, when the body is first read
	}
	h := w.Header()
	if status >= 100 && status < 200 && status != http.StatusSwitchingProtocols {
		if w.old {
			return // HTTP/1.0 has none (RFC 9110 section 15.2)
		}
		w.interim = true
		RemoveHopByHop(h)
		w.ex.Scrub(h)
		w.ExtendDeadline()
		w.ResponseWriter.WriteHeader(status)
		return
	}
	w.status = status
	if w.serverCounts(h, status) {
		delete(h, "Content-Length") // before more headers come
	}
	w.applyQueue(h)
	if _, ok := h["Content-Type"]; !ok {
		h["Content-Type"] = nil // so that net/http doesn't guess one, which would turn an upload into a page
	}
	w.ExtendDeadline() // the deadline of the request before may still stand on the connection
	w.ResponseWriter.WriteHeader(status)
	if w.always {
		_ = w.FlushError()
	}
}

// short is how much of a body net/http keeps until the handler is done, and then knows
// its length.
const short = 2 << 10

// serverCounts says whether net/http will find the length of the body by itself. A
// header of more than eight names, with those that are queued, costs half as much
// again: net/http makes its map anew as it grows, and copies it.
func (w *Writer) serverCounts(h http.Header, status int) bool {
	if w.head || w.old || w.always || w.streams(h) || status < 200 || status == http.StatusNoContent || status == http.StatusNotModified || h["Trailer"] != nil {
		return false
	}
	lengths := h["Content-Length"]
	if len(lengths) != 1 {
		return false
	}
	n, err := strconv.ParseUint(lengths[0], 10, 16)
	return err == nil && n <= short
}

// streams says whether httputil flushes the body while it comes.
func (w *Writer) streams(h http.Header) bool {
	types := h["Content-Type"]
	return len(types) > 0 && MayStream(types[0])
}

// MayStream says whether a media type could be text/event-stream.
func MayStream(contentType string) bool {
	const prefix = "text/e"
	start := strings.TrimLeft(contentType, " \t")
	return len(start) >= len(prefix) && strings.EqualFold(start[:len(prefix)], prefix)
}

func (w *Writer) applyQueue(h http.Header) {
	w.ex.Clientward.Apply(h)
}

// Write sends part of the body.
func (w *Writer) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	w.ExtendDeadline()
	w.ex.Waiting.Add(1)
	n, err := w.ResponseWriter.Write(p)
	if !w.head { // net/http takes the body of an answer to HEAD and sends nothing
		w.bytes += int64(n)
	}
	if err == nil && w.always {
		err = http.NewResponseController(w.ResponseWriter).Flush()
	}
	w.ex.Waiting.Add(-1)
	if err != nil {
		w.failed = true
	}
	return n, err
}

// FlushError sends what is buffered. It is what http.ResponseController.Flush calls.
func (w *Writer) FlushError() error {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	w.ExtendDeadline()
	w.ex.Waiting.Add(1)
	err := http.NewResponseController(w.ResponseWriter).Flush()
	w.ex.Waiting.Add(-1)
	if err != nil {
		w.failed = true
	}
	return err
}

// Flush is FlushError for callers that know only http.Flusher.
func (w *Writer) Flush() { _ = w.FlushError() }

// Hijack takes the connection over, for an upgrade. The queue is applied to
// the header map first, because the caller writes that map itself.
func (w *Writer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.ex.life.detach(w.ex)
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return conn, rw, err
	}
	w.status = http.StatusSwitchingProtocols
	w.applyQueue(w.Header())
	if n := rw.Reader.Buffered(); n > 0 {
		early := make([]byte, n)
		_, _ = io.ReadFull(rw.Reader, early) // it is there
		conn = &hijacked{conn, early}
	}
	return conn, rw, nil
}

// hijacked is a connection on which something came behind the request, which httputil
// doesn't look for in the server's buffer.
type hijacked struct {
	net.Conn
	early []byte
}

func (c *hijacked) Read(p []byte) (int, error) {
	if len(c.early) == 0 {
		return c.Conn.Read(p)
	}
	n := copy(p, c.early)
	c.early = c.early[n:]
	return n, nil
}

// CloseWrite ends one direction, for those who look for it.
func (c *hijacked) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}

// ExtendDeadline gives the client another write-idle time to take a byte. The
// deadline is moved at most ten times in that time, which keeps it off the
// path of a fast answer; a client is cut after 0.9 to 1.0 of the limit.
func (w *Writer) ExtendDeadline() {
	if w.idle <= 0 {
		return
	}
	now := time.Since(w.ex.Start)
	if w.extended > 0 && now-w.extended < w.idle/10 {
		return
	}
	w.extended = max(now, 1)
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(w.ex.Start.Add(now + w.idle))
}

// RemoveHopByHop takes away the headers that are for one connection only (RFC
// 9110 section 7.6.1).
func RemoveHopByHop(h http.Header) {
	for _, line := range h["Connection"] {
		for name := range strings.SplitSeq(line, ",") {
			h.Del(strings.TrimSpace(name))
		}
	}
	for name := range h {
		if HopByHop(name) {
			delete(h, name)
		}
	}
}

// HopByHop says whether a header is for one connection only, whatever Connection says.
func HopByHop(name string) bool {
	switch name {
	case "Connection", "Proxy-Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Proxy-Authenticate",
		"Proxy-Authorization":
		return true
	}
	return false
}
