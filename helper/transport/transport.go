package transport

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"time"
)

// Options are the limits of the connections to one backend. Zero durations and
// counts mean no limit.
type Options struct {
	Connect        time.Duration // TCP and TLS handshakes, each
	ResponseHeader time.Duration // from the last byte of the request to the header of the answer
	IdleConn       time.Duration // an unused connection is closed after this
	MaxIdle        int           // unused connections kept
	MaxConns       int           // connections in all; a request past it waits
	TLS            *tls.Config   // for https; nil means the system's roots and the URL's host name
	Address        string        // IP:PORT to connect to whatever the URL's host is; "": that one
	Socket         string        // path of a unix socket to connect to instead
	H2C            bool          // HTTP/2 without TLS, which the backend is known to speak
	Standard       bool          // a lane leaves everything to http.Transport
}

const (
	maxResponseHeader = 256 << 10
	keepAlive         = 30 * time.Second
	pingAfter         = 15 * time.Second // an HTTP/2 connection that says nothing for so long is asked whether it is alive
	pingTimeout       = 5 * time.Second
	expectContinue    = time.Second // an upstream that ignores Expect gets the body after this
)

// New makes the transport of one backend. CloseIdleConnections ends the unused
// connections when the backend is retired.
func New(o Options) *http.Transport {
	t := &http.Transport{
		DialContext:            o.dial(),
		TLSClientConfig:        o.TLS.Clone(), // net/http adds its protocols to it
		TLSHandshakeTimeout:    o.Connect,
		ResponseHeaderTimeout:  o.ResponseHeader,
		IdleConnTimeout:        o.IdleConn,
		MaxIdleConns:           o.MaxIdle,
		MaxIdleConnsPerHost:    o.MaxIdle,
		MaxConnsPerHost:        o.MaxConns,
		MaxResponseHeaderBytes: maxResponseHeader,
		ExpectContinueTimeout:  expectContinue,
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
	}
	if o.H2C {
		t.Protocols = new(http.Protocols)
		t.Protocols.SetUnencryptedHTTP2(true)
	}
	return t
}

func (o Options) dial() func(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: o.Connect, KeepAlive: keepAlive}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		switch {
		case o.Socket != "":
			network, address = "unix", o.Socket
		case o.Address != "":
			address = o.Address
		}
		dialed, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &conn{Conn: dialed}, nil
	}
}
