package demo

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// chaos sends one request to a service.
func chaos(c *Chaos, method, target string) (status int) {
	w := httptest.NewRecorder()
	c.ServeHTTP(w, httptest.NewRequest(method, target, nil))
	return w.Code
}

func TestChaosLastsAsLongAsItIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewChaos(Echo("order"))
		took := func(want int) time.Duration {
			t.Helper()
			began := time.Now()
			if got := chaos(c, "GET", "/"); got != want {
				t.Errorf("answered %d, want %d", got, want)
			}
			return time.Since(began)
		}
		if d := took(200); d != 0 {
			t.Errorf("unasked it took %s", d)
		}
		if chaos(c, "POST", "/chaos?mode=failing&for=10s") != 200 {
			t.Error("failing was refused")
		}
		took(503)
		time.Sleep(10 * time.Second)
		took(200)
		chaos(c, "POST", "/chaos?mode=slow")
		if d := took(200); d != 2*time.Second {
			t.Errorf("slow took %s", d)
		}
		chaos(c, "POST", "/chaos?mode=off")
		if d := took(200); d != 0 {
			t.Errorf("after it was over it took %s", d)
		}
	})
}

func TestChaosRefusesWhatItDoesntKnow(t *testing.T) {
	c := NewChaos(Echo("order"))
	for _, query := range []string{"", "?mode=sad", "?mode=slow&for=soon", "?mode=slow&for=1h", "?mode=slow&for=-1s"} {
		if got := chaos(c, "POST", "/chaos"+query); got != 400 {
			t.Errorf("%q is answered %d", query, got)
		}
	}
	if got := chaos(c, "GET", "/chaos?mode=failing"); got != 200 || chaos(c, "GET", "/") != 200 {
		t.Error("GET has changed something")
	}
}

func TestChaosRefusesConnections(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + listener.Addr().String()
	c := NewChaos(Echo("order"))
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- c.Serve(ctx, listener) }()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Post(url+"/chaos?mode=refusing&for=500ms", "", nil)
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("it didn't say that it will: %v", err)
	}
	res.Body.Close()
	refused := false
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(10 * time.Second); ; {
		res, err := client.Get(url)
		if err == nil {
			res.Body.Close()
			if refused {
				break
			}
		}
		refused = refused || errors.Is(err, syscall.ECONNREFUSED)
		select {
		case <-deadline:
			t.Fatalf("refused: %v, and it isn't back", refused)
		case <-tick.C:
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
