package filter_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/http/httpguts"

	"gatehouse/middleware/filter"
)

func TestArgumentsAreReadStrictly(t *testing.T) {
	size := func(a filter.Argument) (any, error) { return a.Size() }
	rate := func(a filter.Argument) (any, error) {
		events, period, err := a.Rate()
		return fmt.Sprint(events, " in ", period), err
	}
	networks := func(a filter.Argument) (any, error) { return a.Networks() }
	name := func(a filter.Argument) (any, error) { return a.HeaderName() }
	header := func(a filter.Argument) (any, error) {
		name, value, err := a.HeaderField()
		return name + "=" + value, err
	}
	for _, test := range []struct {
		name string
		read func(filter.Argument) (any, error)
		text string
		want string // "": refused
	}{
		{"a size", size, "1MiB", "1048576"},
		{"a size of nothing is refused", size, "0", ""},
		{"a size with a space is refused", size, " 1MiB", ""},
		{"an empty size is refused", size, "", ""},
		{"a rate", rate, "60/m", "60 in 1m0s"},
		{"a rate of nothing is refused", rate, "0", ""},
		{"a rate with a burst is refused", rate, "60/m,10", ""},
		{"one network", networks, "10.0.0.0/8", "[10.0.0.0/8]"},
		{"several networks", networks, "10.0.0.0/8,192.0.2.1,2001:db8::/32", "[10.0.0.0/8 192.0.2.1/32 2001:db8::/32]"},
		{"IPv4 in IPv6 is IPv4", networks, "::ffff:10.0.0.0/104", "[10.0.0.0/8]"},
		{"a space after the comma is refused", networks, "10.0.0.0/8, 192.0.2.1", ""},
		{"a comma at the end is refused", networks, "10.0.0.0/8,", ""},
		{"a header's name is canonical", name, "x-frame-options", "X-Frame-Options"},
		{"a name with a colon is refused", name, "X-Frame-Options:", ""},
		{"a name with a space is refused", name, "X Frame", ""},
		{"no name is refused", name, "", ""},
		{"a header", header, "x-frame-options=DENY", "X-Frame-Options=DENY"},
		{"a value with equals signs", header, "X-A=b=c=", "X-A=b=c="},
		{"an empty value", header, "X-A=", "X-A="},
		{"a value in another alphabet", header, "X-A=é", "X-A=é"},
		{"no equals sign is refused", header, "X-A", ""},
		{"no name before it is refused", header, "=b", ""},
		{"a line break is refused", header, "X-A=b\r\nX-B: c", ""},
		{"a space before the value is refused", header, "X-A= b", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := test.read(filter.ArgumentOf(test.text))
			if (err != nil) != (test.want == "") || err == nil && fmt.Sprint(got) != test.want {
				t.Errorf("%q is %v, %v, want %q", test.text, got, err, test.want)
			}
		})
	}
}

func TestAnErrorKeepsTheValueToItself(t *testing.T) {
	const secret = "s3cret"
	for _, text := range []string{secret, "X-Key=" + secret + "\n", "X Key=" + secret} {
		a := filter.ArgumentOf(text)
		_, sizeErr := a.Size()
		_, _, rateErr := a.Rate()
		_, networksErr := a.Networks()
		_, _, fieldErr := a.HeaderField()
		for _, err := range []error{sizeErr, rateErr, networksErr, fieldErr, a.None()} {
			if err == nil || strings.Contains(err.Error(), secret) {
				t.Errorf("%q: the error is %v", text, err)
			}
		}
	}
}

func FuzzArgument(f *testing.F) {
	for _, seed := range []string{"", "1MiB", "60/m", "10.0.0.0/8,::1", "X-A=b", "X-A=b\r\nX-B: c", "X-User-Id", "=", ",", "::ffff:0:0/96", "é=é"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a := filter.ArgumentOf(text)
		if size, err := a.Size(); err == nil && size < 1 {
			t.Errorf("size %q is %d", text, size)
		}
		if events, period, err := a.Rate(); err == nil && (events < 1 || period < 1) {
			t.Errorf("rate %q is %d in %s", text, events, period)
		}
		if networks, err := a.Networks(); err == nil {
			if len(networks) != strings.Count(text, ",")+1 {
				t.Errorf("networks %q are %v", text, networks)
			}
			for _, n := range networks {
				if !n.IsValid() || n != n.Masked() {
					t.Errorf("networks %q hold %v", text, n)
				}
			}
		}
		if name, err := a.HeaderName(); err == nil && (name != http.CanonicalHeaderKey(text) || !httpguts.ValidHeaderFieldName(name)) {
			t.Errorf("name %q is %q", text, name)
		}
		if name, value, err := a.HeaderField(); err == nil &&
			(!strings.HasSuffix(text, "="+value) || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) || strings.Trim(value, " \t") != value) {
			t.Errorf("header %q is %q, %q", text, name, value)
		}
	})
}
