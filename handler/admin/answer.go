package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"gatehouse/helper/problem"
)

const challenge = `Bearer realm="gatehouse admin"` // RFC 6750 section 3

// authorize lets a request pass that shows the token.
func (o Options) authorize(next http.Handler) http.Handler {
	if o.Token == "" {
		return next
	}
	want := sha256.Sum256([]byte(o.Token)) // of one length, so that the comparison's time doesn't tell the token's
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, shown, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got := sha256.Sum256([]byte(strings.TrimLeft(shown, " ")))
		switch {
		case strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(got[:], want[:]) == 1:
			next.ServeHTTP(w, r)
		case scheme == "":
			refuse(w, problem.Problem{Code: problem.CredentialsMissing, Authenticate: challenge,
				Detail: "send Authorization: Bearer with the value of server.admin_token"})
		default:
			refuse(w, problem.Problem{Code: problem.TokenInvalid, Authenticate: challenge + `, error="invalid_token"`,
				Detail: "this is not the value of server.admin_token"})
		}
	})
}

// reply answers with v as JSON. An answer shows a moment, so nobody may keep it.
func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the types here always encode; a client that left is seen by the server
}

// replyText answers with text for a person.
func replyText(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = io.WriteString(w, text) // a client that left is seen by the server
}

// refuse answers with a problem. Requests to this listener have no trace.
func refuse(w http.ResponseWriter, p problem.Problem) {
	p.WritePlain(w)
}

func notFound(w http.ResponseWriter) {
	refuse(w, problem.Problem{Code: problem.NoRoute, Detail: "the page at / links to what there is"})
}

// allowed lists the methods that path has, for Allow (RFC 9110 section 10.2.1).
func allowed(routes chi.Routes, path string) string {
	var methods []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete} {
		if routes.Match(chi.NewRouteContext(), method, path) {
			methods = append(methods, method)
		}
	}
	return strings.Join(methods, ", ")
}
