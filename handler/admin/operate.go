package admin

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"gatehouse/helper/problem"
)

// Operations are what an operator can do over the API. One that is nil isn't offered: its path is a 404.
type Operations struct {
	// Reload reads the config again and says what became of it, as what encoding/json makes of it, and whether it was accepted.
	Reload func() (result any, accepted bool)
	// SetBreaker holds a breaker open or closed, or lets it decide again: state is open, closed or auto. Its error says what
	// is wrong with the request.
	SetBreaker func(upstream, state string) error
	// Drain takes a backend out of its upstream, or back into it. Its error says what is wrong with the request.
	Drain func(upstream, backend string, drain bool) error
	// Explain says what would become of a request, as what encoding/json makes of it, and as its String for a person. Its error says what is wrong with the
	// question.
	Explain func(Question) (any, error)
}

// Question is a request that /api/explain is asked about.
type Question struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Token   string            `json:"token"`
}

func (o Operations) routes(r chi.Router) {
	if o.Reload != nil {
		r.Post("/api/reload", o.reload)
	}
	if o.SetBreaker != nil {
		r.Post("/api/upstreams/{name}/breaker", o.breaker)
	}
	if o.Drain != nil {
		r.Post("/api/upstreams/{name}/drain", o.drain)
	}
	if o.Explain != nil {
		get(r, "/api/explain", func(w http.ResponseWriter, r *http.Request) {
			q := r.URL.Query()
			o.explain(w, r, Question{Method: q.Get("method"), URL: q.Get("url")})
		})
		r.Post("/api/explain", func(w http.ResponseWriter, r *http.Request) {
			var q Question
			if readJSON(w, r, &q, `{"method":"GET","url":"/order/42","headers":{},"token":""}`) {
				o.explain(w, r, q)
			}
		})
	}
}

func (o Operations) reload(w http.ResponseWriter, _ *http.Request) {
	result, accepted := o.Reload()
	status := http.StatusOK
	if !accepted {
		status = http.StatusUnprocessableEntity
	}
	reply(w, status, result)
}

func (o Operations) breaker(w http.ResponseWriter, r *http.Request) {
	var body struct {
		State string `json:"state"`
	}
	if readJSON(w, r, &body, `{"state":"open"}`) {
		done(w, o.SetBreaker(chi.URLParam(r, "name"), body.State))
	}
}

func (o Operations) drain(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Backend string `json:"backend"`
		Drain   *bool  `json:"drain"`
	}
	if !readJSON(w, r, &body, `{"backend":"http://order:8080","drain":true}`) {
		return
	}
	if body.Drain == nil {
		refuse(w, problem.Problem{Code: problem.BadRequest, Detail: `"drain" is needed: write true or false`})
		return
	}
	done(w, o.Drain(chi.URLParam(r, "name"), body.Backend, *body.Drain))
}

// explain answers with JSON, or with text for a person where the request asks for that.
func (o Operations) explain(w http.ResponseWriter, r *http.Request, q Question) {
	if q.URL == "" {
		refuse(w, problem.Problem{Code: problem.BadRequest, Detail: "url is needed: write a path such as /order/42, or a whole URL"})
		return
	}
	answer, err := o.Explain(q)
	if err != nil {
		refuse(w, problem.Problem{Code: problem.BadRequest, Detail: err.Error()})
		return
	}
	text, readable := answer.(fmt.Stringer)
	if readable && strings.HasPrefix(r.Header.Get("Accept"), "text/plain") {
		replyText(w, text.String())
		return
	}
	reply(w, http.StatusOK, answer)
}

// done answers an operation. What can go wrong with one is that the request names something wrong.
func done(w http.ResponseWriter, err error) {
	if err != nil {
		refuse(w, problem.Problem{Code: problem.BadRequest, Detail: err.Error()})
		return
	}
	reply(w, http.StatusOK, map[string]string{"status": "ok"})
}

// readJSON reads a small JSON body strictly, one such as the example; false means that the answer has been given.
func readJSON(w http.ResponseWriter, r *http.Request, into any, example string) bool {
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(into)
	if err == nil && decoder.More() {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		refuse(w, problem.Problem{Code: problem.BadRequest, Detail: "the body must be JSON such as " + example + ", without other keys"})
		return false
	}
	return true
}
