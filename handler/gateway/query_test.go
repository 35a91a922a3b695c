package gateway_test

import (
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"gatehouse/handler/gateway"
	"gatehouse/helper/config"
	"gatehouse/logger"
)

// HTTP/2 can carry a query that would end the request line of HTTP/1, and so smuggle another protocol version in.
func TestQueriesThatWouldEndTheRequestLine(t *testing.T) {
	backend := newRawBackend(t, says(okAnswer))
	s := start(t, backend.Addr().String(), openConfig)
	front := httptest.NewUnstartedServer(s.gw)
	front.Config.Protocols = h2c()
	front.Start()
	defer front.Close()
	for _, row := range []struct {
		name, path string
		status     string // reset: the server answers with an error of the stream
	}{
		{"a protocol version", "/x?a HTTP/1.0", "400"},
		{"a space alone", "/x? ", "400"},
		{"a space in an absolute target's query", "/?a=b c", "400"},
		{"a line break", "/x?a\r\nX-A: b", "reset"},
		{"a tab", "/x?a\tb", "reset"},
		{"DEL", "/x?a\x7fb", "reset"},
		{"an encoded space", "/x?a%20b", "200"},
		{"bytes over ASCII", "/x?\xc3\xa9", "200"},
		{"a tilde and an exclamation mark", "/x?~!", "200"},
	} {
		t.Run(row.name, func(t *testing.T) {
			before := len(backend.seen())
			if got := h2Status(t, front.Listener.Addr().String(), row.path); got != row.status {
				t.Errorf("got %s, want %s", got, row.status)
			}
			if reached := len(backend.seen()) > before; reached != (row.status == "200") {
				t.Errorf("the backend saw the request: %v", reached)
			}
		})
	}
}

// h2Status sends a GET whose :path is as given, and returns the status of the answer, or reset.
func h2Status(t *testing.T, address, path string, header ...[2]string) string {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	var block strings.Builder
	encoder := hpack.NewEncoder(&block)
	for _, f := range append([][2]string{{":method", "GET"}, {":scheme", "http"}, {":authority", "gw.test"}, {":path", path}}, header...) {
		if err := encoder.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]}); err != nil {
			t.Fatal(err)
		}
	}
	framer := http2.NewFramer(conn, conn)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	if err := framer.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	if err := framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte(block.String()), EndStream: true, EndHeaders: true}); err != nil {
		t.Fatal(err)
	}
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		switch frame := frame.(type) {
		case *http2.MetaHeadersFrame:
			return frame.PseudoValue("status")
		case *http2.RSTStreamFrame:
			return "reset"
		}
	}
}

// net/http takes a length that is none for an empty body (RFC 9113 section 8.1.1).
func TestLengthsOverHTTP2(t *testing.T) {
	backend := newRawBackend(t, says(okAnswer))
	s := start(t, backend.Addr().String(), openConfig)
	front := httptest.NewUnstartedServer(s.gw)
	front.Config.Protocols = h2c()
	front.Start()
	defer front.Close()
	for _, row := range []struct {
		lengths []string
		status  string
	}{
		{nil, "200"}, {[]string{"0"}, "200"},
		{[]string{""}, "400"}, {[]string{"+0"}, "400"}, {[]string{"-1"}, "400"}, {[]string{"0x0"}, "400"}, {[]string{"0, 0"}, "400"}, {[]string{"0.0"}, "400"},
		{[]string{"99999999999999999999"}, "400"}, {[]string{"0", "0"}, "400"},
	} {
		var header [][2]string
		for _, length := range row.lengths {
			header = append(header, [2]string{"content-length", length})
		}
		before := len(backend.seen())
		got := h2Status(t, front.Listener.Addr().String(), "/", header...)
		if got != row.status || (len(backend.seen()) > before) != (row.status == "200") {
			t.Errorf("%q: got %s, and the backend %d requests", row.lengths, got, len(backend.seen())-before)
		}
	}
}

// An explanation shows of a query what the access log would.
func TestExplanationsMaskSecretsInQueries(t *testing.T) {
	s := startWith(t, "http://order.invalid", explained, func(d *gateway.Deps) {
		d.Access = func(*config.Config) *logger.Access {
			return logger.NewAccess(nil, logger.AccessOptions{RedactQuery: []string{"access_token", "code"}})
		}
	})
	report, err := s.gw.Explain(gateway.Query{URL: "/order?a=b&access_token=s3cret&%63ode=s3cret", APIKey: "robot"})
	if err != nil {
		t.Fatal(err)
	}
	const want = "a=b&access_token=***&%63ode=***"
	if report.Request.Query != want || report.Forward.Query != want {
		t.Errorf("the queries are %q and %q, want %q", report.Request.Query, report.Forward.Query, want)
	}
	if text := report.String(); strings.Contains(text, "s3cret") {
		t.Errorf("the secret is in\n%s", text)
	}
	for _, url := range []string{"/a b?code=s3cret", "api.test?code=s3cret", "/a?code=s3cret c"} {
		if _, err := s.gw.Explain(gateway.Query{URL: url}); err == nil || strings.Contains(fmt.Sprint(err), "s3cret") {
			t.Errorf("%s: the error is %v", url, err)
		}
	}
}
