package gateway

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"gatehouse/handler/proxy"
	"gatehouse/helper/config"
	"gatehouse/helper/health"
	"gatehouse/helper/transport"
	"gatehouse/helper/upstream"
)

// backendMaker makes a backend with its connections, and those at the addresses
// of its name.
type backendMaker struct {
	key       string // the same for the same backend with the same settings
	url       string
	transport transport.Options
}

func (b *builder) backendMaker(name, url string, u config.Upstream) (*backendMaker, error) {
	at := "upstreams." + name + ".tls"
	files, err := readTLS(at, u.TLS)
	if err != nil {
		return nil, err
	}
	tlsConfig, err := files.config(at, u.TLS)
	if err != nil {
		return nil, err
	}
	return &backendMaker{
		key: fmt.Sprintf("backend %s %s %v %v %v %x", name, url, u.Timeouts, u.Connections, u.TLS, files.hash()),
		url: url,
		transport: transport.Options{
			Connect: time.Duration(u.Timeouts.Connect), ResponseHeader: time.Duration(u.Timeouts.ResponseHeader),
			IdleConn: time.Duration(u.Connections.IdleTimeout), MaxIdle: u.Connections.MaxIdle, MaxConns: u.Connections.Max,
			TLS: tlsConfig, Socket: upstream.Socket(url), H2C: strings.HasPrefix(url, "h2c:"),
			Standard: u.Connections.Lane == "standard",
		},
	}, nil
}

// make makes the backend as configured, a part that outlives snapshots.
func (m *backendMaker) make() (*upstream.Backend, func(), error) {
	made, lane, err := m.with(m.transport)
	if err != nil {
		return nil, nil, err
	}
	return made, lane.CloseIdleConnections, nil
}

// at makes the backend at one of the name's addresses.
func (m *backendMaker) at(address netip.Addr) (*upstream.Backend, error) {
	made, _, err := m.with(m.transportAt(address))
	return made, err
}

func (m *backendMaker) with(o transport.Options) (*upstream.Backend, *transport.Lane, error) {
	made, err := upstream.NewBackend(m.url, nil)
	if err != nil {
		return nil, nil, err
	}
	lane := transport.NewLane(o, made.Target)
	made.Transport = lane
	if !o.H2C { // whose connections take many requests at once
		made.MaxConns = int64(o.MaxConns)
	}
	made.Handler = proxy.Reverse(made)
	return made, lane, nil
}

func (m *backendMaker) transportAt(address netip.Addr) transport.Options {
	o := m.transport
	if address.IsValid() {
		o.Address = net.JoinHostPort(address.String(), m.port())
	}
	return o
}

func (m *backendMaker) port() string {
	target, err := upstream.NewBackend(m.url, nil)
	if err != nil { // it was parsed before
		return ""
	}
	switch port := target.Target.Port(); {
	case port != "":
		return port
	case target.Target.Scheme == "https":
		return "443"
	}
	return "80"
}

// follows is the host name that is looked up again and again, "" when none is:
// an address has no others.
func (m *backendMaker) follows(resolve bool) string {
	target, err := upstream.NewBackend(m.url, nil)
	if err != nil || !resolve || m.transport.Socket != "" {
		return ""
	}
	host := target.Target.Hostname()
	if _, err := netip.ParseAddr(host); err == nil {
		return ""
	}
	return host
}

// check is how a backend is asked whether it is well, over connections that
// requests don't use.
func (m *backendMaker) check(b *upstream.Backend, path string, host proxy.Host) health.Target {
	o := m.transportAt(b.Address)
	o.MaxIdle, o.MaxConns, o.ResponseHeader = 1, 0, 0
	target, err := b.Target.Parse(path)
	if err != nil {
		target = b.Target
	}
	return health.Target{URL: target, Host: host.Literal, Transport: transport.New(o)}
}

// lookup finds the addresses of a name.
func (d Deps) lookup() func(ctx context.Context, host string) ([]netip.Addr, error) {
	if d.Lookup != nil {
		return d.Lookup
	}
	return func(ctx context.Context, host string) ([]netip.Addr, error) {
		return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	}
}
