package gateway_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"gatehouse/helper/server"
)

// A drain that runs out of time closes the server. What it cuts is neither the client's doing nor the upstream's,
// whatever of the connection's end is noticed first.
func TestWhatTheEndOfTheServerCutsIsDraining(t *testing.T) {
	for _, protocol := range []struct {
		name    string
		options server.Options
		set     func(*http.Protocols)
	}{
		{"HTTP/1.1, watched", server.Options{Watches: true}, func(p *http.Protocols) { p.SetHTTP1(true) }},
		{"HTTP/1.1, as over TLS", server.Options{}, func(p *http.Protocols) { p.SetHTTP1(true) }},
		{"HTTP/2", server.Options{H2C: true}, func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) }},
	} {
		for _, cut := range []struct {
			name, path string
			upload     bool
			status     int
		}{
			{"a request that waits for its answer", "/silent", false, 503},
			{"half a request body", "/silent", true, 503},
			{"half a request body that is answered already", "/endless", true, 200},
			{"a download", "/endless", false, 200},
			{"an answer that pauses", "/pausing", false, 200},
		} {
			t.Run(protocol.name+": "+cut.name, func(t *testing.T) {
				entered := make(chan struct{})
				backend := newEndlessBackend(t, entered)
				s := start(t, backend, openConfig)
				protocol.options.Address, protocol.options.Handler = "127.0.0.1:0", s.gw
				front, err := server.New(protocol.options)
				if err != nil {
					t.Fatal(err)
				}
				served := make(chan error, 1)
				go func() { served <- front.Serve() }()

				client := &http.Transport{Protocols: &http.Protocols{}}
				protocol.set(client.Protocols)
				defer client.CloseIdleConnections()
				r, _ := http.NewRequest(http.MethodPost, "http://"+front.Addr()+cut.path, nil)
				body, rest := io.Pipe()
				if cut.upload {
					go func() { _, _ = io.WriteString(rest, "half") }()
					r.Body = body
				}
				begun, ended := make(chan struct{}), make(chan struct{})
				go func() {
					defer close(ended)
					if response, err := client.RoundTrip(r); err == nil {
						close(begun)
						_, _ = io.Copy(io.Discard, response.Body)
						_ = response.Body.Close()
					}
				}()
				wait(t, entered, "the request")
				if cut.status == http.StatusOK {
					wait(t, begun, "the answer")
				}
				if err := front.Close(); err != nil {
					t.Error(err)
				}
				_ = rest.CloseWithError(io.ErrClosedPipe) // the client's transport waits for it
				wait(t, ended, "the end of the request")
				if err := wait(t, served, "the end of the server"); err != nil {
					t.Error(err)
				}
				logged(t, s.only(), map[string]any{"status": cut.status, "code": "draining"})
			})
		}
	}
}

// newEndlessBackend closes entered when it has got what there is of a request, and answers without end, or not at all.
func newEndlessBackend(t *testing.T, entered chan<- struct{}) string {
	t.Helper()
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			_, _ = io.ReadFull(r.Body, make([]byte, len("half")))
		}
		c := http.NewResponseController(w)
		_ = c.EnableFullDuplex()
		if r.URL.Path == "/silent" {
			close(entered)
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
			return
		}
		_, _ = io.WriteString(w, "some")
		_ = c.Flush()
		if r.URL.Path == "/pausing" {
			close(entered)
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
			return
		}
		piece := make([]byte, 1<<16)
		for n := 0; ; n++ {
			if n == 100 { // far more than what is read ahead of the client
				close(entered)
			}
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	}))
	t.Cleanup(backend.Close)
	return backend.Listener.Addr().String()
}
