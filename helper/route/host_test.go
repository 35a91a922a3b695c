package route_test

import (
	"strings"
	"testing"

	"gatehouse/helper/route"
)

func TestCanonicalHost(t *testing.T) {
	label := strings.Repeat("a", 62) + "."
	rows := []struct {
		sentence string
		host     string
		want     string // "" where it is refused
	}{
		{"a name is canonical", "api.test", "api.test"},
		{"P-16: upper case becomes lower case", "API.TEST", "api.test"},
		{"P-16: a final dot goes", "api.test.", "api.test"},
		{"P-16: a port goes", "api.test:8080", "api.test"},
		{"a port after a final dot goes", "Api.Test.:8080", "api.test"},
		{"an empty port goes", "api.test:", "api.test"},
		{"an underscore is taken", "my_service-1", "my_service-1"},
		{"an IPv4 address is taken", "10.0.0.1:80", "10.0.0.1"},
		{"an IPv6 address loses its brackets", "[2001:db8::1]", "2001:db8::1"},
		{"an IPv6 address loses brackets and port", "[::1]:8080", "::1"},
		{"an IPv6 address gets its shortest spelling", "[2001:DB8:0:0::1]", "2001:db8::1"},
		{"a name of 253 bytes is taken", strings.Repeat(label, 4) + "b", strings.Repeat(label, 4) + "b"},

		{"P-16: an empty host is refused", "", ""},
		{"P-16: user information is refused", "x@api.test", ""},
		{"a space is refused", "api .test", ""},
		{"a space at the start is refused", " api.test", ""},
		{"a control character is refused", "api\x00.test", ""},
		{"a byte outside ASCII is refused", "api\xff.test", ""},
		{"a port alone is refused", ":8080", ""},
		{"a dot alone is refused", ".", ""},
		{"two dots in a row are refused", "api..test", ""},
		{"two dots at the end are refused", "api.test..", ""},
		{"a dot at the start is refused", ".api.test", ""},
		{"a port in letters is refused", "api.test:http", ""},
		{"a port that is too long is refused", "api.test:123456", ""},
		{"two ports are refused", "api.test:80:80", ""},
		{"an asterisk is refused", "*.test", ""},
		{"a percent-encoding is refused", "api%2etest", ""},
		{"a path is refused", "api.test/x", ""},
		{"a bare IPv6 address is refused", "::1", ""},
		{"a bracket that isn't closed is refused", "[::1", ""},
		{"text after the bracket is refused", "[::1]x", ""},
		{"an IPv4 address in brackets is refused", "[10.0.0.1]", ""},
		{"a zone is refused", "[fe80::1%25eth0]", ""},
		{"a name of 254 bytes is refused", strings.Repeat(label, 4) + "bb", ""},
	}
	for _, row := range rows {
		t.Run(row.sentence, func(t *testing.T) {
			got, ok := route.CanonicalHost(row.host)
			if got != row.want || ok != (row.want != "") {
				t.Errorf("CanonicalHost(%q) = %q, %v, want %q", row.host, got, ok, row.want)
			}
		})
	}
}

func FuzzCanonicalHost(f *testing.F) {
	for _, seed := range []string{"api.test", "API.test.:80", "[::1]:8080", "[::ffff:1.2.3.4]", "a..b", "x@y", "", ":", "[", "]:1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, hostport string) {
		host, ok := route.CanonicalHost(hostport)
		if !ok {
			return
		}
		again := host
		if strings.Contains(host, ":") {
			again = "[" + host + "]"
		}
		if got, ok := route.CanonicalHost(again + ":443"); !ok || got != host {
			t.Fatalf("CanonicalHost(%q) = %q, which itself becomes %q, %v", hostport, host, got, ok)
		}
		if host == "" || strings.ToLower(host) != host || strings.ContainsAny(host, "@ /\\[]%\x00") {
			t.Fatalf("CanonicalHost(%q) = %q", hostport, host)
		}
	})
}
