package proxy

import (
	"errors"
	"maps"
	"net/http"
	"net/http/httputil"
	"slices"
	"strings"

	"gatehouse/helper/exchange"
	"gatehouse/helper/explain"
	"gatehouse/helper/route"
	"gatehouse/helper/transport"
	"gatehouse/helper/upstream"
)

// explain notes in the report of a request that is only asked about where it would
// go and how, and sends nothing. It answers only where the request would be refused.
func (h *handler) explain(ex *exchange.Exchange, w http.ResponseWriter, r *http.Request) {
	u, c := h.upstream, &call{exchange: ex, upstream: h.upstream}
	if u.Pool.Full() {
		ex.Refuse(w, overloaded())
		return
	}
	if u.Key != nil {
		c.key = u.Key(ex, r)
	}
	c.backend = u.Pool.Look(c.key)
	ex.Explain.Backends = backends(u.Pool, c.backend)
	if c.backend == nil {
		ex.Refuse(w, noBackend())
		return
	}
	c.path = route.Rewrite(ex.RawPath, h.options.Strip, h.options.Prefix, h.options.Rewrite)
	ex.Call, ex.Backend = c, c.backend.Name
	unsent := *c.backend.Handler.(*httputil.ReverseProxy) // Reverse made it
	unsent.Transport = sendWith(func(out *http.Request) (*http.Response, error) {
		transport.AddFields(out.Header, ex.Lane.Fields)
		ex.Explain.Forward = forward(r.Header, out)
		return nil, errUnsent
	})
	unsent.ServeHTTP(w, r)
}

var errUnsent = errors.New("the request is only asked about")

type sendWith func(*http.Request) (*http.Response, error)

func (f sendWith) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// backends are those of a pool, of which one would be picked.
func backends(pool *upstream.Pool, picked *upstream.Backend) (noted []explain.Backend) {
	for _, b := range pool.Backends() {
		one := explain.Backend{URL: b.Name, InFlight: b.InFlight(), Picked: b.Backend == picked}
		if b.Address.IsValid() {
			one.Address = b.Address.String()
		}
		switch {
		case !b.Up:
			one.Why = "down: its active checks fail"
		case b.Draining():
			one.Why = "draining: an operator took it out"
		case b.Ejected && !one.Picked:
			one.Why = "ejected: its requests kept failing"
		}
		noted = append(noted, one)
	}
	return noted
}

// forward describes what a backend would get in place of what came.
func forward(in http.Header, out *http.Request) *explain.Forward {
	f := &explain.Forward{Method: out.Method, Host: out.Host, RawQuery: out.URL.RawQuery, Header: sent(out.Header), Added: []explain.Header{}, Removed: []string{}}
	f.Path, _, _ = strings.Cut(out.URL.RequestURI(), "?")
	for _, name := range slices.Sorted(maps.Keys(f.Header)) {
		if values := f.Header[name]; !slices.Equal(values, in[name]) {
			f.Added = append(f.Added, explain.Header{Name: name, Value: strings.Join(values, ", ")})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		if f.Header[name] == nil {
			f.Removed = append(f.Removed, name)
		}
	}
	return f
}

// sent are the headers that net/http sends of h: it takes an empty User-Agent for none.
func sent(h http.Header) http.Header {
	h = h.Clone()
	if agents := h["User-Agent"]; len(agents) > 0 && agents[0] == "" {
		delete(h, "User-Agent")
	}
	if h["Traceparent"] != nil {
		h.Set("Traceparent", explain.Fresh)
	}
	return h
}
