package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/handler/gateway"
	"gatehouse/helper/config"
	"gatehouse/helper/server"
	"gatehouse/helper/token"
	"gatehouse/logger"
)

// lane is upstreams.*.connections.lane in every test, which all pass with both.
var lane = flag.String("lane", "auto", "the way to the backends: auto or standard")

const secret = "0123456789abcdef0123456789abcdef"

// stand is a gateway on a real listener, with its log and its counts.
type stand struct {
	t      *testing.T
	URL    string
	Addr   string
	gw     *gateway.Gateway
	log    *lockedBuffer
	logger *logger.Logger
	counts *counts
}

// start builds a gateway from YAML in which BACKEND stands for the backend's
// address and SECRET for the HMAC secret.
func start(t *testing.T, backend, yaml string) *stand {
	t.Helper()
	return startWith(t, backend, yaml, func(*gateway.Deps) {})
}

// startWith is start with other dependencies.
func startWith(t *testing.T, backend, yaml string, edit func(*gateway.Deps)) *stand {
	t.Helper()
	cfg := parse(t, backend, yaml)
	log := &lockedBuffer{}
	lg, err := logger.New(logger.Options{Level: "debug", Writer: log})
	if err != nil {
		t.Fatal(err)
	}
	counts := newCounts()
	deps := gateway.Deps{
		Log: lg.Zap(), Observer: counts,
		Access: func(*config.Config) *logger.Access {
			return logger.NewAccess(lg, logger.AccessOptions{Enabled: true, Sample: 1, RedactQuery: []string{"access_token"}})
		},
	}
	edit(&deps)
	gw, err := gateway.Build(cfg, deps)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- gw.Run(ctx) }()
	front, err := server.New(server.Options{Address: "127.0.0.1:0", Handler: gw, Watches: true, Refused: gw.Refused, MaxHeader: int64(cfg.Server.MaxHeaderSize)})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- front.Serve() }()
	t.Cleanup(func() {
		patience, stop := context.WithTimeout(context.Background(), 5*time.Second)
		defer stop()
		_ = front.Shutdown(patience) // Close cuts what is left
		if err := errors.Join(front.Close(), <-served, gw.Wait(patience)); err != nil {
			t.Errorf("the server's end: %v", err)
		}
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
		if err := lg.Close(context.Background()); err != nil {
			t.Errorf("closing the log: %v", err)
		}
	})
	return &stand{t: t, URL: "http://" + front.Addr(), Addr: front.Addr(), gw: gw, log: log, logger: lg, counts: counts}
}

// lines returns the access-log lines once the gateway has nothing in flight.
func (s *stand) lines() []map[string]any {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := s.gw.Wait(ctx); err != nil {
		s.t.Fatalf("requests are still in flight: %d", s.gw.InFlight())
	}
	if err := s.logger.Sync(ctx); err != nil {
		s.t.Fatal(err)
	}
	var out []map[string]any
	for line := range strings.Lines(s.log.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			s.t.Fatalf("log line %q: %v", line, err)
		}
		if m["msg"] == "request" {
			out = append(out, m)
		}
	}
	return out
}

// raw sends text as it is on a connection of its own and returns the whole
// answer up to the end of the connection.
func (s *stand) raw(text string) string {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.Addr)
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(conn, text); err != nil {
		s.t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil && len(answer) == 0 {
		return "reset"
	}
	return string(answer)
}

// get makes an ordinary request; headers are "Name: value".
func (s *stand) get(path string, headers ...string) *answer { return s.do("GET", path, "", headers...) }

type answer struct {
	*http.Response
	body string
}

func (a *answer) code() string {
	var p struct{ Code string }
	_ = json.Unmarshal([]byte(a.body), &p)
	return p.Code
}

func (s *stand) do(method, path, body string, headers ...string) *answer {
	s.t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r, err := http.NewRequest(method, s.URL+path, reader)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	res, err := (&http.Transport{DisableKeepAlives: true, DisableCompression: true}).RoundTrip(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatalf("reading the answer: %v", err)
	}
	return &answer{res, string(text)}
}

// bearer signs a token with the shared secret.
func bearer(t *testing.T, claims map[string]any) string {
	t.Helper()
	full := map[string]any{"iss": "test", "exp": time.Now().Add(time.Hour).Unix()}
	for k, v := range claims {
		if v == nil {
			delete(full, k)
		} else {
			full[k] = v
		}
	}
	raw, err := token.Sign(full, []byte(secret), "HS256", "")
	if err != nil {
		t.Fatal(err)
	}
	return "Authorization: Bearer " + raw
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
