package filter

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"gatehouse/helper/suggest"
)

// Registry is the filters that a configuration may name.
type Registry struct {
	factories map[string]Factory
}

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// NewRegistry makes a registry of factories. A name that is there twice, or is no name, is an error.
func NewRegistry(factories ...Factory) (*Registry, error) {
	r := &Registry{make(map[string]Factory, len(factories))}
	for _, f := range factories {
		switch _, taken := r.factories[f.Name]; {
		case !nameForm.MatchString(f.Name):
			return nil, fmt.Errorf("filter %q: a name is lower case letters, digits and _", f.Name)
		case f.New == nil:
			return nil, fmt.Errorf("filter %s: its factory has no function New", f.Name)
		case taken:
			return nil, fmt.Errorf("filter %s: there are two of this name", f.Name)
		}
		r.factories[f.Name] = f
	}
	return r, nil
}

// Names are the names of all filters, sorted.
func (r *Registry) Names() []string { return slices.Sorted(maps.Keys(r.factories)) }

// Build makes the filters of a route from the items of its list, each name or name:argument. auth is what the route asks of
// its callers (see Use). The error names every item that is wrong, by its place in the list; nothing is left open then.
func (r *Registry) Build(route, auth string, items []string) (*Chain, error) {
	names, filters, known, errs := make([]string, 0, len(items)), make([]Filter, 0, len(items)), make([]bool, 0, len(items)), make([]error, 0)
	for i, item := range items {
		name, f, err := r.make(route, auth, item)
		if err != nil {
			errs = append(errs, fmt.Errorf("filters[%d]: %w", i, err))
			continue
		}
		names, filters, known = append(names, name), append(filters, f), append(known, r.factories[name].Explainable)
	}
	chain := newChain(names, filters, known)
	if len(errs) > 0 {
		return nil, errors.Join(append(errs, chain.Close())...)
	}
	return chain, nil
}

// Check says what is wrong with one item of a route's list. It makes the filter and closes it.
func (r *Registry) Check(route, auth, item string) error {
	_, f, err := r.make(route, auth, item)
	if err != nil {
		return err
	}
	return closeFilter(f)
}

func (r *Registry) make(route, auth, item string) (string, Filter, error) {
	name, argument, given := strings.Cut(item, ":")
	factory, ok := r.factories[name]
	if !ok {
		return "", nil, fmt.Errorf("%q is not a filter%s", name, suggest.Suffix(name, r.Names()))
	}
	f, err := factory.New(Use{Route: route, Auth: auth, Argument: Argument{text: argument, given: given}})
	if err == nil && f == nil {
		err = errors.New("its factory made nothing")
	}
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", name, err)
	}
	return name, f, nil
}
