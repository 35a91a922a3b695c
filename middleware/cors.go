package middleware

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/rs/cors"

	"gatehouse/helper/exchange"
)

// CORSOptions is one route's cross-origin policy (the Fetch standard, "CORS
// protocol").
type CORSOptions struct {
	Origins          []string // exact, https://*.example.com, or "*"
	Methods          []string
	Headers          []string // "*" is every header but Authorization, as in the standard
	Exposed          []string
	AllowCredentials bool
	MaxAge           time.Duration // 0: the browser's own default
}

// CORS answers preflights and adds the cross-origin headers to answers.
type CORS struct {
	open   *cors.Cors // the policy
	strict *cors.Cors // the same without the wildcard among the headers
	any    bool       // whether open and strict differ
}

// exposed are the gateway's own headers, which a page needs to understand a refusal.
var exposed = [...]string{"X-Request-Id", "Retry-After", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "RateLimit-Policy"}

// NewCORS compiles a policy.
func NewCORS(o CORSOptions) *CORS {
	wildcard := slices.Contains(o.Headers, "*")
	named := slices.DeleteFunc(slices.Clone(o.Headers), func(h string) bool { return h == "*" })
	options := cors.Options{
		AllowedOrigins: o.Origins, AllowedMethods: o.Methods, AllowedHeaders: named,
		ExposedHeaders:   slices.Concat(o.Exposed, exposed[:]),
		AllowCredentials: o.AllowCredentials, MaxAge: int(o.MaxAge / time.Second),
		OptionsSuccessStatus: http.StatusNoContent,
	}
	strict := cors.New(options)
	options.AllowedHeaders = o.Headers
	return &CORS{open: cors.New(options), strict: strict,
		any: wildcard && !slices.ContainsFunc(named, func(h string) bool { return strings.EqualFold(h, "Authorization") })}
}

func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Origin") != "" && r.Header.Get("Access-Control-Request-Method") != ""
}

// stage answers preflights with 204, before any authentication, and queues the
// headers of every other answer, refusals included: without them a page would
// see a network error in place of a 401. The upstream's own headers of this
// kind are replaced.
func (c *CORS) stage() Stage {
	if c == nil {
		return nil
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if isPreflight(r) {
				c.preflight(w, r)
				return
			}
			ex := exchange.From(r.Context())
			ex.DropCORS = true
			collected := headerWriter{http.Header{}}
			c.open.HandlerFunc(collected, r)
			for _, name := range slices.Sorted(maps.Keys(collected.header)) {
				for _, value := range collected.header[name] {
					if name == "Vary" {
						ex.Clientward.Add(name, value)
					} else {
						ex.Clientward.Set(name, value)
					}
				}
			}
			next.ServeHTTP(w, r)
		})
	}
}

// preflight brings the asked-for headers into the form that browsers send and
// the library insists on: lower case, sorted.
func (c *CORS) preflight(w http.ResponseWriter, r *http.Request) {
	const requestHeaders = "Access-Control-Request-Headers"
	var names []string
	for _, line := range r.Header[requestHeaders] {
		for name := range strings.SplitSeq(line, ",") {
			if name = strings.ToLower(strings.TrimSpace(name)); name != "" {
				names = append(names, name)
			}
		}
	}
	if len(names) > 0 {
		slices.Sort(names)
		r.Header[requestHeaders] = []string{strings.Join(slices.Compact(names), ",")}
	}
	policy := c.open
	if c.any && slices.Contains(names, "authorization") {
		policy = c.strict
	}
	policy.HandlerFunc(w, r)
}

// headerWriter collects headers and writes nothing.
type headerWriter struct{ header http.Header }

func (w headerWriter) Header() http.Header       { return w.header }
func (headerWriter) Write(p []byte) (int, error) { return len(p), nil }
func (headerWriter) WriteHeader(int)             {}
