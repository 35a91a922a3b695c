package admin

import (
	"net/http"
	"net/http/pprof"

	"github.com/go-chi/chi/v5"

	"gatehouse/helper/problem"
)

// maxBody is far more than any body that is understood here.
const maxBody = 64 << 10

// health answers for the process alone: it would be restarted for what it says here, and that mends no upstream.
func health(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, map[string]string{"status": "ok"})
}

func (o Options) ready(w http.ResponseWriter, _ *http.Request) {
	now := o.Ready()
	answer := struct {
		Status  string   `json:"status"`
		Reasons []string `json:"reasons"`
	}{"ready", append([]string{}, now.Reasons...)} // never null
	status := http.StatusOK
	if !now.Ready {
		answer.Status, status = "not ready", http.StatusServiceUnavailable
	}
	reply(w, status, answer)
}

type level struct {
	Level string `json:"level"`
}

func (o Options) level(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, level{o.Log.Level()})
}

func (o Options) setLevel(w http.ResponseWriter, r *http.Request) {
	var wanted level
	if !readJSON(w, r, &wanted, `{"level":"debug"}`) {
		return
	}
	if err := o.Log.SetLevel(wanted.Level); err != nil {
		refuse(w, problem.Problem{Code: problem.BadRequest, Detail: "level must be debug, info, warn or error"})
		return
	}
	reply(w, http.StatusOK, level{o.Log.Level()})
}

// profiles serves net/http/pprof under its usual paths, which its index links to.
func profiles(r chi.Router) {
	get(r, "/debug/pprof/", pprof.Index)
	get(r, "/debug/pprof/{profile}", pprof.Index) // heap, goroutine, mutex, ...: Index knows them by name
	get(r, "/debug/pprof/cmdline", pprof.Cmdline)
	get(r, "/debug/pprof/profile", pprof.Profile)
	get(r, "/debug/pprof/symbol", pprof.Symbol)
	r.Post("/debug/pprof/symbol", pprof.Symbol) // go tool pprof posts the addresses
	get(r, "/debug/pprof/trace", pprof.Trace)
}
