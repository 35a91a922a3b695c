package server

import (
	"net"
	"net/netip"
	"time"

	"github.com/pires/go-proxyproto"
)

// proxied makes connections from trusted addresses tell the address that a header of the PROXY protocol (versions 1 and 2)
// names. Connections from others aren't looked into: to HTTP and TLS such a header is garbage. A header that isn't valid ends
// the connection; one that says LOCAL or UNKNOWN, such as a balancer's own check, leaves the address as it is.
func proxied(listener net.Listener, trusted func(netip.Addr) bool, timeout time.Duration) net.Listener {
	return &proxyproto.Listener{
		Listener:          listener,
		ReadHeaderTimeout: timeout, // in the connection's own goroutine, not in Accept
		ConnPolicy: func(o proxyproto.ConnPolicyOptions) (proxyproto.Policy, error) {
			if peer, ok := o.Upstream.(*net.TCPAddr); ok && trusted(peer.AddrPort().Addr().Unmap().WithZone("")) {
				return proxyproto.USE, nil
			}
			return proxyproto.SKIP, nil
		},
	}
}
