package filter_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"gatehouse/middleware/filter"
)

// traced is a filter that writes its name into an answer, and into closed when it is closed.
type traced struct {
	name   string
	closed *[]string
}

func (t traced) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, t.name, " ")
		next.ServeHTTP(w, r)
	})
}

func (t traced) Close() error {
	*t.closed = append(*t.closed, t.name)
	return fmt.Errorf("closing %s", t.name)
}

// factories makes traced filters, named by their argument, plain ones, which have nothing to close, and broken ones.
func factories(closed *[]string) []filter.Factory {
	return []filter.Factory{
		{Name: "traced", New: func(use filter.Use) (filter.Filter, error) {
			name, err := use.Argument.Text("a name")
			return traced{use.Route + "/" + use.Auth + "/" + name, closed}, err
		}},
		{Name: "plain", New: func(use filter.Use) (filter.Filter, error) {
			return filter.Func(func(next http.Handler) http.Handler { return next }), use.Argument.None()
		}},
		{Name: "broken", New: func(filter.Use) (filter.Filter, error) { return nil, nil }},
	}
}

func newRegistry(t *testing.T, closed *[]string) *filter.Registry {
	t.Helper()
	r, err := filter.NewRegistry(factories(closed)...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestFiltersActInTheirOrderAndAreClosedOnce(t *testing.T) {
	var closed []string
	chain, err := newRegistry(t, &closed).Build("orders", "jwt", []string{"traced:a", "plain", "traced:b:c"})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"traced", "plain", "traced"}; !slices.Equal(chain.Names(), want) {
		t.Errorf("Names are %q, want %q", chain.Names(), want)
	}
	rec := httptest.NewRecorder()
	chain.Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "end") })).ServeHTTP(rec, nil)
	if want := "orders/jwt/a orders/jwt/b:c end"; rec.Body.String() != want {
		t.Errorf("the answer is %q, want %q", rec.Body, want)
	}
	first, second := chain.Close(), chain.Close()
	if want := "closing orders/jwt/a\nclosing orders/jwt/b:c"; first == nil || first.Error() != want || !errors.Is(second, first) {
		t.Errorf("Close is %v, then %v, want %q twice", first, second, want)
	}
	if want := []string{"orders/jwt/a", "orders/jwt/b:c"}; !slices.Equal(closed, want) {
		t.Errorf("closed are %q, want %q", closed, want)
	}
}

func TestAWrongListNamesEveryItemAndLeavesNothingOpen(t *testing.T) {
	var closed []string
	chain, err := newRegistry(t, &closed).Build("orders", "none", []string{"plan", "traced:a", "plain:", "traced", "broken", ""})
	if chain != nil || err == nil {
		t.Fatalf("Build is %v, %v", chain, err)
	}
	for _, want := range []string{
		`filters[0]: "plan" is not a filter: did you mean "plain"?`,
		`filters[2]: plain: takes no argument: remove the colon and what follows it`,
		`filters[3]: traced: needs a name after a colon`,
		`filters[4]: broken: its factory made nothing`,
		`filters[5]: "" is not a filter`,
	} {
		if !slices.Contains(strings.Split(err.Error(), "\n"), want) {
			t.Errorf("the error %q lacks %q", err, want)
		}
	}
	if !slices.Equal(closed, []string{"orders/none/a"}) {
		t.Errorf("closed are %q", closed)
	}
}

func TestACheckedFilterIsClosedAgain(t *testing.T) {
	var closed []string
	if err := newRegistry(t, &closed).Check("orders", "jwt", "traced:a"); err == nil || len(closed) != 1 {
		t.Errorf("Check is %v, and closed are %q", err, closed)
	}
	if err := newRegistry(t, &closed).Check("orders", "jwt", "traced"); err == nil || len(closed) != 1 {
		t.Errorf("Check of what can't be made is %v, and closed are %q", err, closed)
	}
}

func TestARegistryRefusesWhatItCantTellApart(t *testing.T) {
	made := func(filter.Use) (filter.Filter, error) { return nil, nil }
	for _, test := range []struct {
		name      string
		factories []filter.Factory
		want      string
	}{
		{"two of one name", []filter.Factory{{Name: "a", New: made}, {Name: "b", New: made}, {Name: "a", New: made}}, "filter a: there are two of this name"},
		{"no name", []filter.Factory{{Name: "", New: made}}, `filter "": a name is lower case letters, digits and _`},
		{"a name with a colon", []filter.Factory{{Name: "a:b", New: made}}, `filter "a:b": a name is lower case letters, digits and _`},
		{"no function", []filter.Factory{{Name: "a"}}, "filter a: its factory has no function New"},
	} {
		if _, err := filter.NewRegistry(test.factories...); err == nil || err.Error() != test.want {
			t.Errorf("%s: got %v, want %q", test.name, err, test.want)
		}
	}
}
