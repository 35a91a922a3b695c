package explain

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// text is a report as it is written for a person: a word of what it is about, then
// what there is to say, in the order of the chain.
type text struct{ strings.Builder }

const margin = 11 // of the longest word

func (t *text) line(about, format string, args ...any) {
	said := strings.Map(printable, fmt.Sprintf(format, args...))
	fmt.Fprintf(t, "%-*s %s\n", margin, about, said)
}

// printable keeps what a client made up from playing tricks on a terminal.
func printable(r rune) rune {
	if unicode.IsControl(r) {
		return unicode.ReplacementChar
	}
	return r
}

// String is the report for a person, some twenty lines.
func (r *Report) String() string {
	t := &text{}
	r.writeRequest(t)
	r.writeStages(t)
	r.writeForward(t)
	for _, u := range r.Undecided {
		t.line("undecided", "%s", u)
	}
	r.writeAnswer(t)
	return t.String()
}

func (r *Report) writeRequest(t *text) {
	target := r.Request.Path
	if r.Request.Query != "" {
		target += "?" + r.Request.Query
	}
	t.line("request", "%s %s, host %s, from %s", r.Request.Method, target, cmp.Or(r.Request.Host, "(none)"), r.Request.ClientIP)
	if len(r.Candidates) == 0 {
		t.line("route", "none has this path and host")
	}
	widest := 0
	for _, c := range r.Candidates {
		widest = max(widest, len(c.Route))
	}
	for _, c := range r.Candidates {
		sign := "-"
		if c.Wins {
			sign = ">"
		}
		t.line("route", "%s %-*s  %s %s", sign, widest, c.Route, c.Path, c.Why)
	}
	if r.Split != "" {
		t.line("upstream", "%s, by the route's split %s", r.Upstream, r.Split)
	} else if r.Upstream != "" {
		t.line("upstream", "%s", r.Upstream)
	}
}

func (r *Report) writeStages(t *text) {
	if r.Route == "" {
		return
	}
	t.line("cors", "%s", r.CORS)
	quotas := slices.IndexFunc(r.Limits, func(l Limit) bool { return l.afterAuth() })
	if quotas < 0 {
		quotas = len(r.Limits)
	}
	writeLimits(t, "limit", r.Limits[:quotas])
	if b := r.Breaker; b != nil {
		admits := "lets the request through"
		if !b.Admits {
			admits = "refuses it"
		}
		t.line("breaker", "%s, %s%s", b.State, admits, after(", the next trial is in ", b.RetryAfter))
		r.Auth.write(t)
	}
	writeLimits(t, "quota", r.Limits[quotas:])
	for _, f := range r.Filters {
		switch {
		case f.Undecided:
			t.line("filter", "%s: undecided", f.Name)
		case f.Reached:
			t.line("filter", "%s", f.Name)
		default:
			t.line("filter", "%s: the request doesn't come as far", f.Name)
		}
	}
}

// afterAuth says whether the limit counts after authentication.
func (l Limit) afterAuth() bool {
	name := strings.TrimPrefix(l.Name, "shadow:")
	return strings.HasPrefix(name, "quota:") || strings.HasPrefix(name, "plan:") || strings.HasPrefix(name, "filter:")
}

func writeLimits(t *text, about string, limits []Limit) {
	for _, l := range limits {
		state := fmt.Sprintf("%d of %d left, full in %s", l.Remaining, l.Burst, l.Reset)
		switch {
		case l.Unasked:
			state = fmt.Sprintf("kept in Redis, which wasn't asked; it holds %d", l.Burst)
		case l.Allowed:
			state = fmt.Sprintf("allows it; %d of %d left after it, full in %s", l.Remaining, l.Burst, l.Reset)
		case l.Shadow:
			state = "would refuse it, but is in shadow mode; " + state + after(", wait ", l.RetryAfter)
		default:
			state = "refuses it" + after(", wait ", l.RetryAfter) + "; " + state
		}
		t.line(about, "%s: %s; counted: %s", l.Name, state, l.Key)
	}
}

func (a *Auth) write(t *text) {
	if a.Required == "none" {
		t.line("auth", "none: the route is open")
		return
	}
	wants := a.Required
	if len(a.Scopes) > 0 {
		wants += ", scopes " + strings.Join(a.Scopes, " ")
	}
	if len(a.Claims) > 0 {
		claims, _ := json.Marshal(a.Claims) // they come from YAML: texts, numbers and lists
		wants += ", claims " + string(claims)
	}
	t.line("auth", "wants %s", wants)
	if a.Provider != "" && (a.Subject != "" || a.Client != "" || len(a.Granted) > 0 || a.Why == "") {
		caller := "subject " + cmp.Or(a.Subject, "(none)")
		if a.Client != "" {
			caller = "API key " + a.Client
		}
		t.line("auth", "provider %s%s, %s, scopes %s%s", a.Provider, after(", key ", a.KeyID), caller,
			cmp.Or(strings.Join(a.Granted, " "), "(none)"), after(", plan ", a.Plan))
	}
	if a.Why != "" {
		t.line("auth", "refused%s: %s", after(" by provider ", a.Provider), a.Why)
	}
}

func (r *Report) writeForward(t *text) {
	for _, b := range r.Backends {
		sign := "-"
		if b.Picked {
			sign = ">"
		}
		t.line("backend", "%s %s%s, %d in flight%s", sign, b.URL, after(" at ", b.Address), b.InFlight, after("; ", b.Why))
	}
	if len(r.Backends) > 1 {
		t.line("balance", "%s", r.Balance)
	}
	f := r.Forward
	if f == nil {
		return
	}
	target := f.Path
	if f.Query != "" {
		target += "?" + f.Query
	}
	t.line("forward", "%s %s, host %s", f.Method, target, f.Host)
	for _, h := range f.Added {
		t.line("", "+ %s: %s", h.Name, h.Value)
	}
	for _, name := range f.Removed {
		t.line("", "- %s", name)
	}
	if o := r.Timeouts; o != nil {
		t.line("timeouts", "request %s, connect %s, response header %s, idle %s; %d attempts at most", o.Request, o.Connect, o.ResponseHeader, o.Idle, o.Attempts)
	}
	if r.Mirror != "" {
		t.line("mirror", "%s", r.Mirror)
	}
}

func (r *Report) writeAnswer(t *text) {
	switch a := r.Answer; {
	case a.Forwarded:
		t.line("answer", "forwarded to %s: the upstream's", r.Upstream)
	case a.Code == "":
		t.line("answer", "%d, by the gateway itself", a.Status)
	default:
		t.line("answer", "%d %s: %s", a.Status, a.Code, a.Detail)
		if a.Remedy != "" {
			t.line("remedy", "%s", a.Remedy)
		}
	}
	for _, h := range r.Answer.Headers {
		t.line("", "+ %s: %s", h.Name, h.Value)
	}
}

// after is text behind a word, or nothing.
func after(word, text string) string {
	if text == "" {
		return ""
	}
	return word + text
}
