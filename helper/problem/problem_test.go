package problem_test

import (
	"encoding/json"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"gatehouse/helper/problem"
)

// TestCodes is the error table of the documentation.
func TestCodes(t *testing.T) {
	want := []struct {
		code   problem.Code
		status int
	}{
		{"bad_request", 400},
		{"credentials_missing", 401}, {"token_invalid", 401}, {"token_revoked", 401}, {"api_key_invalid", 401},
		{"token_expired", 403}, {"scope_missing", 403}, {"claim_mismatch", 403}, {"ip_denied", 403},
		{"no_route", 404}, {"method_not_allowed", 405}, {"body_too_large", 413},
		{"rate_limited", 429}, {"quota_exceeded", 429}, {"client_closed", 499}, {"internal_error", 500},
		{"upstream_unreachable", 502}, {"upstream_reset", 502}, {"upstream_bad_response", 502},
		{"breaker_open", 503}, {"no_backend", 503}, {"overloaded", 503}, {"keys_unavailable", 503}, {"draining", 503},
		{"upstream_timeout", 504},
	}
	var codes []problem.Code
	titles := make(map[string]bool)
	for _, row := range want {
		codes = append(codes, row.code)
		if got := row.code.Status(); got != row.status {
			t.Errorf("%s is a %d, want %d", row.code, got, row.status)
		}
		if title := row.code.Title(); title == "" || titles[title] {
			t.Errorf("%s has the title %q, which isn't its own", row.code, title)
		} else {
			titles[title] = true
		}
	}
	if got := problem.Codes(); !slices.Equal(got, codes) {
		t.Errorf("the codes are %v", got)
	}
	if got := problem.Code("no such code").Status(); got != 500 {
		t.Errorf("an unknown code is a %d", got)
	}
}

func TestWrite(t *testing.T) {
	for _, row := range []struct {
		name    string
		problem problem.Problem
		status  int
		want    map[string]string // headers; "" is none
	}{
		{"a plain refusal", problem.Problem{Code: problem.NoRoute, Detail: `no "route"`}, 404,
			map[string]string{"Retry-After": "", "Proxy-Status": "", "WWW-Authenticate": "", "Allow": "", "Connection": "", "Content-Encoding": "", "Cache-Control": "no-store",
				"X-Content-Type-Options": "nosniff", "Content-Type": "application/problem+json", "X-Earlier": "stays"}},
		{"a 429 waits at least a second", problem.Problem{Code: problem.RateLimited}, 429, map[string]string{"Retry-After": "1"}},
		{"a 503 too", problem.Problem{Code: problem.BreakerOpen, RetryAfter: time.Nanosecond}, 503, map[string]string{"Retry-After": "1"}},
		{"seconds are rounded up", problem.Problem{Code: problem.RateLimited, RetryAfter: 1500 * time.Millisecond}, 429, map[string]string{"Retry-After": "2"}},
		{"an upstream's fault", problem.Problem{Code: problem.UpstreamReset, ProxyError: "connection_terminated"}, 502,
			map[string]string{"Proxy-Status": "gatehouse; error=connection_terminated", "Retry-After": ""}},
		{"a challenge", problem.Problem{Code: problem.TokenInvalid, Authenticate: `Bearer realm="x"`}, 401, map[string]string{"WWW-Authenticate": `Bearer realm="x"`}},
		{"a method", problem.Problem{Code: problem.MethodNotAllowed, Allow: "GET"}, 405, map[string]string{"Allow": "GET"}},
		{"an unread body", problem.Problem{Code: problem.BodyTooLarge, Close: true}, 413, map[string]string{"Connection": "close"}},
		{"another status", problem.Problem{Code: problem.TokenExpired, Status: 401}, 401, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := httptest.NewRecorder()
			for name, value := range map[string]string{"Content-Length": "999", "Content-Encoding": "gzip", "X-Earlier": "stays"} {
				w.Header().Set(name, value)
			}
			row.problem.Write(w, "0af7651916cd43dd8448eb211c80319c")
			if w.Code != row.status {
				t.Errorf("the status is %d, want %d", w.Code, row.status)
			}
			for name, want := range row.want {
				if got := w.Header().Get(name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			var got map[string]any
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			want := map[string]any{
				"type": "urn:gatehouse:problem:" + string(row.problem.Code), "title": row.problem.Code.Title(), "status": float64(row.status),
				"code": string(row.problem.Code), "detail": row.problem.Detail, "trace_id": "0af7651916cd43dd8448eb211c80319c",
			}
			if len(got) != len(want) {
				t.Errorf("the body is %v", got)
			}
			for field, v := range want {
				if got[field] != v {
					t.Errorf("%s is %v, want %v", field, got[field], v)
				}
			}
			if w.Header().Get("Content-Length") != jsonLength(w.Body.Len()) {
				t.Errorf("Content-Length is %s for %d bytes", w.Header().Get("Content-Length"), w.Body.Len())
			}
		})
	}
}

func jsonLength(n int) string {
	text, _ := json.Marshal(n)
	return string(text)
}
