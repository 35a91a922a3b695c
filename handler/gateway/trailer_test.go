package gateway_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAnswerTrailers(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n"
	for _, row := range []struct {
		name, answer string
		want         string
	}{
		{"announced", head + "Trailer: X-Sum, X-Other\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 7\r\nX-Other: 8\r\n\r\n", "7 8"},
		{"not announced", head + "\r\n2\r\nok\r\n0\r\nX-Sum: 7\r\nX-Other: 8\r\n\r\n", "7 8"},
		{"one of two announced", head + "Trailer: X-Sum\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 7\r\nX-Other: 8\r\n\r\n", "7 8"},
		{"behind an empty body", head + "Trailer: X-Sum, X-Other\r\n\r\n0\r\nX-Sum: 7\r\nX-Other: 8\r\n\r\n", "7 8"},
	} {
		t.Run(row.name, func(t *testing.T) {
			backend := newRawBackend(t, says(row.answer))
			s := start(t, backend.Addr().String(), openConfig)
			res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(newRequest(t, "GET", s.URL+"/", nil))
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if _, err := io.ReadAll(res.Body); err != nil {
				t.Fatal(err)
			}
			if got := res.Trailer.Get("X-Sum") + " " + res.Trailer.Get("X-Other"); got != row.want {
				t.Errorf("the client got the trailers %v", res.Trailer)
			}
		})
	}
}

// A client may merge trailers into the header, which the gateway has had its say in.
func TestTrailersThatNoClientMayRead(t *testing.T) {
	const config = `
upstreams: {app: {url: "http://BACKEND"}}
routes:
  - {path: /, upstream: app, auth: none, cors: {allowed_origins: ["https://app.test"]}, filters: ["set_response_header:X-Frame-Options=DENY", "remove_response_header:Server"]}
`
	const evil = "X-Frame-Options: ALLOW\r\nServer: z\r\nX-Request-Id: fake\r\nContent-Length: 9\r\nContent-Type: text/html\r\nSet-Cookie: a=1\r\n" +
		"Access-Control-Allow-Origin: *\r\nTransfer-Encoding: x\r\n"
	for _, announced := range []string{"", "Trailer: X-Sum, Server, X-Request-Id, Set-Cookie\r\n"} {
		backend := newRawBackend(t, says("HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n"+announced+"\r\n2\r\nok\r\n0\r\n"+evil+"X-Sum: 7\r\nGrpc-Status: 0\r\n\r\n"))
		s := start(t, backend.Addr().String(), config)
		text := s.raw(request("GET /", "Origin: https://app.test"))
		head, body, _ := strings.Cut(text, "\r\n\r\n")
		if body != "2\r\nok\r\n0\r\nGrpc-Status: 0\r\nX-Sum: 7\r\n\r\n" {
			t.Errorf("the client got the body %q", body)
		}
		if got := strings.Join(headerLines(head+"\r\n\r\n", "Trailer"), "|"); announced != "" && got != "X-Sum" || announced == "" && got != "" {
			t.Errorf("the client was told of the trailers %q", got)
		}
	}
}

func TestTEReachesTheBackendForTrailersOnly(t *testing.T) {
	backend := newRawBackend(t, says(okAnswer))
	s := start(t, backend.Addr().String(), openConfig)
	s.raw(request("GET /", "TE: trailers, gzip"))
	if te := headerLines(backend.last(t), "Te"); strings.Join(te, "|") != "trailers" {
		t.Errorf("the backend got TE: %q", te)
	}
}

func newRequest(t *testing.T, method, url string, body io.Reader) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const trailerConfig = `
upstreams: {app: {url: "SCHEME://BACKEND", timeouts: {request: 5s}, breaker: {failures: 1}}}
routes:
  - {path: /, upstream: app, auth: none}
  - {path: /filtered, upstream: app, auth: none, filters: ["set_request_header:X-Tenant=acme", "remove_request_header:X-Debug"]}
`

// A backend may merge trailers into the header, so nothing may stand there that decides about a request.
func TestTrailersThatNoBackendMayRead(t *testing.T) {
	for _, row := range []struct{ name, path, trailer string }{
		{"of the connection", "/", "Te"},
		{"that names other headers of the connection", "/", "Connection"},
		{"that upgrades", "/", "Upgrade"},
		{"that expects an answer", "/", "Expect"},
		{"that names the host", "/", "Host"},
		{"in another spelling", "/", "max_forwards"},
		{"with a token", "/", "Authorization"},
		{"with a token for a proxy", "/", "Proxy-Authorization"},
		{"with a session", "/", "Cookie"},
		{"about caches", "/", "Cache-Control"},
		{"that asks for a part", "/", "Range"},
		{"with a condition", "/", "If-Match"},
		{"about the content", "/", "Content-Type"},
		{"about the content, in another spelling", "/", "Content_Encoding"},
		{"that a filter sets", "/filtered", "X-Tenant"},
		{"that a filter sets, in another spelling", "/filtered", "X_Tenant"},
		{"that a filter removes", "/filtered", "x.debug"},
	} {
		t.Run(row.name, func(t *testing.T) {
			backend, bodies := newBodyBackend(t)
			s := start(t, backend.Addr().String(), strings.Replace(trailerConfig, "SCHEME", "http", 1))
			s.raw(withTrailer(row.path, row.trailer+", X-Sum", row.trailer+": evil\r\nX-Sum: 7\r\n"))
			if got := wait(t, bodies, "the body at the backend"); got != "2\r\nab\r\n0\r\nX-Sum: 7\r\n\r\n" {
				t.Errorf("the backend read the body %q", got)
			}
			if declared := headerLines(backend.last(t), "Trailer"); strings.Join(declared, "|") != "X-Sum" {
				t.Errorf("the backend read Trailer: %q", declared)
			}
		})
	}
}

// What a client puts into a trailer is never a failure of the backend.
func TestTrailersDoNotFailTheBackend(t *testing.T) {
	backend := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		_, _ = fmt.Fprint(w, string(body), " ", err, " ", r.Trailer.Get("X-Sum"))
	}))
	backend.Config.Protocols = h2c()
	backend.Config.Protocols.SetHTTP1(true)
	backend.Start()
	defer backend.Close()
	for _, scheme := range []string{"http", "h2c"} {
		for _, row := range []struct{ name, declared, sent, want string }{
			{"TE", "Te", "Te: trailers\r\n", "ab <nil> "},
			{"another for the connection", "Keep-Alive", "Keep-Alive: 5\r\n", "ab <nil> "},
			{"no name", "X Sum", "", "ab <nil> "},
			{"one that isn't sent", "X-Sum", "", "ab <nil> "},
			{"a good one", "X-Sum", "X-Sum: 7\r\n", "ab <nil> 7"},
		} {
			t.Run(scheme+" "+row.name, func(t *testing.T) {
				s := start(t, backend.Listener.Addr().String(), strings.Replace(trailerConfig, "SCHEME", scheme, 1))
				answer := s.raw(withTrailer("/", row.declared, row.sent))
				if !strings.HasPrefix(answer, "HTTP/1.1 200 ") || !strings.HasSuffix(answer, row.want) {
					t.Errorf("got %q", answer)
				}
			})
		}
	}
}

// withTrailer is a request with a trailer as it is declared and as it is sent.
func withTrailer(path, declared, sent string) string {
	return "POST " + path + " HTTP/1.1\r\nHost: gw.test\r\nConnection: close\r\nTrailer: " + declared +
		"\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n" + sent + "\r\n"
}
