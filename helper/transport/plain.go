package transport

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// Most requests and answers are plain, and net/http's code for all the others costs
// three times as much. What is read and written here is what net/http would have
// read and written, but for the order of a request's header fields, which says
// nothing (RFC 9110 section 5.3). Whatever isn't plain is left to net/http, with
// nothing read or written yet.

// appendPlain appends r, a GET or HEAD that has no body to send, with further fields to text. It returns
// false for what http.Request.Write would refuse or change, and what isn't for a lane.
func appendPlain(text []byte, r *http.Request, fields []Field) ([]byte, bool) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead || r.ContentLength != 0 || !isPlainHost(r.Host) {
		return nil, false
	}
	text = append(append(text, r.Method...), ' ')
	text, ok := appendTarget(text, r.URL)
	agents, named := r.Header["User-Agent"]
	if !ok || !named || len(agents) == 0 {
		return nil, false // without one, net/http sends its own
	}
	text = append(append(text, " HTTP/1.1\r\nHost: "...), r.Host...)
	text = append(text, "\r\n"...)
	if agents[0] != "" {
		text = appendField(text, "User-Agent", agents[0])
	}
	for name, values := range r.Header {
		if !laneTakes(name, values) {
			return nil, false
		}
		switch name {
		case "User-Agent", "Host", "Content-Length", "Transfer-Encoding", "Trailer": // net/http writes its own, or none
			continue
		}
		for _, value := range values {
			text = appendField(text, name, value)
		}
	}
	for i := range fields {
		f := &fields[i]
		if !httpguts.ValidHeaderFieldName(f.Name) || !httpguts.ValidHeaderFieldValue(f.Value()) {
			return nil, false
		}
		text = appendField(text, f.Name, f.Value())
	}
	return append(text, "\r\n"...), true
}

func appendField(text []byte, name, value string) []byte {
	text = append(append(text, name...), ": "...)
	return append(append(text, textproto.TrimString(value)...), "\r\n"...)
}

// appendTarget appends the request target of a URL whose path the proxy has put
// into Opaque, as it came from the client.
func appendTarget(text []byte, u *url.URL) ([]byte, bool) {
	if !strings.HasPrefix(u.Opaque, "/") || strings.HasPrefix(u.Opaque, "//") || hasControl(u.Opaque) || hasControl(u.RawQuery) {
		return nil, false
	}
	text = append(text, u.Opaque...)
	if u.ForceQuery || u.RawQuery != "" {
		text = append(append(text, '?'), u.RawQuery...)
	}
	return text, true
}

func hasControl(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] == 0x7f {
			return true
		}
	}
	return false
}

// isPlainHost says whether net/http takes a Host as it is.
func isPlainHost(host string) bool {
	for i := range len(host) {
		switch c := host[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-', c == '.', c == ':', 'A' <= c && c <= 'Z':
		default:
			return false
		}
	}
	return host != ""
}

// readPlain reads the header of an answer that has arrived whole and has a body of
// a known length. It returns nil for any other, and then has read nothing.
func readPlain(in *bufio.Reader, r *http.Request) (*http.Response, []Field) {
	buffered, _ := in.Peek(in.Buffered()) // never fails
	end := bytes.Index(buffered, []byte("\r\n\r\n"))
	if end < 0 || r.Method == http.MethodHead {
		return nil, nil
	}
	text := string(buffered[:end+2]) // all that the answer keeps
	line, lines, _ := strings.Cut(text, "\r\n")
	res := &http.Response{Request: r, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
	fields := plainHeader(res, lines)
	if fields == nil || !plainStatus(res, line) {
		return nil, nil
	}
	_, _ = in.Discard(end + 4) // it is in the buffer, and never fails
	return res, fields
}

// plainStatus reads a status line (RFC 9112 section 4) of an answer that has a body.
func plainStatus(res *http.Response, line string) bool {
	status, ok := strings.CutPrefix(line, "HTTP/1.1 ")
	if !ok || len(status) < 4 || status[3] != ' ' || hasControl(status) {
		return false
	}
	code, err := strconv.ParseUint(status[:3], 10, 64)
	res.Status, res.StatusCode = status, int(code)
	return err == nil && code >= 200 && code != http.StatusNoContent && code != http.StatusNotModified
}

// plainHeader reads field lines (RFC 9112 section 5), each with its CRLF, and sets the
// length of the body. It returns nil where they aren't plain.
func plainHeader(res *http.Response, lines string) []Field {
	fields := make([]Field, strings.Count(lines, "\n"))
	length := ""
	for i := range fields {
		line, rest, ok := strings.Cut(lines, "\r\n")
		name, value, colon := strings.Cut(line, ":")
		if !ok || !colon || !httpguts.ValidHeaderFieldName(name) {
			return nil
		}
		value = strings.Trim(value, " \t")
		if !httpguts.ValidHeaderFieldValue(value) {
			return nil
		}
		name = textproto.CanonicalMIMEHeaderKey(name)
		switch name {
		case "Content-Length":
			if length != "" || value == "" {
				return nil
			}
			length = value
		case "Connection":
			if !strings.EqualFold(value, "keep-alive") {
				return nil
			}
		case "Transfer-Encoding", "Trailer", "Pragma":
			return nil
		}
		fields[i] = NewField(name, value)
		lines = rest
	}
	const digits = 18 // that fit an int64
	n, err := strconv.ParseUint(length, 10, 63)
	if err != nil || len(length) > digits {
		return nil
	}
	res.ContentLength = int64(n)
	return fields
}

// fixedBody is a body whose length is known (RFC 9112 section 6.2). It ends with the
// read that gets its last byte.
type fixedBody struct {
	in   *bufio.Reader
	left int64
}

func (b *fixedBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	n, err := b.in.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	switch {
	case b.left == 0:
		return n, io.EOF
	case err == io.EOF:
		return n, io.ErrUnexpectedEOF
	}
	return n, err
}
