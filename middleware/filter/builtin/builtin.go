package builtin

import (
	"net/http"

	"gatehouse/helper/limit"
	"gatehouse/middleware/filter"
)

// Options are what the filters use of their surroundings.
type Options struct {
	// Limits keeps the buckets of rate_limit. It is required where that is used, not where uses are only checked.
	Limits Limits
	// Identity are the headers that tell upstreams who calls, in any case: no filter may touch them.
	Identity []string
}

// Limits is a store of buckets. It may be called concurrently.
type Limits interface {
	Decide([]limit.Demand)
}

// Factories are all filters of this package.
func Factories(o Options) []filter.Factory {
	reserved := newReserved(o.Identity)
	all := []filter.Factory{
		{Name: "request_id", New: requestID},
		{Name: "strip_identity", New: stripIdentity},
		{Name: "api_key", New: apiKey},
		{Name: "scope", New: scope},
		{Name: "rate_limit", New: rateLimit(o.Limits)},
		{Name: "body_limit", New: bodyLimit},
		{Name: "ip_allow", New: ipAllow},
		{Name: "ip_deny", New: ipDeny},
		{Name: "set_request_header", New: setRequestHeader(reserved)},
		{Name: "remove_request_header", New: removeRequestHeader(reserved)},
		{Name: "set_response_header", New: setResponseHeader},
		{Name: "remove_response_header", New: removeResponseHeader},
		{Name: "compress", New: compress},
	}
	for i := range all {
		all[i].Explainable = true
	}
	return all
}

// asItIs lets every request through: the chain has done the filter's work already.
func asItIs(next http.Handler) http.Handler { return next }
