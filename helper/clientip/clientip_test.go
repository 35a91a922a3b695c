package clientip

import (
	"net/http"
	"net/netip"
	"testing"
)

func prefixes(t testing.TB, cidrs ...string) (trusted []netip.Prefix) {
	t.Helper()
	for _, s := range cidrs {
		p, err := netip.ParsePrefix(s)
		if err != nil {
			t.Fatal(err)
		}
		trusted = append(trusted, p)
	}
	return trusted
}

func TestResolve(t *testing.T) {
	local := []string{"127.0.0.1/32", "10.1.0.0/16", "fd00::/8"}
	for _, c := range []struct {
		name    string
		trusted []string
		remote  string
		header  http.Header
		want    string
		isProxy bool
	}{
		{"a peer with no headers is the client", nil, "192.0.2.1:5000", nil, "192.0.2.1", false},
		{"an untrusted peer's X-Forwarded-For is ignored", nil, "192.0.2.1:5000",
			http.Header{"X-Forwarded-For": {"6.6.6.6"}}, "192.0.2.1", false},
		{"an untrusted peer's Forwarded is ignored", local, "192.0.2.1:5000",
			http.Header{"Forwarded": {"for=6.6.6.6"}}, "192.0.2.1", false},
		{"X-Real-Ip counts from nobody", local, "127.0.0.1:1", http.Header{"X-Real-Ip": {"6.6.6.6"}}, "127.0.0.1", true},
		{"a trusted peer without headers is the client", local, "127.0.0.1:1", nil, "127.0.0.1", true},
		{"what isn't an address is never passed over (H-09)", local, "127.0.0.1:1",
			http.Header{"X-Forwarded-For": {"6.6.6.6, not-an-ip, 10.0.0.9"}}, "10.0.0.9", true},
		{"the rightmost untrusted address counts (H-09)", local, "127.0.0.1:1",
			http.Header{"X-Forwarded-For": {"6.6.6.6, 203.0.113.7"}}, "203.0.113.7", true},
		{"trusted proxies in the chain are passed over", local, "127.0.0.1:1",
			http.Header{"X-Forwarded-For": {"6.6.6.6, 203.0.113.7, 10.1.2.3, 10.1.2.4"}}, "203.0.113.7", true},
		{"a garbled entry behind trusted proxies leaves the last good one", local, "127.0.0.1:1",
			http.Header{"X-Forwarded-For": {"6.6.6.6, unknown, 10.1.2.3"}}, "10.1.2.3", true},
		{"garbage at the right end leaves the peer", local, "127.0.0.1:1",
			http.Header{"X-Forwarded-For": {"6.6.6.6, x"}}, "127.0.0.1", true},
		{"an empty entry ends the walk", local, "127.0.0.1:1",
			http.Header{"X-Forwarded-For": {"6.6.6.6, , 10.1.0.1"}}, "10.1.0.1", true},
		{"a chain of trusted proxies only gives its first", local, "127.0.0.1:1",
			http.Header{"X-Forwarded-For": {"10.1.0.1, 10.1.0.2"}}, "10.1.0.1", true},
		{"lines are one list, in order", local, "127.0.0.1:1",
			http.Header{"X-Forwarded-For": {"6.6.6.6", "203.0.113.7, 10.1.0.1", "10.1.0.2"}}, "203.0.113.7", true},
		{"an entry may have a port", local, "127.0.0.1:1", http.Header{"X-Forwarded-For": {"203.0.113.7:4711"}}, "203.0.113.7", true},
		{"an entry may have brackets", local, "127.0.0.1:1", http.Header{"X-Forwarded-For": {"[2001:db8::7]"}}, "2001:db8::7", true},
		{"an entry may have brackets and port", local, "127.0.0.1:1", http.Header{"X-Forwarded-For": {"[2001:db8::7]:443"}}, "2001:db8::7", true},
		{"an entry may be plain IPv6", local, "127.0.0.1:1", http.Header{"X-Forwarded-For": {"2001:db8::7"}}, "2001:db8::7", true},
		{"an entry with a bad port is no address", local, "127.0.0.1:1", http.Header{"X-Forwarded-For": {"203.0.113.7:x"}}, "127.0.0.1", true},
		{"an unclosed bracket is no address", local, "127.0.0.1:1", http.Header{"X-Forwarded-For": {"[2001:db8::7"}}, "127.0.0.1", true},
		{"a mapped address is its IPv4 one", local, "[::ffff:127.0.0.1]:1", http.Header{"X-Forwarded-For": {"::ffff:203.0.113.7"}}, "203.0.113.7", true},
		{"a zone is cut off", []string{"fe80::/10"}, "[fe80::1%eth0]:1", nil, "fe80::1", true},
		{"a mapped network is its IPv4 one", []string{"::ffff:127.0.0.0/104"}, "127.0.0.1:1",
			http.Header{"X-Forwarded-For": {"203.0.113.7"}}, "203.0.113.7", true},
		{"an IPv6 proxy", local, "[fd00::1]:1", http.Header{"X-Forwarded-For": {"203.0.113.7"}}, "203.0.113.7", true},
		{"a Unix socket's peer has no address (H-10)", local, "@", http.Header{"X-Forwarded-For": {"6.6.6.6"}}, "unix", false},
		{"nor one without a name", []string{"0.0.0.0/0", "::/0"}, "", http.Header{"X-Forwarded-For": {"6.6.6.6"}}, "unix", false},

		{"Forwarded counts without X-Forwarded-For", local, "127.0.0.1:1",
			http.Header{"Forwarded": {"for=6.6.6.6, for=203.0.113.7;proto=https, For=10.1.0.1"}}, "203.0.113.7", true},
		{"X-Forwarded-For goes before Forwarded", local, "127.0.0.1:1",
			http.Header{"Forwarded": {"for=6.6.6.6"}, "X-Forwarded-For": {"203.0.113.7"}}, "203.0.113.7", true},
		{"Forwarded with quotes, brackets and port", local, "127.0.0.1:1",
			http.Header{"Forwarded": {`by=_x; FOR = "x", proto=http;for="[2001:db8:cafe::17]:4711"`}}, "127.0.0.1", true},
		{"Forwarded with a quoted IPv6 address", local, "127.0.0.1:1",
			http.Header{"Forwarded": {`for="[2001:db8:cafe::17]:4711" ; host="a,b;for=6.6.6.6"`}}, "2001:db8:cafe::17", true},
		{"Forwarded with an escaped quote", local, "127.0.0.1:1",
			http.Header{"Forwarded": {`for=203.0.113.7;host="a\",for=6.6.6.6"`}}, "203.0.113.7", true},
		{"an unknown node ends the walk", local, "127.0.0.1:1",
			http.Header{"Forwarded": {"for=6.6.6.6, for=unknown, for=10.1.0.1"}}, "10.1.0.1", true},
		{"an element without for ends the walk", local, "127.0.0.1:1",
			http.Header{"Forwarded": {"for=6.6.6.6, proto=http, for=10.1.0.1"}}, "10.1.0.1", true},
		{"a hidden port is a port", local, "127.0.0.1:1", http.Header{"Forwarded": {`for="203.0.113.7:_p"`}}, "203.0.113.7", true},
		{"lines of Forwarded are one list", local, "127.0.0.1:1",
			http.Header{"Forwarded": {"for=6.6.6.6", "for=203.0.113.7", "for=10.1.0.1"}}, "203.0.113.7", true},
		{"a quote that isn't closed spoils all of it", local, "127.0.0.1:1",
			http.Header{"Forwarded": {`for="6.6.6.6, for=203.0.113.7`}}, "127.0.0.1", true},
		{"for twice in an element spoils all of it", local, "127.0.0.1:1",
			http.Header{"Forwarded": {"for=6.6.6.6;for=203.0.113.7"}}, "127.0.0.1", true},
		{"junk after a value spoils all of it", local, "127.0.0.1:1",
			http.Header{"Forwarded": {`for="6.6.6.6"x`}}, "127.0.0.1", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := NewResolver(prefixes(t, c.trusted...)).Resolve(c.remote, c.header)
			if got.String() != c.want || got.Trusted != c.isProxy {
				t.Errorf("got %s, trusted %t; want %s, trusted %t", got.String(), got.Trusted, c.want, c.isProxy)
			}
		})
	}
}

func TestLimitKey(t *testing.T) {
	key := func(s string) [16]byte { return LimitKey(parseNode(s)) }
	for _, c := range []struct {
		name string
		a, b string
		same bool
	}{
		{"IPv4 addresses count apart", "192.0.2.1", "192.0.2.2", false},
		{"a mapped address is its IPv4 one (R-09)", "::ffff:1.2.3.4", "1.2.3.4", true},
		{"a /64 counts together (R-09)", "2001:db8::1", "2001:db8::ffff:2", true},
		{"two /64 count apart", "2001:db8:0:1::1", "2001:db8:0:2::1", false},
		{"a zone makes no difference", "fe80::1%a", "fe80::1%b", true},
		{"no address is one key", "@", "", true},
		{"no address isn't ::1", "@", "::1", false},
		{"no address isn't 0.0.0.0", "@", "0.0.0.0", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if (key(c.a) == key(c.b)) != c.same {
				t.Errorf("%s has the key %x, %s %x", c.a, key(c.a), c.b, key(c.b))
			}
		})
	}
	if raw, unmapped := LimitKey(netip.MustParseAddr("::ffff:1.2.3.4")), key("1.2.3.4"); raw != unmapped {
		t.Errorf("an address that wasn't unmapped has another key: %x, %x", raw, unmapped)
	}
}

func TestResolveCostsNothingForAnUntrustedPeer(t *testing.T) {
	r := NewResolver(prefixes(t, "10.0.0.0/8", "fd00::/8"))
	h := http.Header{"X-Forwarded-For": {"6.6.6.6, 7.7.7.7"}, "Forwarded": {"for=6.6.6.6"}}
	if n := testing.AllocsPerRun(100, func() { r.Resolve("192.0.2.1:5000", h) }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
	if n := testing.AllocsPerRun(100, func() { r.Resolve("10.0.0.1:5000", h) }); n != 0 {
		t.Errorf("%v allocations behind a trusted proxy, want none", n)
	}
}

func FuzzResolve(f *testing.F) {
	for _, s := range []string{"", "6.6.6.6, 203.0.113.7", "[2001:db8::1]:80, 10.1.0.1", `for="[2001:db8::1]:_x";proto=https, for=unknown`,
		`for="a\"`, ",,;=", "::ffff:1.2.3.4%eth0"} {
		f.Add(s, s)
	}
	trusted := prefixes(f, "127.0.0.1/32", "10.1.0.0/16", "fd00::/8")
	r := NewResolver(trusted)
	f.Fuzz(func(t *testing.T, list, forwarded string) {
		for _, h := range []http.Header{{"X-Forwarded-For": {list}}, {"Forwarded": {forwarded}}, {"X-Forwarded-For": {list}, "Forwarded": {forwarded}}} {
			c := r.Resolve("127.0.0.1:1", h)
			if !c.Addr.IsValid() || c.Addr.Is4In6() || c.Addr.Zone() != "" {
				t.Fatalf("the address of %v is %v", h, c.Addr)
			}
			if peer := r.Resolve("192.0.2.1:1", h); peer.String() != "192.0.2.1" {
				t.Fatalf("an untrusted peer's %v was believed", h)
			}
			// Another gateway behind this one must see the same client in either header.
			out := c.Forwarding(&http.Request{Host: "example.com", Header: h})
			for _, next := range []http.Header{{"X-Forwarded-For": {out.For}}, {"Forwarded": {out.Forwarded}}} {
				if got := r.Resolve("127.0.0.1:2", next); got.Addr != c.Addr {
					t.Fatalf("%v is from %v, but from %v as forwarded by %v", h, c.Addr, got.Addr, next)
				}
			}
		}
	})
}

func BenchmarkResolve(b *testing.B) {
	r := NewResolver(prefixes(b, "10.0.0.0/8"))
	h := http.Header{"X-Forwarded-For": {"6.6.6.6, 203.0.113.7, 10.0.0.7"}}
	for _, peer := range []string{"192.0.2.1:5000", "10.0.0.1:5000"} {
		b.Run(peer, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.Resolve(peer, h)
			}
		})
	}
}
