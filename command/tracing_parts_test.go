package command

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	spans "go.opentelemetry.io/proto/otlp/trace/v1"

	"gatehouse/helper/limit/redis/redistest"
	"gatehouse/helper/trace/otlp/otlptest"
)

// newIssuer is an identity service: its discovery document and its keys.
func newIssuer(t *testing.T) (issuer string) {
	t.Helper()
	code, keys, stderr := call(t, "keys", "new", "--out", filepath.Join(t.TempDir(), "identity.pem"))
	if code != 0 {
		t.Fatal(stderr)
	}
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"issuer": %q, "jwks_uri": %q}`, server.URL, server.URL+"/keys?tenant=secret")
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, keys) })
	return server.URL
}

// What a request waits for in Redis is below its span; a fetch of keys stands by itself.
func TestATraceTellsOfRedisAndOfKeys(t *testing.T) {
	redis, collector, issuer, s := redistest.New(t), otlptest.New(t), newIssuer(t), newService(t)
	path := file(t, "config.yaml", fmt.Sprintf(`server: {listen: "127.0.0.1:0", admin: "127.0.0.1:0", trusted_proxies: [127.0.0.1/32]}
tracing: {otlp_endpoint: %q, sample_ratio: 1}
redis: {addresses: [%q], timeout: 500ms}
auth: {providers: {identity: {issuer: %q, discovery: true, algorithms: [ES256]}}}
upstreams: {order: {url: %q}}
routes: [{path: /order, upstream: order, auth: none, limit: {rate: 1000/s}, quota: {rate: 1000/s}}]
`, collector.Endpoint, redis.Addr(), issuer, s.URL))
	r := start(t, nil, "--config", path)
	public, _ := r.addresses(t)
	r.stdout.waitFor(t, "limits are shared through Redis")
	r.stdout.waitFor(t, "keys changed")
	send := func(traceID, flag string) {
		t.Helper()
		request, err := http.NewRequest(http.MethodGet, "http://"+public+"/order", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Traceparent", "00-"+traceID+"-"+callerSpan+"-"+flag)
		if got := do(request); got.status != 200 {
			t.Fatalf("got %+v", got)
		}
	}
	const answered, unanswered, local, unsampled = "11111111111111111111111111111111", "22222222222222222222222222222222",
		"33333333333333333333333333333333", "44444444444444444444444444444444"
	send(unsampled, "00")
	send(answered, "01")
	if err := redis.Pause(); err != nil {
		t.Fatal(err)
	}
	send(unanswered, "01")
	send(unsampled, "00") // the third failure in a row, after which Redis isn't asked
	send(local, "01")
	r.interrupt()
	if code := r.end(t); code != 0 {
		t.Fatalf("it ended with %d: %s", code, r.stderr)
	}
	of := traces(collector.Spans())
	for id, want := range map[string]string{answered: "", unanswered: "timeout"} {
		trace := of[id]
		if len(trace["GET /order"]) != 1 || len(trace["redis limit"]) != 2 {
			t.Fatalf("trace %s has %v", id, trace)
		}
		request := trace["GET /order"][0]
		for _, call := range trace["redis limit"] { // before and after authentication
			if string(call.ParentSpanId) != string(request.SpanId) || call.Kind != spans.Span_SPAN_KIND_CLIENT || otlptest.Attribute(call, "db.system.name") != "redis" {
				t.Errorf("the call isn't below the request: %v", call)
			}
			if failed := call.Status.GetCode() == spans.Status_STATUS_CODE_ERROR; otlptest.Attribute(call, "error.type") != want || failed != (want != "") {
				t.Errorf("the call has the error type %q, want %q: %v", otlptest.Attribute(call, "error.type"), want, call)
			}
		}
	}
	if got := of[local]["redis limit"]; len(of[local]) == 0 || len(got) > 0 {
		t.Errorf("a request that is decided locally has %v", of[local])
	}
	if got := of[unsampled]; got != nil {
		t.Errorf("a trace that isn't recorded has %v", got)
	}
	fetches := 0
	for _, trace := range of {
		if len(trace["fetch keys"]) == 0 {
			continue
		}
		fetches++
		fetch, documents := trace["fetch keys"][0], trace["GET"]
		if len(trace) != 2 || len(documents) != 2 || len(fetch.ParentSpanId) > 0 || fetch.Status.GetCode() == spans.Status_STATUS_CODE_ERROR {
			t.Fatalf("the fetch's trace is %v", trace)
		}
		for i, url := range []string{issuer + "/.well-known/openid-configuration", issuer + "/keys"} {
			if otlptest.Attribute(documents[i], "url.full") != url || otlptest.Attribute(documents[i], "http.response.status_code") != "200" {
				t.Errorf("document %d, want %s: %v", i, url, documents[i])
			}
		}
	}
	if fetches != 1 {
		t.Errorf("%d traces tell of keys, want 1", fetches)
	}
}

// traces sorts spans by the ids of their traces and their names.
func traces(all []*spans.Span) map[string]map[string][]*spans.Span {
	of := map[string]map[string][]*spans.Span{}
	for _, span := range all {
		id := fmt.Sprintf("%x", span.TraceId)
		if of[id] == nil {
			of[id] = map[string][]*spans.Span{}
		}
		of[id][span.Name] = append(of[id][span.Name], span)
	}
	return of
}
