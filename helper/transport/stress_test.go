package transport_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"gatehouse/helper/transport"
)

// Requests that are cancelled, cut and closed at any moment never get or spoil
// another's answer, and leave nothing behind.
func TestManyAtOnce(t *testing.T) {
	defer goleak.VerifyNone(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := len(r.URL.Path)
		if n%7 == 0 {
			w.Header().Set("Connection", "close")
		}
		if n%5 == 0 {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, strings.Repeat(r.URL.Path, 50*n))
	}))
	defer server.Close()
	l := lane(t, transport.Options{MaxIdle: 4, ResponseHeader: time.Minute}, server.URL)
	defer l.CloseIdleConnections()
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(worker), 1))
			for i := range 200 {
				path := fmt.Sprintf("/%d/%d/%s", worker, i, strings.Repeat("x", random.IntN(20)))
				ctx, cancel := context.WithCancel(context.Background())
				if random.IntN(4) == 0 {
					time.AfterFunc(time.Duration(random.IntN(500))*time.Microsecond, cancel)
				}
				res, err := l.RoundTrip(request(ctx, t, http.MethodGet, server.URL+path, nil))
				if err == nil && random.IntN(8) > 0 {
					var body []byte
					if body, err = io.ReadAll(res.Body); err == nil && string(body) != strings.Repeat(path, 50*len(path)) {
						t.Errorf("%s got %.100q", path, body)
					}
				}
				if res != nil {
					res.Body.Close()
				}
				cancel()
			}
		})
	}
	wg.Wait()
}

func BenchmarkRoundTrip(b *testing.B) {
	s := plays(b, says(ok))
	for name, rt := range map[string]http.RoundTripper{"lane": lane(b, transport.Options{}, s.URL()), "http.Transport": transport.New(transport.Options{})} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				res, err := rt.RoundTrip(request(b.Context(), b, http.MethodGet, s.URL(), nil))
				if err != nil {
					b.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, res.Body)
				res.Body.Close()
			}
			rt.(interface{ CloseIdleConnections() }).CloseIdleConnections()
		})
	}
}
