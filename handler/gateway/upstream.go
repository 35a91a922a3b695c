package gateway

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"gatehouse/handler/proxy"
	"gatehouse/helper/breaker"
	"gatehouse/helper/config"
	"gatehouse/helper/limit"
	"gatehouse/helper/transport"
	"gatehouse/helper/upstream"
	"gatehouse/middleware"
)

// builtUpstream is what the routes of one upstream share.
type builtUpstream struct {
	proxy    *proxy.Upstream
	breaker  *breaker.Breaker
	limit    middleware.Limiter // nil: none
	observer UpstreamObserver
	close    func()
}

func (b *builder) upstream(name string, guard *proxy.Guard) error {
	u := b.cfg.Upstreams[name]
	tlsConfig, err := upstreamTLS(u.TLS)
	if err != nil {
		return fmt.Errorf("upstreams.%s.tls.%w", name, err)
	}
	built := &builtUpstream{}
	observer := &callObserver{spoof: b.deps.Observer.Spoof, backends: make(map[*upstream.Backend]BackendObserver)}
	var backends []*upstream.Backend
	var weights []int
	var transports []*http.Transport
	for _, configured := range u.Backends {
		t := transport.New(transport.Options{
			Connect: time.Duration(u.Timeouts.Connect), ResponseHeader: time.Duration(u.Timeouts.ResponseHeader),
			IdleConn: time.Duration(u.Connections.IdleTimeout), MaxIdle: u.Connections.MaxIdle, MaxConns: u.Connections.Max, TLS: tlsConfig,
		})
		backend, err := upstream.NewBackend(configured.URL, t)
		if err != nil {
			return fmt.Errorf("upstreams.%s: %w", name, err)
		}
		observer.backends[backend] = b.deps.Observer.Backend(name, backend.Name, backend.InFlight)
		backends, weights, transports = append(backends, backend), append(weights, configured.Weight), append(transports, t)
	}
	built.close = func() {
		for _, t := range transports {
			t.CloseIdleConnections()
		}
	}
	built.breaker = breaker.New(breaker.Options{
		Failures: u.Breaker.Failures, OpenFor: time.Duration(u.Breaker.OpenFor), HalfOpenRequests: u.Breaker.HalfOpenRequests,
		OnTransition: func(_, to breaker.State) { built.observer.Transition(int(to)) },
	})
	built.observer = b.deps.Observer.Upstream(name, func() int { return int(built.breaker.State()) })
	if u.Limit.Rate.Events > 0 {
		rule, err := limit.NewRule("upstream:"+name, u.Limit.Rate.Events, u.Limit.Rate.Period, u.Limit.Burst)
		if err != nil {
			return fmt.Errorf("upstreams.%s.limit: %w", name, err)
		}
		built.limit = middleware.SharedLimit("upstream:"+name, limit.NewBucket(rule))
	}
	proxied := &proxy.Upstream{
		Pool: upstream.NewPool(backends, weights), Guard: guard, Host: hostPolicy(u.Host), Idle: time.Duration(u.Timeouts.Idle),
		Failing: u.Breaker.Statuses.Contains, Observer: observer,
	}
	built.proxy = proxied.Prepare()
	b.upstreams[name] = built
	return nil
}

func hostPolicy(host string) proxy.Host {
	switch host {
	case hostBackend:
		return proxy.Host{}
	case hostClient:
		return proxy.Host{Client: true}
	}
	return proxy.Host{Literal: host}
}

// callObserver translates the proxy's reports into the metrics' handles.
type callObserver struct {
	spoof    func()
	backends map[*upstream.Backend]BackendObserver
}

func (o *callObserver) Answered(b *upstream.Backend, d time.Duration) { o.backends[b].Observe(d) }
func (o *callObserver) Spoofed()                                      { o.spoof() }

// upstreamTLS reads the files of an upstream's TLS section; errors begin with
// the key.
func upstreamTLS(c config.UpstreamTLS) (*tls.Config, error) {
	out := &tls.Config{ServerName: c.ServerName, InsecureSkipVerify: c.InsecureSkipVerify, MinVersion: tls.VersionTLS12} //nolint:gosec // the operator asked for it by name
	if c.CA != "" {
		pem, err := os.ReadFile(c.CA)
		if err != nil {
			return nil, fmt.Errorf("ca: %w", err)
		}
		out.RootCAs = x509.NewCertPool()
		if !out.RootCAs.AppendCertsFromPEM(pem) {
			return nil, errors.New("ca: " + c.CA + " has no PEM certificate")
		}
	}
	if c.Cert != "" {
		pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
		if err != nil {
			return nil, fmt.Errorf("cert: %w", err)
		}
		out.Certificates = []tls.Certificate{pair}
	}
	return out, nil
}
