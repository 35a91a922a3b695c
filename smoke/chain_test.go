package smoke

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What a client may try, and what reaches the service: nothing that it made up, everything that was verified.
func TestTheServiceGetsWhatWasVerified(t *testing.T) {
	gateway := build(t)
	service := newBackend(t)
	p := gateway.serve(t, service.address)
	token := gateway.token(t, "order user")

	answer := send(t, p.public,
		"GET /order/a%7Eb/{c}?q=%zz;x&&y=%41+%20 HTTP/1.1",
		"Host: shop.example.com",
		"Authorization: Bearer "+token,
		"X-User-Id: root",
		"x-user-id: root",
		"X-User-Id: root, admin",
		"X_User_Id: root",
		"X-User_Email: root@example.com",
		"X-USER-SCOPES: admin",
		"X-Forwarded-For: 203.0.113.9",
		"X-Forwarded-Host: evil.example.com",
		"X-Forwarded-Proto: https",
		"Forwarded: for=203.0.113.9",
		"X-Real-Ip: 203.0.113.9",
		"X-Original-URL: /admin",
		"X-Request-Id: mine",
		"Connection: close, X-User-Id, X-User-Scopes, X-Request-Id, X-Hop",
		"X-Hop: 1",
		"Keep-Alive: timeout=5",
		"Proxy-Authorization: Basic eDp5",
		"Proxy-Connection: keep-alive",
		"TE: gzip",
		"X-Kept: as it came",
	)
	if answer.StatusCode != 200 {
		t.Fatalf("status %d: %s", answer.StatusCode, bodyOf(t, answer))
	}
	trace := answer.Header.Get("X-Request-Id")
	got := strings.Split(strings.TrimSuffix(<-service.heads, "\r\n\r\n"), "\r\n")
	span := regexp.MustCompile(`^Traceparent: 00-` + trace + `-[0-9a-f]{16}-0[01]$`)
	for i, line := range got { // its span is new each time
		if span.MatchString(line) {
			got[i] = "Traceparent: of this trace"
		}
	}
	want := []string{
		"GET /a%7Eb/{c}?q=%zz;x&&y=%41+%20 HTTP/1.1",
		"Host: " + service.address,
		"Authorization: Bearer " + token,
		"Forwarded: for=127.0.0.1;host=shop.example.com;proto=http",
		"Traceparent: of this trace",
		"X-Forwarded-For: 127.0.0.1",
		"X-Forwarded-Host: shop.example.com",
		"X-Forwarded-Proto: http",
		"X-Kept: as it came",
		"X-Request-Id: " + trace,
		"X-User-Email: ada@example.com",
		"X-User-Id: ada",
		"X-User-Scopes: order user",
	}
	slices.Sort(got[2:])
	if !slices.Equal(got, want) {
		t.Errorf("the service got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	send(t, p.public, "GET /public HTTP/1.1", "Host: shop.example.com", "X-User-Id: root", "Connection: close, X-User-Id")
	if head := <-service.heads; strings.Contains(strings.ToLower(head), "x-user") {
		t.Errorf("an open route let an identity through:\n%s", head)
	}
}

// Each way to be refused: what the client, the log and the metrics say of it.
func TestRefusalsAreAnsweredLoggedAndCounted(t *testing.T) {
	gateway := build(t)
	service := newBackend(t)
	p := gateway.serve(t, service.address)
	token := func(scope string, flags ...string) string {
		return "Authorization: Bearer " + gateway.token(t, scope, flags...)
	}
	for range 3 { // what the limit of the public route has room for
		send(t, p.public, "GET /public HTTP/1.1", "Host: x", "Connection: close")
	}
	for _, row := range []struct {
		name, target, header string
		status               int
		code, route          string
		counted              bool // it is the first with this code and route
	}{
		{"no token", "/order/42", "X-None: 1", 401, "credentials_missing", "orders", true},
		{"a token that isn't one", "/order/42", "Authorization: Bearer x", 401, "token_invalid", "orders", true},
		{"a token whose signature isn't the issuer's", "/user", token("user", "--bad", "tampered"), 401, "token_invalid", "users", true},
		{"a token that has expired", "/order", token("order", "--ttl", "-1h"), 403, "token_expired", "orders", true},
		{"a token for something else", "/order", token("user"), 403, "scope_missing", "orders", true},
		{"no route", "/nowhere", "X-None: 1", 404, "no_route", "_none", true},
		{"a segment that only begins like a route", "/orders", "X-None: 1", 404, "no_route", "_none", false},
		{"a method that the route doesn't have", "/user", "X-Method: DELETE", 405, "method_not_allowed", "_none", true},
		{"a path that leaves its route", "/order/..%2fuser", "X-None: 1", 400, "bad_request", "_none", true},
		{"once too often", "/public", "X-None: 1", 429, "rate_limited", "public", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			method := "GET"
			if _, other, ok := strings.Cut(row.header, "X-Method: "); ok {
				method = other
			}
			answer := send(t, p.public, method+" "+row.target+" HTTP/1.1", "Host: x", row.header, "Connection: close")
			var body struct {
				Code    string
				TraceID string `json:"trace_id"`
			}
			if err := json.Unmarshal([]byte(bodyOf(t, answer)), &body); err != nil {
				t.Fatal(err)
			}
			if answer.StatusCode != row.status || body.Code != row.code || answer.Header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("the answer is %d %s %q", answer.StatusCode, body.Code, answer.Header)
			}
			line := p.await("the trace "+body.TraceID, func(line map[string]any) bool { return line["trace_id"] == body.TraceID })
			if line["status"] != float64(row.status) || line["code"] != row.code || line["route"] != row.route {
				t.Errorf("the log says %v", line)
			}
			if counted := `code="` + row.code + `",shadow="false",uri="` + row.route + `"} 1`; row.counted {
				if metrics := p.metrics(t); !strings.Contains(metrics, counted) {
					t.Errorf("the metrics don't say %s", counted)
				}
			}
		})
	}
	for range 3 {
		<-service.heads
	}
	select {
	case head := <-service.heads:
		t.Errorf("a refused request reached the service:\n%s", head)
	default:
	}
	for _, series := range []string{
		`http_requests_total{code="200",method="GET",upstream="order",uri="public"} 3`,
		`gateway_requests_total{operation="accept",upstream="order",uri="public"} 3`,
		`gateway_requests_total{operation="reject",upstream="order",uri="public"} 1`,
		`gateway_breaker_state{upstream="order"} 0`,
		`gateway_build_info{go="`,
	} {
		if !strings.Contains(p.metrics(t), series) {
			t.Errorf("the metrics don't say %s", series)
		}
	}
}

func (p *process) metrics(t *testing.T) string {
	t.Helper()
	return bodyOf(t, send(t, p.admin, "GET /metrics HTTP/1.1", "Host: x", "Connection: close"))
}
