package gateway_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/zap"

	"gatehouse/handler/gateway"
	"gatehouse/helper/config"
	"gatehouse/logger"
	"gatehouse/middleware/filter"
)

// noted is a filter of a user's that tells how it is made and closed.
type noted struct {
	name   string
	events chan<- string
}

func (noted) Wrap(next http.Handler) http.Handler { return next }
func (n noted) Close() error                      { n.events <- "closed " + n.name; return nil }

// own are filters of a user's, which take a name.
func own(events chan<- string) []filter.Factory {
	return []filter.Factory{{Name: "own", New: func(use filter.Use) (filter.Filter, error) {
		name, err := use.Argument.Text("a name")
		if err == nil {
			events <- "made " + name
		}
		return noted{name, events}, err
	}}}
}

func TestAFilterLivesAsLongAsItIsListed(t *testing.T) {
	configOf := func(filters ...string) *config.Config {
		yaml := strings.NewReplacer("BACKEND", "http://127.0.0.1:1", "SECRET", secret).Replace(withFilters("none", filters...))
		cfg, err := config.Parse("test.yaml", []byte(yaml), func(string) (string, bool) { return "", false })
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	events := make(chan string, 10)
	expect := func(step string, want ...string) {
		t.Helper()
		for _, w := range want {
			if got := <-events; got != w {
				t.Errorf("%s: %q, want %q", step, got, w)
			}
		}
	}
	gw, err := gateway.Build(configOf("own:a", "own:b"), gateway.Deps{
		Log: zap.NewNop(), Observer: newCounts(), Filters: own(events), Access: func(*config.Config) *logger.Access { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	expect("at the start", "made a", "made b")
	load := func(fails bool, filters ...string) {
		t.Helper()
		if err := gw.Load(configOf(filters...)); (err != nil) != fails {
			t.Fatalf("Load is %v", err)
		}
	}
	load(false, "own:a", "own:b")
	load(true, "own:c", "own")
	expect("the same list makes nothing, and a wrong one leaves nothing open", "made c", "closed c")
	load(false, "own:d")
	expect("another list replaces them", "made d", "closed a", "closed b")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := gw.Run(ctx); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	expect("at the end", "closed d")
	if len(events) > 0 {
		t.Errorf("and then: %q", <-events)
	}
}
