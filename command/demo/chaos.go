package demo

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	usualChaos   = 30 * time.Second
	longestChaos = 10 * time.Minute
	slowness     = 2 * time.Second
)

// Chaos is a service that misbehaves when it is told to, so that one can watch what a gateway makes of it:
//
//	POST /chaos?mode=slow      each answer takes 2 s longer
//	POST /chaos?mode=failing   each answer is a 503
//	POST /chaos?mode=refusing  no connection is accepted
//	POST /chaos?mode=off       it behaves again
//
// for=1m, at most 10m, says how long; without it, it's 30 s.
type Chaos struct {
	service http.Handler

	mu     sync.Mutex
	mode   string
	until  time.Time
	refuse context.CancelFunc // ends the serving, for a while
}

// NewChaos makes service a service that can misbehave.
func NewChaos(service http.Handler) *Chaos { return &Chaos{service: service} }

// Serve answers the connections of l until ctx ends, but for the times that it refuses them.
func (c *Chaos) Serve(ctx context.Context, l net.Listener) error {
	address := l.Addr().String()
	for {
		serving, refuse := context.WithCancel(ctx)
		c.mu.Lock()
		c.refuse = refuse
		c.mu.Unlock()
		err := Serve(serving, l, c)
		refuse()
		if err != nil || ctx.Err() != nil {
			return err
		}
		_, left := c.now()
		select {
		case <-time.After(left):
		case <-ctx.Done():
			return nil
		}
		if l, err = net.Listen("tcp", address); err != nil {
			return fmt.Errorf("listening again after a time of refusing: %w", err)
		}
	}
}

// now is how it misbehaves at the moment, "" when it doesn't, and how much longer.
func (c *Chaos) now() (mode string, left time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if left = time.Until(c.until); left <= 0 {
		return "", 0
	}
	return c.mode, left
}

func (c *Chaos) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/chaos" && r.Method == http.MethodPost {
		c.command(w, r)
		return
	}
	switch mode, _ := c.now(); mode {
	case "slow":
		select {
		case <-time.After(slowness):
		case <-r.Context().Done():
			return
		}
	case "failing":
		http.Error(w, "chaos: this service fails", http.StatusServiceUnavailable)
		return
	}
	c.service.ServeHTTP(w, r)
}

func (c *Chaos) command(w http.ResponseWriter, r *http.Request) {
	mode := r.FormValue("mode")
	lasts, err := time.ParseDuration(cmp.Or(r.FormValue("for"), usualChaos.String()))
	switch {
	case mode != "slow" && mode != "failing" && mode != "refusing" && mode != "off":
		http.Error(w, "mode must be slow, failing, refusing or off", http.StatusBadRequest)
		return
	case err != nil || lasts <= 0 || lasts > longestChaos:
		http.Error(w, "for must be a duration of at most 10m, such as 30s", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	c.mode, c.until = mode, time.Now().Add(lasts)
	if mode == "off" {
		c.until = time.Time{}
	}
	refuse := c.refuse
	c.mu.Unlock()

	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, fmt.Sprintf("%s for %s\n", mode, lasts)) // a caller that left is seen by the server
	if mode == "refusing" && refuse != nil {
		_ = http.NewResponseController(w).Flush() // before the connection ends with the others
		refuse()
	}
}
