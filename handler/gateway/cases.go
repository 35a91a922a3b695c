package gateway

import (
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"gatehouse/helper/config"
	"gatehouse/helper/explain"
)

// Try asks about the request of a case and returns what isn't as it must be, a
// line for each key; none: the case holds.
func (g *Gateway) Try(c *config.Case) (differences []string) {
	query := Query{
		Method: c.Request.Method, URL: c.Request.URL, Headers: c.Request.Headers, Token: string(c.Request.Token), Claims: c.Request.Claims,
		APIKey: c.Request.APIKey,
	}
	if c.Request.ClientIP != "" {
		query.ClientIP, _ = netip.ParseAddr(c.Request.ClientIP) // helper/config has checked it
	}
	report, err := g.Explain(query)
	if err != nil {
		return []string{"request: " + err.Error()}
	}
	return compare(&c.Expect, report)
}

// comparison collects differences.
type comparison []string

func (d *comparison) differ(key string, want, got any) {
	*d = append(*d, fmt.Sprintf("%s: want %v, got %v", key, want, got))
}

func (d *comparison) text(key, want, got string) {
	if want != "" && want != got {
		d.differ(key, want, orNone(got))
	}
}

func (d *comparison) set(key string, want, got []string) {
	want, got = slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(got))
	if !slices.Equal(want, got) {
		d.differ(key, orNone(strings.Join(want, ", ")), orNone(strings.Join(got, ", ")))
	}
}

func (d *comparison) headers(key string, want map[string]string, unwanted []string, got http.Header) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if value := strings.Join(got.Values(name), ", "); want[name] != value || len(got.Values(name)) == 0 {
			d.differ(key+"."+name, orNone(want[name]), orNone(value))
		}
	}
	for _, name := range unwanted {
		if values := got.Values(name); len(values) > 0 {
			d.differ("no_"+key+"."+name, "none", strings.Join(values, ", "))
		}
	}
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

func compare(want *config.CaseExpect, got *explain.Report) []string {
	var d comparison
	a := got.Answer
	if want.Forwarded != nil && *want.Forwarded != a.Forwarded {
		outcome := "forwarded"
		if !a.Forwarded {
			outcome = strings.TrimSpace(fmt.Sprintf("%d %s", a.Status, a.Code))
		}
		d.differ("forwarded", *want.Forwarded, outcome)
	}
	if want.Status != 0 && want.Status != a.Status {
		status := any(a.Status)
		if a.Forwarded {
			status = "forwarded"
		}
		d.differ("status", want.Status, status)
	}
	d.text("code", want.Code, string(a.Code))
	d.text("route", want.Route, got.Route)
	d.text("upstream", want.Upstream, got.Upstream)
	forward := got.Forward
	if forward == nil {
		forward = &explain.Forward{}
	}
	if want.Backends != nil {
		d.set("backends", want.Backends, backendURLs(got.Backends))
	}
	d.text("upstream_path", want.UpstreamPath, forward.Path)
	if want.UpstreamQuery != nil && *want.UpstreamQuery != forward.RawQuery {
		d.differ("upstream_query", orNone(*want.UpstreamQuery), orNone(forward.RawQuery))
	}
	d.headers("request_headers", want.RequestHeaders, want.NoRequestHeaders, forward.Header)
	d.headers("response_headers", want.ResponseHeaders, want.NoResponseHeaders, answerHeader(a.Headers))
	if want.Limits != nil {
		d.set("limits", want.Limits, limitNames(got.Limits))
	}
	if len(d) > 0 { // what would explain them
		for _, u := range got.Undecided {
			d = append(d, "undecided: "+u)
		}
		if got.Auth != nil && got.Auth.Why != "" {
			d = append(d, "authentication: "+got.Auth.Why)
		}
	}
	return d
}

func backendURLs(backends []explain.Backend) (urls []string) {
	for _, b := range backends {
		urls = append(urls, b.URL)
	}
	return slices.Compact(urls)
}

func limitNames(limits []explain.Limit) (names []string) {
	for _, l := range limits {
		names = append(names, l.Name)
	}
	return names
}

func answerHeader(list []explain.Header) http.Header {
	h := make(http.Header)
	for _, one := range list {
		h.Add(one.Name, one.Value)
	}
	return h
}
