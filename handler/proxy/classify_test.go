package proxy

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"gatehouse/helper/exchange"
	"gatehouse/helper/problem"
	"gatehouse/helper/server"
	"gatehouse/helper/server/servertest"
	"gatehouse/helper/transport"
)

// TestFaultsOfRealConnections provokes each fault and classifies what the
// transport makes of it, by the lane and by http.Transport.
func TestFaultsOfRealConnections(t *testing.T) {
	t.Run("lane", func(t *testing.T) { faultsOfRealConnections(t, false) })
	t.Run("standard", func(t *testing.T) { faultsOfRealConnections(t, true) })
}

func faultsOfRealConnections(t *testing.T, standard bool) {
	expired := certificate(t, time.Now().Add(-time.Hour))
	valid := certificate(t, time.Now().Add(time.Hour))
	for _, row := range []struct {
		name       string
		url        string
		options    transport.Options
		code       problem.Code
		proxyError string
	}{
		{"nobody listens", "http://" + servertest.Refuses(t), transport.Options{}, problem.UpstreamUnreachable, "connection_refused"},
		{"no such host", "http://no-such-host.invalid", transport.Options{}, problem.UpstreamUnreachable, "dns_error"},
		{"no connection in time", "http://192.0.2.1:81", transport.Options{Connect: time.Nanosecond}, problem.UpstreamTimeout, "connection_timeout"},
		{"no answer in time", "http://" + speaker(t, ""), transport.Options{ResponseHeader: 50 * time.Millisecond}, problem.UpstreamTimeout, "http_response_timeout"},
		{"closes without an answer", "http://" + speaker(t, "close"), transport.Options{}, problem.UpstreamReset, "connection_terminated"},
		{"closes within the header", "http://" + speaker(t, "HTTP/1.1 200 OK\r\nX: "), transport.Options{}, problem.UpstreamReset, "connection_terminated"},
		{"resets", "http://" + speaker(t, "reset"), transport.Options{}, problem.UpstreamReset, "connection_terminated"},
		{"speaks another protocol", "http://" + speaker(t, "SSH-2.0-OpenSSH_9.2\r\n\r\n"), transport.Options{}, problem.UpstreamBadResponse, "http_protocol_error"},
		{"a length that is no number", "http://" + speaker(t, "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"), transport.Options{}, problem.UpstreamBadResponse, "http_protocol_error"},
		{"no TLS on the port", "https://" + speaker(t, "HTTP/1.1 400 Bad Request\r\n\r\n"), transport.Options{}, problem.UpstreamUnreachable, "tls_protocol_error"},
		{"a certificate that nobody vouches for", tlsServer(t, valid, nil), transport.Options{}, problem.UpstreamUnreachable, "tls_certificate_error"},
		{"an expired certificate", tlsServer(t, expired, nil), transport.Options{TLS: trusting(expired, "")}, problem.UpstreamUnreachable, "tls_certificate_error"},
		{"a certificate for another name", tlsServer(t, valid, nil), transport.Options{TLS: trusting(valid, "other.test")}, problem.UpstreamUnreachable, "tls_certificate_error"},
		{"a client certificate is wanted", tlsServer(t, valid, &tls.Config{ClientAuth: tls.RequireAnyClientCert, MaxVersion: tls.VersionTLS12}),
			transport.Options{TLS: trusting(valid, "")}, problem.UpstreamUnreachable, "tls_alert_received"},
	} {
		t.Run(row.name, func(t *testing.T) {
			target, err := url.Parse(row.url)
			if err != nil {
				t.Fatal(err)
			}
			row.options.Standard = standard
			_, err = roundTrip(t, transport.NewLane(row.options, target), http.MethodGet, row.url)
			if err == nil {
				t.Fatal("there is no error")
			}
			v := classify(nil, nil, err)
			if v.problem.Code != row.code || v.problem.ProxyError != row.proxyError || v.outcome != exchange.Failure {
				t.Errorf("%v (%T) is %s, %s, outcome %d; want %s, %s, a failure", err, err, v.problem.Code, v.problem.ProxyError, v.outcome, row.code, row.proxyError)
			}
		})
	}
}

// keeper is a round tripper that keeps connections.
type keeper interface {
	http.RoundTripper
	CloseIdleConnections()
}

func roundTrip(t *testing.T, rt keeper, method, url string) (*http.Response, error) {
	t.Helper()
	t.Cleanup(rt.CloseIdleConnections)
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := rt.RoundTrip(r)
	if err == nil {
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}
	return res, err
}

// speaker reads a request's first line and says what it is told; "" is silence.
func speaker(t *testing.T, says string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = bufio.NewReader(conn).ReadByte()
		switch says {
		case "":
			_, _ = io.Copy(io.Discard, conn)
		case "close":
		case "reset":
			_ = conn.(*net.TCPConn).SetLinger(0)
		default:
			_, _ = io.WriteString(conn, says)
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return l.Addr().String()
}

// certificate makes a certificate of its own for 127.0.0.1.
func certificate(t *testing.T, until time.Time) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: until.Add(-24 * time.Hour), NotAfter: until,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

func trusting(c tls.Certificate, name string) *tls.Config {
	roots := x509.NewCertPool()
	roots.AddCert(c.Leaf)
	return &tls.Config{RootCAs: roots, ServerName: name, MinVersion: tls.VersionTLS12}
}

func tlsServer(t *testing.T, c tls.Certificate, config *tls.Config) string {
	t.Helper()
	if config == nil {
		config = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	config.Certificates = []tls.Certificate{c}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.ErrorLog = silentLog()
	server.TLS = config
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL
}

// TestClassifyLooksAtTheClientFirst has causes and faults that no error of the
// upstream may hide.
func TestClassifyLooksAtTheClientFirst(t *testing.T) {
	body := func(fault error) *requestBody {
		b := &requestBody{}
		if fault != nil {
			b.failed.Store(&fault)
		}
		return b
	}
	upstreamError := errors.New("net/http: HTTP/1.x transport connection broken")
	for _, row := range []struct {
		name    string
		cause   error
		fault   error
		err     error
		code    problem.Code
		outcome exchange.Outcome
	}{
		{"the body is too large", nil, errBodyTooLarge, upstreamError, problem.BodyTooLarge, exchange.Cancelled},
		{"the body broke off", nil, io.ErrUnexpectedEOF, upstreamError, problem.BadRequest, exchange.Cancelled},
		{"the body broke off, and so did the client", context.Canceled, io.ErrUnexpectedEOF, context.Canceled, problem.BadRequest, exchange.Cancelled},
		{"the body broke off, as only the error tells", nil, nil, &clientError{io.ErrUnexpectedEOF}, problem.BadRequest, exchange.Cancelled},
		{"the client left", context.Canceled, nil, context.Canceled, problem.ClientClosed, exchange.Cancelled},
		{"the client left while the upstream failed", context.Canceled, nil, io.EOF, problem.ClientClosed, exchange.Cancelled},
		{"the client stalled", errClientStalled, nil, errClientStalled, problem.BadRequest, exchange.Cancelled},
		{"the client stalled and its body failed for that", errClientStalled, context.DeadlineExceeded, io.EOF, problem.BadRequest, exchange.Cancelled},
		{"the request's time is over", errRequestTimeout, nil, errRequestTimeout, problem.UpstreamTimeout, exchange.Failure},
		{"nothing moved for the idle time", errIdle, nil, context.Canceled, problem.UpstreamTimeout, exchange.Failure},
		{"the server was closed", server.ErrClosed, nil, upstreamError, problem.Draining, exchange.Cancelled},
		{"the server was closed, and the body broke off with it", server.ErrClosed, io.ErrUnexpectedEOF, upstreamError, problem.Draining, exchange.Cancelled},
		{"the server was closed, but the body was too large", server.ErrClosed, errBodyTooLarge, upstreamError, problem.BodyTooLarge, exchange.Cancelled},
		{"the upstream switched protocols unasked", nil, nil, errSwitchedUnasked, problem.UpstreamBadResponse, exchange.Failure},
		{"the upstream answered with a status below 100", nil, nil, errNoStatus, problem.UpstreamBadResponse, exchange.Failure},
		{"anything else is the upstream's", nil, nil, upstreamError, problem.UpstreamBadResponse, exchange.Failure},
	} {
		t.Run(row.name, func(t *testing.T) {
			v := classify(row.cause, body(row.fault), row.err)
			if v.problem.Code != row.code || v.outcome != row.outcome {
				t.Errorf("got %s, outcome %d; want %s, %d", v.problem.Code, v.outcome, row.code, row.outcome)
			}
			if client := v.outcome == exchange.Cancelled; client != (v.problem.ProxyError == "") {
				t.Errorf("the Proxy-Status is %q", v.problem.ProxyError)
			}
		})
	}
}
