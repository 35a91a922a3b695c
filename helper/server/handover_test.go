package server

import (
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
)

// A server that hands its socket over ends what it has begun, and whoever has the socket gets what is new.
func TestHandOver(t *testing.T) {
	folder, err := os.MkdirTemp("", "s") // t.TempDir's names can be longer than a socket's may be
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	const request = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
	for network, address := range map[string]string{"tcp": "127.0.0.1:0", "unix": "unix:" + folder + "/s"} {
		t.Run(network, func(t *testing.T) {
			entered, release := make(chan struct{}), make(chan struct{})
			old := start(t, Options{Address: address, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				close(entered)
				<-release
				_, _ = io.WriteString(w, "old")
			})})
			begun := make(chan string, 1)
			go func() { begun <- say(t, old, request) }()
			<-entered

			file, err := old.Socket().(interface{ File() (*os.File, error) }).File()
			if err != nil {
				t.Fatal(err)
			}
			inherited, err := net.FileListener(file)
			if err != nil {
				t.Fatal(err)
			}
			_ = file.Close()
			if err := old.HandOver(); err != nil {
				t.Fatal(err)
			}
			next := start(t, Options{Listener: inherited, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "new") })})
			if next.Addr() != old.Addr() {
				t.Errorf("it listens on %s, want %s", next.Addr(), old.Addr())
			}
			if got := say(t, next, request); !strings.HasSuffix(got, "new") {
				t.Errorf("what is new gets %q", got)
			}
			close(release)
			if got := <-begun; !strings.HasSuffix(got, "old") {
				t.Errorf("what had begun gets %q", got)
			}
		})
	}
}
