package builtin

import (
	"errors"
	"net/http"

	"gatehouse/helper/exchange"
	"gatehouse/helper/identity"
	"gatehouse/helper/problem"
	"gatehouse/middleware/filter"
)

const challenge = `Bearer realm="gatehouse"`

// scope asks for one scope more than the route does; "a|b" is one of two.
func scope(use filter.Use) (filter.Filter, error) {
	text, err := use.Argument.Text("a scope such as order")
	if err != nil {
		return nil, err
	}
	if use.Auth == "none" {
		return nil, errors.New("has no effect with auth: none: remove it, or write auth: jwt")
	}
	needed, err := identity.CompileRequirement([]string{text})
	if err != nil {
		return nil, errors.New("the argument is not a scope: write one without spaces, quotes and backslashes, or a|b for one of two")
	}
	insufficient := challenge + `, error="insufficient_scope", scope="` + needed.String() + `"`
	return filter.Func(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ex := exchange.From(r.Context())
			switch p := ex.Principal; {
			case p == nil: // authentication lets nobody through without one; should that change, this stays closed
				ex.Refuse(w, problem.Problem{Code: problem.CredentialsMissing, Detail: "Send a token: Authorization: Bearer TOKEN.", Authenticate: challenge})
			case !needed.Satisfied(p.Scopes):
				ex.Refuse(w, problem.Problem{Code: problem.ScopeMissing, Detail: "The token lacks a scope: " + needed.String() + ".", Authenticate: insufficient})
			default:
				next.ServeHTTP(w, r)
			}
		})
	}), nil
}
