package transport

import (
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
}

const (
	maxResponseHeader = 256 << 10
	keepAlive         = 30 * time.Second
	expectContinue    = time.Second // an upstream that ignores Expect gets the body after this
)

// New makes the transport of one backend. CloseIdleConnections ends the unused
// connections when the backend is retired.
func New(o Options) *http.Transport {
	dialer := &net.Dialer{Timeout: o.Connect, KeepAlive: keepAlive}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		TLSClientConfig:        o.TLS,
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
	}
}
