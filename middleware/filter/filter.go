package filter

import (
	"errors"
	"io"
	"net/http"
	"sync"

	"gatehouse/helper/exchange"
)

// Filter is one step of a route's own. One that is an io.Closer too is closed when its route is gone.
type Filter interface {
	// Wrap returns a handler that decides about a request and hands it to next, or answers it. A ResponseWriter that it puts
	// around the one it got must have Unwrap, for http.ResponseController.
	Wrap(next http.Handler) http.Handler
}

// Func is a Filter that has nothing to close.
type Func func(next http.Handler) http.Handler

// Wrap calls f.
func (f Func) Wrap(next http.Handler) http.Handler { return f(next) }

// Factory makes the filters of one name.
type Factory struct {
	Name string // lower case letters, digits and _
	// New makes a filter, or says what is wrong with the use of it: the error begins in lower case and doesn't name the filter,
	// nor repeat the argument's text, which may be a secret.
	New func(Use) (Filter, error)
	// Explainable says that requests which are only asked about may be sent through the filters, too: they do nothing but
	// read the request and use its exchange, and whatever they would consume they leave alone where Exchange.Explain isn't nil.
	// Others are passed over then, and the explanation says so.
	Explainable bool
}

// Use is one mention of a filter in the configuration.
type Use struct {
	Route    string // the route's name
	Auth     string // what the route asks of its callers: none, jwt, api_key or any
	Argument Argument
}

// Chain is the filters of one route. It is a Filter itself.
type Chain struct {
	names   []string
	filters []Filter
	known   []bool // by filter: it is explainable
	close   func() error
}

func newChain(names []string, filters []Filter, known []bool) *Chain {
	return &Chain{names, filters, known, sync.OnceValue(func() error {
		errs := make([]error, 0, len(filters))
		for _, f := range filters {
			errs = append(errs, closeFilter(f))
		}
		return errors.Join(errs...)
	})}
}

func closeFilter(f Filter) error {
	if closer, ok := f.(io.Closer); ok {
		return closer.Close()
	}
	return nil
}

// Wrap returns a handler that goes through the filters in the order of the configuration, and then to next.
func (c *Chain) Wrap(next http.Handler) http.Handler {
	for i := len(c.filters) - 1; i >= 0; i-- {
		next = c.filters[i].Wrap(next)
	}
	return next
}

// Explain is Wrap for requests that are only asked about: it notes each filter that one comes to, and passes over those
// that aren't explainable.
func (c *Chain) Explain(next http.Handler) http.Handler {
	for i := len(c.filters) - 1; i >= 0; i-- {
		next = c.noted(i, next)
	}
	return next
}

func (c *Chain) noted(i int, next http.Handler) http.Handler {
	if c.known[i] {
		next = c.filters[i].Wrap(next)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		exchange.From(r.Context()).Explain.NoteFilter(c.names[i], c.known[i])
		next.ServeHTTP(w, r)
	})
}

// Names are the filters' names, in order.
func (c *Chain) Names() []string { return c.names }

// Close closes the filters that can be closed. A second call does nothing and returns the same error.
func (c *Chain) Close() error { return c.close() }
