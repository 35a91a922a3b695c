package transport_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/helper/transport"
)

// What comes behind an answer may be in a TLS record of its own, which crypto/tls
// has already read with the answer's: neither the socket nor the lane has it then.
func TestARecordBehindAnAnswerIsNotTheNextOne(t *testing.T) {
	for _, row := range []struct {
		name    string
		behind  string
		version uint16
	}{
		{"a whole answer", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", tls.VersionTLS13},
		{"a whole answer, by TLS 1.2", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", tls.VersionTLS12},
		{"a single byte", "H", tls.VersionTLS13},
		{"the end of TLS alone", "", tls.VersionTLS13},
	} {
		t.Run(row.name, func(t *testing.T) {
			config, roots := certificate(t)
			config.MaxVersion = row.version
			var conns atomic.Int32
			s := playsTLS(t, config, func(w *held, secure *tls.Conn, conn int) {
				conns.Store(int32(conn))
				w.hold()
				_, _ = io.WriteString(secure, ok)
				if conn == 2 { // the first is http.Transport's
					if row.behind == "" {
						_ = secure.CloseWrite()
					} else {
						_, _ = io.WriteString(secure, row.behind)
					}
				}
				w.release()
			})
			l := lane(t, transport.Options{TLS: &tls.Config{RootCAs: roots, ServerName: "example.com"}}, "https://"+s)
			for range 4 {
				res, body, err := send(t, l, http.MethodPost, "https://"+s)
				if body != "ok" || err != nil {
					t.Errorf("got %v %q, %v", res, body, err)
				}
			}
			if n := conns.Load(); n != 3 { // the last and the third request share one
				t.Errorf("took %d connections", n)
			}
		})
	}
}

// A body that is read into a large buffer leaves the rest of its record in crypto/tls.
func TestTheRestOfARecordIsNotTheNextAnswer(t *testing.T) {
	config, roots := certificate(t)
	config.DynamicRecordSizingDisabled = true
	body := strings.Repeat("x", 12000) // more than a bufio.Reader holds, and less than a record
	s := playsTLS(t, config, func(_ *held, secure *tls.Conn, _ int) {
		_, _ = io.WriteString(secure, "HTTP/1.1 200 OK\r\nContent-Length: 12000\r\n\r\n"+body+"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
	})
	l := lane(t, transport.Options{TLS: &tls.Config{RootCAs: roots, ServerName: "example.com"}}, "https://"+s)
	for range 4 {
		res, err := l.RoundTrip(request(t.Context(), t, http.MethodGet, "https://"+s, nil))
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		_, err = io.CopyBuffer(struct{ io.Writer }{&got}, res.Body, make([]byte, 32<<10))
		res.Body.Close()
		if got.String() != body || err != nil {
			t.Errorf("got %d bytes, %v", got.Len(), err)
		}
	}
}

// certificate makes a server's settings, and what trusts it as example.com.
func certificate(t *testing.T) (*tls.Config, *x509.CertPool) {
	t.Helper()
	server := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return &tls.Config{Certificates: server.TLS.Certificates}, roots
}

// held is a connection whose writes can be held back, to be one.
type held struct {
	net.Conn
	text *bytes.Buffer
}

func (h *held) hold() { h.text = new(bytes.Buffer) }

func (h *held) release() {
	_ = h.Conn.SetWriteDeadline(time.Time{}) // tls.Conn.CloseWrite leaves one that is over
	_, _ = h.Conn.Write(h.text.Bytes())
	h.text = nil
}

func (h *held) Write(p []byte) (int, error) {
	if h.text != nil {
		return h.text.Write(p)
	}
	return h.Conn.Write(p)
}

// playsTLS starts a backend, and returns its address.
func playsTLS(t *testing.T, config *tls.Config, respond func(w *held, secure *tls.Conn, conn int)) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serves(t, l, func(number int, conn net.Conn) {
		w := &held{Conn: conn}
		secure := tls.Server(w, config)
		for in := bufio.NewReader(secure); ; {
			if _, err := readRequest(in); err != nil {
				return
			}
			respond(w, secure, number)
		}
	})
	return l.Addr().String()
}
