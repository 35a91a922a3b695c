package admin

import (
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"gatehouse/helper/keyset"
	"gatehouse/helper/problem"
	"gatehouse/helper/revocation"
)

// longestRevocation is far longer than any token lives; a longer one is a slip of the pen.
const longestRevocation = 10 * 365 * 24 * time.Hour

// Identity is what an operator and the services behind the gateway ask about callers. What is nil isn't offered.
type Identity struct {
	// AssertionKeys answers GET /.well-known/jwks.json: the keys that verify the gateway's own assertions. It is public.
	AssertionKeys func() keyset.JWKS
	// Revoked is the list behind /api/revocations.
	Revoked *revocation.List
}

// publish serves what services need, which have no admin token.
func (i Identity) publish(r chi.Router) {
	if i.AssertionKeys != nil {
		get(r, "/.well-known/jwks.json", func(w http.ResponseWriter, _ *http.Request) { reply(w, http.StatusOK, i.AssertionKeys()) })
	}
}

func (i Identity) routes(r chi.Router) {
	if i.Revoked != nil {
		get(r, "/api/revocations", i.revocations)
		r.Post("/api/revocations", i.revoke)
		r.Delete("/api/revocations", i.restore)
	}
}

// revoked is one entry as the API shows it.
type revoked struct {
	Entry string     `json:"entry"`
	From  string     `json:"from"`            // api or file
	Until *time.Time `json:"until,omitempty"` // absent: as long as it stands in the file
}

func (i Identity) revocations(w http.ResponseWriter, _ *http.Request) {
	list := []revoked{} // never null
	for _, e := range i.Revoked.Entries() {
		shown := revoked{Entry: e.String(), From: "api"}
		if e.FromFile {
			shown.From = "file"
		} else {
			shown.Until = &e.Until
		}
		list = append(list, shown)
	}
	reply(w, http.StatusOK, list)
}

func (i Identity) revoke(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Entry string `json:"entry"`
		For   string `json:"for"`
	}
	if !readJSON(w, r, &body, `{"entry":"jti:x","for":"1h"}`) {
		return
	}
	name, err := revocation.ParseName(body.Entry)
	if err != nil {
		refuse(w, problem.Problem{Code: problem.BadRequest, Detail: err.Error()})
		return
	}
	last, err := time.ParseDuration(body.For)
	if err != nil || last <= 0 || last > longestRevocation {
		refuse(w, problem.Problem{Code: problem.BadRequest, Detail: `"for" is how long it is in force, such as 1h: at least as long as the token is valid`})
		return
	}
	until := time.Now().Add(last).UTC()
	i.Revoked.Add(name, until)
	reply(w, http.StatusOK, revoked{Entry: name.String(), From: "api", Until: &until})
}

func (i Identity) restore(w http.ResponseWriter, r *http.Request) {
	name, err := revocation.ParseName(r.URL.Query().Get("entry"))
	switch {
	case err != nil:
		refuse(w, problem.Problem{Code: problem.BadRequest, Detail: "?entry= names what to remove: " + err.Error()})
	case !i.Revoked.Remove(name):
		refuse(w, problem.Problem{Code: problem.BadRequest, Detail: "no such entry was added here; one of the file is removed from the file"})
	default:
		reply(w, http.StatusOK, map[string]string{"status": "ok"})
	}
}
