package builtin_test

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"gatehouse/helper/exchange"
)

const get = "GET / HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n"

// readAnswer reads the header of an answer that may still be on its way.
func readAnswer(t *testing.T, conn *bufio.Reader) *http.Response {
	t.Helper()
	response, err := http.ReadResponse(conn, nil)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

func TestWhatIsFlushedArrivesAtOnce(t *testing.T) {
	for _, test := range []struct {
		name, kind string
		flush      func(http.ResponseWriter)
	}{
		{"by a flush", "text/plain", func(w http.ResponseWriter) { w.(http.Flusher).Flush() }},
		{"by a controller", "text/plain", func(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() }},
		{"by itself where the route says so", "text/plain", nil},
		{"events, uncompressed", "text/event-stream", func(w http.ResponseWriter) { w.(http.Flusher).Flush() }},
	} {
		t.Run(test.name, func(t *testing.T) {
			goOn := make(chan struct{}) // the client has seen what came before
			server := serve(t, route{filters: []string{"compress"}, upstream: func(w http.ResponseWriter, r *http.Request) {
				if test.flush == nil {
					exchange.From(r.Context()).Writer.FlushAlways()
				}
				flush := func() {
					if test.flush != nil {
						test.flush(w)
					}
					<-goOn
				}
				w.Header().Set("Content-Type", test.kind)
				w.WriteHeader(http.StatusOK)
				if test.flush != nil {
					flush()
				}
				_, _ = io.WriteString(w, "one\n")
				flush()
				_, _ = io.WriteString(w, "two\n")
				flush()
			}})
			response := readAnswer(t, raw(t, server, get))
			if test.flush != nil {
				goOn <- struct{}{}
			}
			body := io.Reader(response.Body)
			if test.kind != "text/event-stream" {
				if response.Header.Get("Content-Encoding") != "gzip" {
					t.Fatalf("the header is %v", response.Header)
				}
				z, err := gzip.NewReader(body)
				if err != nil {
					t.Fatal(err)
				}
				body = z
			}
			lines := bufio.NewReader(body)
			for _, want := range []string{"one\n", "two\n"} {
				if got, err := lines.ReadString('\n'); got != want {
					t.Errorf("got %q, %v, want %q", got, err, want)
				}
				goOn <- struct{}{}
			}
			if rest, err := io.ReadAll(lines); len(rest) > 0 || err != nil {
				t.Errorf("at the end there is %q, %v", rest, err)
			}
		})
	}
}

func TestTrailersAndInterimAnswersAreKept(t *testing.T) {
	server := serve(t, route{filters: []string{"compress"}, upstream: func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Link", "</style.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		h.Del("Link")
		h.Set("Content-Type", "text/plain")
		h.Set("Trailer", "X-Sum")
		_, _ = io.WriteString(w, large)
		h.Set("X-Sum", "42")
		h.Set(http.TrailerPrefix+"X-Late", "yes")
	}})
	conn := raw(t, server, get)
	if early := readAnswer(t, conn); early.StatusCode != 103 || early.Header.Get("Link") == "" {
		t.Fatalf("the first answer is %d with %v", early.StatusCode, early.Header)
	}
	response := readAnswer(t, conn)
	body, err := io.ReadAll(response.Body)
	if err != nil || gunzip(t, answer{response, string(body)}) != large {
		t.Fatalf("the body ends with %v", err)
	}
	if response.Trailer.Get("X-Sum") != "42" || response.Trailer.Get("X-Late") != "yes" {
		t.Errorf("the trailer is %v", response.Trailer)
	}
}

func TestTheServersWriterCanBeReached(t *testing.T) {
	server := serve(t, route{filters: []string{"compress"}, upstream: func(w http.ResponseWriter, _ *http.Request) {
		c := http.NewResponseController(w)
		later := time.Now().Add(time.Hour)
		if err := errors.Join(c.SetReadDeadline(later), c.SetWriteDeadline(later), c.EnableFullDuplex(), c.Flush()); err != nil {
			t.Error(err)
		}
		if _, ok := w.(http.Flusher); !ok {
			t.Error("it is no http.Flusher")
		}
	}})
	send(t, server, http.MethodGet)
}

func TestAnUpgradeIsLeftAlone(t *testing.T) {
	server := serve(t, route{filters: []string{"compress"}, upstream: func(w http.ResponseWriter, _ *http.Request) {
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = rw.WriteString("HTTP/1.1 101 Switching Protocols\r\n\r\n" + large)
		_ = rw.Flush()
	}})
	all, err := io.ReadAll(raw(t, server, get))
	if err != nil || !strings.HasSuffix(string(all), large) {
		t.Errorf("got %q, %v", all, err)
	}
}

func TestHalfAnAnswerDoesntPassForWhole(t *testing.T) {
	server := serve(t, route{filters: []string{"compress"}, upstream: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, large)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}})
	response := readAnswer(t, raw(t, server, get))
	z, err := gzip.NewReader(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := io.ReadAll(z); string(plain) != large || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %d bytes and %v", len(plain), err)
	}
}

func BenchmarkCompress(b *testing.B) {
	server := serve(b, route{filters: []string{"compress"}, upstream: answers(200, large)})
	for b.Loop() {
		send(b, server, http.MethodGet, "Accept-Encoding", "gzip")
	}
}
