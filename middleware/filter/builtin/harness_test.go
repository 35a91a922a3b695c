package builtin_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"gatehouse/helper/clientip"
	"gatehouse/helper/exchange"
	"gatehouse/helper/identity"
	"gatehouse/helper/limit"
	"gatehouse/middleware/filter"
	"gatehouse/middleware/filter/builtin"
)

// route is a route with filters, and what stands before and behind them.
type route struct {
	auth      string
	filters   []string
	principal *identity.Principal
	upstream  http.HandlerFunc // sees the header that goes upstream
}

func newRegistry(t testing.TB) *filter.Registry {
	t.Helper()
	registry, err := filter.NewRegistry(builtin.Factories(builtin.Options{
		Limits: limit.NewLocal(limit.Options{}), Identity: []string{"x-user-id", "X-Team"},
	})...)
	if err != nil {
		t.Fatal(err)
	}
	return registry
}

// serve starts the route. Its clients are behind a trusted proxy, so that X-Forwarded-For tells their address.
func serve(t testing.TB, r route) *httptest.Server {
	t.Helper()
	if r.auth == "" {
		r.auth = "any"
	}
	if r.upstream == nil {
		r.upstream = func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "passed") }
	}
	chain, err := newRegistry(t).Build("orders", r.auth, r.filters)
	if err != nil {
		t.Fatal(err)
	}
	clients := clientip.NewResolver([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})
	handler := chain.Wrap(http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
		ex := exchange.From(in.Context())
		out := in.Clone(in.Context())
		ex.Upstreamward.Apply(out.Header)
		r.upstream(w, out)
	}))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
		ex, in := exchange.Begin(w, in, 0)
		ex.TraceID = strings.Repeat("a", 32)
		ex.Principal = r.principal
		ex.Client = clients.Resolve(in.RemoteAddr, in.Header)
		handler.ServeHTTP(&ex.Writer, in)
	}))
	t.Cleanup(func() {
		server.Close()
		if err := chain.Close(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// answer is what a client got, undecoded.
type answer struct {
	*http.Response
	body string
}

// code is the code of a refusal, "" for any other answer.
func (a answer) code() string {
	var refusal struct{ Code string }
	if a.Header.Get("Content-Type") == "application/problem+json" {
		_ = json.Unmarshal([]byte(a.body), &refusal)
	}
	return refusal.Code
}

// send makes one request; header is name and value by turns.
func send(t testing.TB, server *httptest.Server, method string, header ...string) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		request.Header[header[i]] = append(request.Header[header[i]], header[i+1])
	}
	transport := &http.Transport{DisableCompression: true, DisableKeepAlives: true}
	response, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{response, string(body)}
}

// raw opens a connection, and sends it text.
func raw(t testing.TB, server *httptest.Server, text string) *bufio.Reader {
	t.Helper()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return bufio.NewReader(conn)
}
