package admin

import (
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"gatehouse/helper/problem"
)

// Options are where the answers come from. All functions are required and must be safe for concurrent use.
type Options struct {
	// Token is what /api/ and /debug/pprof/ ask for as "Authorization: Bearer TOKEN"; "": they are open.
	Token string
	// Metrics answers GET /metrics.
	Metrics http.Handler
	// Ready says whether requests should be sent here.
	Ready func() Readiness
	// Config says which config is in service.
	Config func() Config
	// Routes lists the routes in service, as what encoding/json makes of it.
	Routes func() any
	// Upstreams lists the upstreams in service with their state at this moment, likewise.
	Upstreams func() any
	// Log is the log whose level can be changed.
	Log Leveler
	// Identity is about callers.
	Identity Identity
	// Operations are what can be done over the API.
	Operations Operations
}

// Leveler has a log level that can be changed: debug, info, warn or error.
type Leveler interface {
	Level() string
	SetLevel(level string) error
}

// Readiness is the answer of /readyz. Reasons say what is wrong; an instance can be ready all the same, with an upstream
// down for example.
type Readiness struct {
	Ready   bool
	Reasons []string
}

// Config is the answer of /api/config.
type Config struct {
	Hash   string    `json:"hash"`
	Source string    `json:"source"` // the file, or what stood for it
	Loaded time.Time `json:"loaded"`
	// LastReload and LastRejected are what became of attempts to change it, as what encoding/json makes of it; nil: none.
	LastReload   any `json:"last_reload,omitempty"`
	LastRejected any `json:"last_rejected,omitempty"`
}

// New makes the handler.
func New(o Options) http.Handler {
	r := chi.NewRouter()
	r.NotFound(func(w http.ResponseWriter, _ *http.Request) { notFound(w) })
	r.MethodNotAllowed(func(w http.ResponseWriter, q *http.Request) {
		methods := allowed(r, q.URL.Path)
		refuse(w, problem.Problem{Code: problem.MethodNotAllowed, Detail: "this path takes " + methods, Allow: methods})
	})

	r.Use(bounded, sameSite)
	servePage(r)
	get(r, "/metrics", o.Metrics.ServeHTTP)
	get(r, "/healthz", health)
	get(r, "/readyz", o.ready)
	o.Identity.publish(r)
	r.Group(func(r chi.Router) {
		r.Use(o.ownOrigin, o.authorize)
		get(r, "/api/config", func(w http.ResponseWriter, _ *http.Request) { reply(w, http.StatusOK, o.Config()) })
		get(r, "/api/routes", func(w http.ResponseWriter, _ *http.Request) { reply(w, http.StatusOK, o.Routes()) })
		get(r, "/api/upstreams", func(w http.ResponseWriter, _ *http.Request) { reply(w, http.StatusOK, o.Upstreams()) })
		get(r, "/api/log-level", o.level)
		r.Put("/api/log-level", o.setLevel)
		o.Operations.routes(r)
		o.Identity.routes(r)
		profiles(r)
	})
	return r
}

// get serves HEAD too, as RFC 9110 section 9.1 asks; net/http leaves the body out.
func get(r chi.Router, pattern string, handler http.HandlerFunc) {
	r.Get(pattern, handler)
	r.Head(pattern, handler)
}
