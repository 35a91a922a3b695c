package middleware

import (
	"net/http"
	"strings"
	"sync"

	"gatehouse/helper/exchange"
	"gatehouse/helper/limit"
	"gatehouse/helper/problem"
)

// LimitStore keeps the buckets: limit.Local in this process, limit.Fallback for
// all instances. It takes a bounded time and doesn't keep the demands.
type LimitStore interface {
	Decide(demands []limit.Demand)
}

// LimitSubject says who a request counts for.
type LimitSubject func(*exchange.Exchange, *http.Request) limit.Subject

// Limit is one rule that requests must keep to. Make it with NewLimit.
type Limit struct {
	name    string
	shadow  bool
	rule    limit.Rule
	policy  string
	subject LimitSubject
}

// NewLimit returns a limit. Its name stands in the access log of a request that it
// refused. One in shadow only notes there what it would have refused.
func NewLimit(name string, rule limit.Rule, subject LimitSubject, shadow bool) *Limit {
	if shadow {
		name = "shadow:" + name
	}
	return &Limit{name: name, shadow: shadow, rule: rule, subject: subject, policy: rule.Policy()}
}

// Limits is what the requests of a route must keep to. The zero Limits is none.
type Limits struct {
	Store LimitStore
	// Before authentication: those of the upstream, the route or an address.
	Before []*Limit
	// Quotas count after authentication.
	Quotas []*Limit
	// Plans count after authentication too, for verified callers: by name, and
	// DefaultPlan for a caller that names none of them.
	Plans map[string]*Limit
}

// DefaultPlan is the plan of callers that name none.
const DefaultPlan = "default"

// Together lets all requests count together. Limits under one name are kept side
// by side and can be asked at once; each still has its own rule and bucket.
func Together(name string) LimitSubject {
	everybody := limit.SharedSubject(name)
	return func(*exchange.Exchange, *http.Request) limit.Subject { return everybody }
}

// PerAddress lets each client address count for itself, IPv6 by /64.
func PerAddress(ex *exchange.Exchange, _ *http.Request) limit.Subject {
	return limit.AddrSubject(ex.Client.Addr)
}

// PerCaller lets each verified user or API key count for itself, and somebody
// without by the client's address. A subject is nobody without its issuer.
func PerCaller(ex *exchange.Exchange, r *http.Request) limit.Subject {
	switch p := ex.Principal; {
	case p != nil && p.Client != "":
		return limit.StringSubject("api_key", p.Client)
	case p != nil && p.Subject != "":
		return limit.StringSubject("subject", p.Issuer, p.Subject)
	default:
		return PerAddress(ex, r)
	}
}

// PerHeader lets each value of a request header count for itself, and a request
// without it by the client's address.
func PerHeader(name string) LimitSubject {
	name = http.CanonicalHeaderKey(name)
	kind := "header:" + name
	return func(ex *exchange.Exchange, r *http.Request) limit.Subject {
		switch values := r.Header[name]; len(values) {
		case 0:
			return PerAddress(ex, r)
		case 1:
			return limit.StringSubject(kind, values[0])
		default:
			return limit.StringSubject(kind, strings.Join(values, ", "))
		}
	}
}

// verdict is what the limits said about a request.
type verdict struct {
	strictest limit.Decision // of the limits that refuse; no limit at all: the zero Decision
	by        *Limit
	shadowed  *Limit // the first that would have refused; nil: none
}

// limiter asks a store for a token of each limit. It may be used concurrently.
type limiter struct {
	store    LimitStore
	observer Observer
	code     problem.Code // of its refusals: RateLimited or QuotaExceeded
	demands  sync.Pool    // of *[]limit.Demand
}

func newLimiter(store LimitStore, observer Observer, code problem.Code) *limiter {
	return &limiter{store: store, observer: observer, code: code, demands: sync.Pool{New: func() any { return new([]limit.Demand) }}}
}

// judge takes a token of each limit, or of none. plan may be nil.
func (l *limiter) judge(ex *exchange.Exchange, r *http.Request, limits []*Limit, plan *Limit) (v verdict) {
	kept := l.demands.Get().(*[]limit.Demand)
	defer l.demands.Put(kept)
	demands := (*kept)[:0]
	for _, one := range limits {
		demands = append(demands, one.demand(ex, r))
	}
	if plan != nil {
		demands = append(demands, plan.demand(ex, r))
	}
	*kept = demands
	l.store.Decide(demands)
	for i := range demands {
		by, d := plan, demands[i].Decision
		if i < len(limits) {
			by = limits[i]
		}
		if ex.Explain != nil {
			by.explain(ex, r, demands[i])
		}
		switch {
		case !by.shadow && (v.by == nil || limit.Strictest(v.strictest, d) != v.strictest):
			v.strictest, v.by = d, by
		case by.shadow && !d.Allowed && v.shadowed == nil:
			v.shadowed = by
		}
	}
	return v
}

func (l *Limit) demand(ex *exchange.Exchange, r *http.Request) limit.Demand {
	return limit.Demand{Rule: l.rule, Key: l.rule.Key(l.subject(ex, r)), Shadow: l.shadow, Look: ex.Explain != nil, Calls: ex.Calls()}
}
