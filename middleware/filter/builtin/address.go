package builtin

import (
	"net/http"
	"net/netip"

	"gatehouse/helper/exchange"
	"gatehouse/helper/problem"
	"gatehouse/middleware/filter"
)

// ipAllow lets clients through whose address lies in one of the networks. One without an address, from a Unix socket, doesn't.
func ipAllow(use filter.Use) (filter.Filter, error) { return ipFilter(use, true) }

// ipDeny refuses clients whose address lies in one of the networks.
func ipDeny(use filter.Use) (filter.Filter, error) { return ipFilter(use, false) }

// ipFilter refuses clients that are in the networks, or else those that aren't. The address is the client's as far as trusted
// proxies vouch for it.
func ipFilter(use filter.Use, allowed bool) (filter.Filter, error) {
	networks, err := use.Argument.Networks()
	if err != nil {
		return nil, err
	}
	return filter.Func(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ex := exchange.From(r.Context())
			if contains(networks, ex.Client.Addr) != allowed {
				ex.Refuse(w, problem.Problem{Code: problem.IPDenied, Detail: "This address may not call here."})
				return
			}
			next.ServeHTTP(w, r)
		})
	}), nil
}

func contains(networks []netip.Prefix, addr netip.Addr) bool {
	for _, n := range networks {
		if n.Contains(addr) {
			return true
		}
	}
	return false
}
