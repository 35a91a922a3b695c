package middleware

import (
	"net/http"
	"time"

	"go.uber.org/zap"

	"gatehouse/helper/balance"
	"gatehouse/helper/exchange"
	"gatehouse/helper/limit"
	"gatehouse/helper/problem"
)

// Explain is the chain for requests that are only asked about, whose exchange has
// a report: the same stages in the same order, but nobody is told what they decide.
func Explain(shared Shared, routes []Route) http.Handler {
	quiet := Shared{Table: shared.Table, Log: zap.NewNop()}
	return through(
		recovery(shared.Log, func() {}),
		resolution(shared.Table, routes),
	)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		leaf(quiet, routes[exchange.From(r.Context()).RouteIndex].explained()).ServeHTTP(w, r)
	}))
}

// explained is the route for such a request.
func (r Route) explained() Route {
	r.Observer, r.Filters = unobserved{}, r.Explained
	if r.Authentication != nil {
		quiet := *r.Authentication
		quiet.Observer, quiet.Log = unobserved{}, zap.NewNop()
		r.Authentication = &quiet
	}
	if r.Split != nil {
		split := &Split{Picker: r.Split.Picker}
		for _, arm := range r.Split.Arms {
			split.Arms = append(split.Arms, arm.explained())
		}
		r.Split = split
	}
	return r
}

// unobserved is an Observer and an AuthObserver that counts nothing.
type unobserved struct{}

func (unobserved) Accept()                                                   {}
func (unobserved) Reject()                                                   {}
func (unobserved) Rejected(string)                                           {}
func (unobserved) Observe(string, int, time.Duration, time.Duration, string) {}
func (unobserved) Shadowed(string)                                           {}
func (unobserved) QuotaRejected(string)                                      {}
func (unobserved) BreakerRefused()                                           {}
func (unobserved) Auth(string, string, string)                               {}

// explain notes what a limit said.
func (l *Limit) explain(ex *exchange.Exchange, r *http.Request, d limit.Demand) {
	ex.Explain.NoteLimit(l.name, l.counted(ex, r), d)
}

// counted says who counts together.
func (l *Limit) counted(ex *exchange.Exchange, r *http.Request) string {
	switch subject := l.subject(ex, r); {
	case subject.Shared():
		return "all requests"
	case subject == PerAddress(ex, r):
		return "address " + ex.Client.String()
	case subject != PerCaller(ex, r):
		return "the header's value"
	case ex.Principal.Client != "":
		return "API key " + ex.Principal.Client
	default:
		return "subject " + ex.Principal.Subject
	}
}

// assume is identify for a caller who is given in place of credentials.
func (a *Authentication) assume(ex *exchange.Exchange) (caller, *problem.Problem) {
	switch given := ex.Explain.Assumed; {
	case given.Claims != nil && a.Tokens != nil:
		principal, err := a.Tokens.Assume(given.Claims, a.Provider)
		if err != nil {
			return caller{}, a.refuse(ex, err)
		}
		return caller{principal, notCached}, nil
	case given.APIKey != "" && a.APIKeys != nil:
		principal, err := a.APIKeys.Named(given.APIKey, time.Now())
		return a.known(ex, principal, err)
	}
	return caller{}, a.missing()
}

// assumedKey is the callerKey of a caller who is given in place of credentials.
func assumedKey(ex *exchange.Exchange) uint64 {
	given := ex.Explain.Assumed
	if subject, ok := given.Claims["sub"].(string); ok && subject != "" {
		return balance.Key(subject)
	}
	if given.APIKey != "" {
		ex.Explain.Undecided = append(ex.Explain.Undecided, "which upstream of the split it is: that depends on the API key itself")
	}
	return balance.AddrKey(ex.Client.Addr)
}
