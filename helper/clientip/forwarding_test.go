package clientip

import (
	"crypto/tls"
	"net/http"
	"testing"
)

func TestForwarding(t *testing.T) {
	r := NewResolver(prefixes(t, "127.0.0.1/32", "10.1.0.0/16"))
	for _, c := range []struct {
		name   string
		remote string
		tls    bool
		header http.Header
		want   Forwarding
	}{
		{"a client's own headers are replaced (H-08)", "192.0.2.1:1", false,
			http.Header{"X-Forwarded-For": {"6.6.6.6"}, "X-Forwarded-Host": {"evil"}, "X-Forwarded-Proto": {"https"}, "Forwarded": {"for=6.6.6.6"}},
			Forwarding{"192.0.2.1", "example.com", "http", "for=192.0.2.1;host=example.com;proto=http"}},
		{"an IPv6 client stands in brackets and quotes", "[2001:db8::1]:1", true, nil,
			Forwarding{"2001:db8::1", "example.com", "https", `for="[2001:db8::1]";host=example.com;proto=https`}},
		{"a Unix socket's peer is unknown, with no X-Forwarded-For", "@", false, nil,
			Forwarding{"", "example.com", "http", "for=unknown;host=example.com;proto=http"}},
		{"a trusted proxy's chain is continued", "127.0.0.1:1", false,
			http.Header{"X-Forwarded-For": {"", "203.0.113.7", "10.1.0.1 "}, "X-Forwarded-Host": {"shop.example"}, "X-Forwarded-Proto": {"HTTPS"}},
			Forwarding{"203.0.113.7, 10.1.0.1, 127.0.0.1", "shop.example", "https", "for=203.0.113.7, for=127.0.0.1;host=example.com;proto=http"}},
		{"an empty line, which ends the walk, stays where it was", "127.0.0.1:1", false,
			http.Header{"X-Forwarded-For": {"6.6.6.6", "", "10.1.0.1"}},
			Forwarding{"6.6.6.6, , 10.1.0.1, 127.0.0.1", "example.com", "http", "for=10.1.0.1, for=127.0.0.1;host=example.com;proto=http"}},
		{"and so is its Forwarded", "127.0.0.1:1", false, http.Header{"Forwarded": {"for=203.0.113.7;proto=https", "for=10.1.0.1"}},
			Forwarding{"203.0.113.7, 127.0.0.1", "example.com", "http", "for=203.0.113.7;proto=https, for=10.1.0.1, for=127.0.0.1;host=example.com;proto=http"}},
		{"a Forwarded that the proxy passed on unread is dropped", "127.0.0.1:1", false,
			http.Header{"X-Forwarded-For": {"203.0.113.7"}, "Forwarded": {"for=6.6.6.6"}},
			Forwarding{"203.0.113.7, 127.0.0.1", "example.com", "http", "for=203.0.113.7, for=127.0.0.1;host=example.com;proto=http"}},
		{"a Forwarded with an open quote is dropped", "127.0.0.1:1", false, http.Header{"Forwarded": {`for="203.0.113.7`}},
			Forwarding{"127.0.0.1", "example.com", "http", "for=127.0.0.1;host=example.com;proto=http"}},
		{"a host or scheme that can't be one is the connection's", "127.0.0.1:1", false,
			http.Header{"X-Forwarded-Host": {"a, b"}, "X-Forwarded-Proto": {"javascript"}},
			Forwarding{"127.0.0.1", "example.com", "http", "for=127.0.0.1;host=example.com;proto=http"}},
		{"a host or scheme given twice is the connection's", "127.0.0.1:1", true,
			http.Header{"X-Forwarded-Host": {"a", "b"}, "X-Forwarded-Proto": {"http", "https"}},
			Forwarding{"127.0.0.1", "example.com", "https", "for=127.0.0.1;host=example.com;proto=https"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := &http.Request{Host: "example.com", Header: c.header}
			if c.tls {
				in.TLS = new(tls.ConnectionState)
			}
			client := r.Resolve(c.remote, c.header)
			if got := client.Forwarding(in); got != c.want {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestForwardedHostIsQuotedWhereItMustBe(t *testing.T) {
	for host, want := range map[string]string{
		"example.com:8080": `for=192.0.2.1;host="example.com:8080";proto=http`,
		`a"b\c`:            `for=192.0.2.1;host="a\"b\\c";proto=http`,
		"":                 `for=192.0.2.1;proto=http`,
	} {
		c := NewResolver(nil).Resolve("192.0.2.1:1", nil)
		if got := c.Forwarding(&http.Request{Host: host}).Forwarded; got != want {
			t.Errorf("host %q: got %s, want %s", host, got, want)
		}
	}
}

func BenchmarkForwarding(b *testing.B) {
	in := &http.Request{Host: "example.com:8080"}
	c := NewResolver(nil).Resolve("192.0.2.1:1", nil)
	b.ReportAllocs()
	for b.Loop() {
		c.Forwarding(in)
	}
}
