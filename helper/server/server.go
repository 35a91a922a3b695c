package server

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"
)

// ErrClosed is the cause (context.Cause) of the end of a request's context where Close, or a Drain that ran out of time,
// cut the request. It is not the client's doing.
var ErrClosed = errors.New("the server was closed")

// Options are the settings of a Server.
type Options struct {
	// Address is HOST:PORT, :PORT for all interfaces, port 0 for any free one, or unix:/PATH.
	Address string
	// Listener is one that is open already, a TCP or unix one, which New takes instead of opening Address; nil: there is none.
	Listener net.Listener
	// Handler answers every request. It is required.
	Handler http.Handler
	// Watches says that Handler asks the connection (ConnOf), where there is one, whether the client of a request without TLS
	// has left. That costs less, but then the request's own context doesn't end with the client.
	Watches bool
	// ReadHeader is how long a client may take for a request's header; 0: as long as Idle.
	ReadHeader time.Duration
	// Idle is how long a kept connection may wait for its next request; 0: as long as ReadHeader.
	Idle time.Duration
	// MaxHeader is the size in bytes past which a request's header is answered 431; 0: 1 MiB. net/http reads up to 4 KiB
	// more than this before it refuses.
	MaxHeader int64
	// TLS is what connections are encrypted with; nil: they aren't. It says itself which protocols it offers.
	TLS *tls.Config
	// H2C makes the server speak HTTP/2 without TLS, too, to clients that begin with it (RFC 9113, section 3.3).
	H2C bool
	// ProxyHeaderFrom says from which addresses the header of the PROXY protocol is read; nil: from none. It must not block.
	ProxyHeaderFrom func(netip.Addr) bool
	// Refused is called, on any goroutine, when a connection ends with a request that Handler hasn't got: net/http has refused
	// it, or it broke off in its header. nil: nobody wants to know. Breaches of HTTP/2 aren't told, nor what comes in one piece
	// with the request before it, over TLS nor what comes later.
	Refused func()
	// ErrorLog gets what net/http has to say about connections and TLS handshakes; nil: the process's standard logger.
	ErrorLog *log.Logger
}

// Server is one listener and its HTTP server.
type Server struct {
	listener net.Listener
	socket   net.Listener // what listener accepts from
	closing  atomic.Bool  // what is cut from now on isn't refused
	handed   atomic.Bool  // another process listens on the same socket
	http     *http.Server
	cut      context.CancelCauseFunc // ends the contexts of all requests
}

// New opens the listener. Its error says which address it is about and what to do; it wraps the system's, such as
// syscall.EADDRINUSE.
func New(o Options) (*Server, error) {
	if o.Handler == nil {
		return nil, errors.New("a server needs a handler") // net/http would serve its default mux, with pprof on it
	}
	if o.Listener != nil {
		return serverOn(o.Listener, o), nil
	}
	listener, err := listen(o.Address)
	if err != nil {
		return nil, err
	}
	return serverOn(listener, o), nil
}

func serverOn(listener net.Listener, o Options) *Server {
	socket := listener
	switch {
	case o.ProxyHeaderFrom != nil:
		listener = proxied(listener, o.ProxyHeaderFrom, o.ReadHeader)
	case o.Watches && o.TLS == nil: // net/http wants a connection with TLS itself
		listener = connListener{listener}
	}
	if _, plain := listener.(connListener); !plain && o.Refused != nil {
		listener = notedListener{listener, o.TLS != nil}
	}
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(o.H2C)
	base, cut := context.WithCancelCause(context.Background())
	s := &Server{
		listener: listener,
		socket:   socket,
		cut:      cut,
		http: &http.Server{
			Handler:           o.Handler,
			ReadHeaderTimeout: cmp.Or(o.ReadHeader, o.Idle), // net/http would wait for ever
			IdleTimeout:       cmp.Or(o.Idle, o.ReadHeader),
			MaxHeaderBytes:    int(o.MaxHeader),
			TLSConfig:         o.TLS.Clone(), // net/http changes it
			Protocols:         protocols,
			ErrorLog:          o.ErrorLog,
			BaseContext:       func(net.Listener) context.Context { return base },
			ConnContext:       withConn,
			ConnState: func(c net.Conn, state http.ConnState) {
				if c, ok := c.(*Conn); ok && state == http.StateIdle {
					c.idle()
				}
			},
			DisableGeneralOptionsHandler: true, // net/http would answer OPTIONS * itself, unseen by log and metrics
		},
	}
	if o.Refused != nil {
		countRefused(s.http, o.Refused, &s.closing)
	}
	return s
}

// Addr is the address that the server listens on: the real port where Options.Address had 0, and HOST:PORT or unix:/PATH.
func (s *Server) Addr() string {
	addr := s.listener.Addr()
	if addr.Network() == "unix" {
		return unixScheme + addr.String()
	}
	return addr.String()
}

// Serve accepts connections until HandOver, Drain, Shutdown or Close, and returns nil then.
func (s *Server) Serve() error {
	serve := s.http.Serve
	if s.http.TLSConfig != nil {
		serve = func(l net.Listener) error { return s.http.ServeTLS(l, "", "") } // the configuration has the certificates
	}
	err := serve(s.listener)
	if errors.Is(err, http.ErrServerClosed) || s.handed.Load() && errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Socket is the TCP or unix listener, without what New has put around it, for another process to listen on as well.
func (s *Server) Socket() net.Listener { return s.socket }

// HandOver stops accepting, because another process listens on the same socket by now: its file stays, and what waits to be
// accepted is accepted there. Connections that are open go on; Drain ends them.
func (s *Server) HandOver() error {
	s.handed.Store(true)
	if unix, ok := s.socket.(*net.UnixListener); ok {
		unix.SetUnlinkOnClose(false)
	}
	return s.listener.Close()
}

// Shutdown stops accepting and waits until every request has been answered, or ctx is done, whose error it returns then.
// It neither waits for upgraded connections nor ends them; Drain does.
func (s *Server) Shutdown(ctx context.Context) error {
	s.closing.Store(true)
	return s.http.Shutdown(ctx)
}

// Close ends the server and everything in flight at once. Requests, upgraded ones too, see their contexts end with
// ErrClosed; Close doesn't wait until their handlers have returned.
func (s *Server) Close() error {
	s.closing.Store(true)
	s.cut(ErrClosed) // first, so that a handler can tell this from a client that left
	var failed error
	for _, err := range []error{s.http.Close(), s.listener.Close()} { // Serve may never have been called
		if !errors.Is(err, net.ErrClosed) { // one of the two was first, or HandOver
			failed = errors.Join(failed, err)
		}
	}
	return failed
}
