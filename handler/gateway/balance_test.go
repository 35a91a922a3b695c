package gateway_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/handler/gateway"
)

// A slow backend gets fewer requests where those in flight count.
func TestASlowBackendGetsFewerRequests(t *testing.T) {
	for _, algorithm := range []string{"least_requests", "random_two"} {
		slow := newRawBackend(t, func(_ string, conn net.Conn, _ *bufio.Reader) {
			<-time.After(100 * time.Millisecond)
			_, _ = io.WriteString(conn, okAnswer)
		})
		fast := newRawBackend(t, says(okAnswer))
		s := start(t, "", fmt.Sprintf(`upstreams: {app: {balance: %s, backends: [{url: "http://%s"}, {url: "http://%s"}], route: {path: /, auth: none}}}`,
			algorithm, slow.Addr(), fast.Addr()))
		var workers sync.WaitGroup
		for range 4 {
			workers.Go(func() {
				for range 25 {
					s.status("GET", "/")
				}
			})
		}
		workers.Wait()
		if s, f := len(slow.seen()), len(fast.seen()); s+f != 100 || s*2 > f {
			t.Errorf("%s: the slow one got %d, the fast one %d", algorithm, s, f)
		}
	}
}

func TestHashKeepsACallerAtABackend(t *testing.T) {
	backends := []*rawBackend{newRawBackend(t, says(okAnswer)), newRawBackend(t, says(okAnswer)), newRawBackend(t, says(okAnswer))}
	list := fmt.Sprintf(`[{url: "http://%s"}, {url: "http://%s"}, {url: "http://%s"}]`, backends[0].Addr(), backends[1].Addr(), backends[2].Addr())
	s := start(t, "", strings.ReplaceAll(`
server: {trusted_proxies: [127.0.0.1/32]}
auth: {providers: {test: {issuer: test, algorithms: [HS256], secret: SECRET}}}
upstreams:
  client_ip: {balance: hash, hash_by: client_ip, backends: LIST, route: {auth: none}}
  subject: {balance: hash, hash_by: subject, backends: LIST, route: {scopes: []}}
  header: {balance: hash, hash_by: "header:x-cart", backends: LIST, route: {auth: none}}
  cookie: {balance: hash, hash_by: "cookie:cart", backends: LIST, route: {auth: none}}
`, "LIST", list))
	at := func() (n [3]int) {
		for i, b := range backends {
			n[i] = len(b.seen())
		}
		return n
	}
	for path, header := range map[string]func(i int) string{
		"/client_ip": func(i int) string { return fmt.Sprintf("X-Forwarded-For: 10.0.0.%d", i) },
		"/subject":   func(i int) string { return bearer(t, map[string]any{"sub": fmt.Sprint("user", i)}) },
		"/header":    func(i int) string { return fmt.Sprintf("X-Cart: %d", i) },
		"/cookie":    func(i int) string { return fmt.Sprintf("Cookie: a=b; cart=%d", i) },
	} {
		start := at()
		for i := range 30 {
			before := at()
			for range 2 {
				if got := s.get(path, header(i)); got.StatusCode != 200 {
					t.Fatalf("%s: %d", path, got.StatusCode)
				}
			}
			for b, n := range at() {
				if d := n - before[b]; d != 0 && d != 2 {
					t.Errorf("%s: caller %d came to two backends", path, i)
				}
			}
		}
		for b, n := range at() {
			if n == start[b] {
				t.Errorf("%s: backend %d got none of 30 callers", path, b)
			}
		}
	}
}

// A name with two addresses is two backends under one label.
func TestANameIsResolved(t *testing.T) {
	first := newRawBackend(t, says(okAnswer))
	_, port, _ := net.SplitHostPort(first.Addr().String())
	listener, err := net.Listen("tcp", "[::1]:"+port)
	if err != nil {
		t.Fatal(err)
	}
	second := serveRaw(t, listener, says(okAnswer))
	lookups := make(chan string, 10)
	s := startWith(t, "app.test:"+port, `upstreams: {app: {url: "http://BACKEND", resolve: true, route: {path: /, auth: none}}}`, func(d *gateway.Deps) {
		d.Lookup = func(_ context.Context, host string) ([]netip.Addr, error) {
			lookups <- host
			return []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.IPv6Loopback()}, nil
		}
	})
	if host := <-lookups; host != "app.test" {
		t.Errorf("looked up %s", host)
	}
	until(t, "the lookup", func() bool { return len(s.gw.Upstreams()[0].Backends) == 2 })
	for range 4 {
		s.get("/")
	}
	if len(first.seen()) != 2 || len(second.seen()) != 2 {
		t.Errorf("one address got %d, the other %d", len(first.seen()), len(second.seen()))
	}
	if host := headerLines(second.last(t), "Host")[0]; host != "app.test:"+port {
		t.Errorf("the backend saw Host %s", host)
	}
	for _, line := range s.lines() {
		logged(t, line, map[string]any{"backend": "http://app.test:" + port})
	}
}
