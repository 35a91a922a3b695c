package route_test

import (
	"fmt"
	"net/http"
	"testing"

	"gatehouse/helper/route"
)

// A table of 10,000 routes must cost no more than twice a table of 10. Both get 10,000 different requests, spread over all
// of their rules, so that the difference is the table's alone.
func BenchmarkMatch(b *testing.B) {
	const requests = 10_000
	shapes := []struct {
		name string
		rule func(i int) route.Rule
		host string // with the number of the rule
		path string // with the numbers of the rule and the request
	}{
		{"paths", func(i int) route.Rule { return rule(fmt.Sprintf("/service-%05d/v1", i)) },
			"api-%05[1]d.test", "/service-%05[1]d/v1/things/%05[2]d"},
		{"hosts", func(i int) route.Rule { return rule("/", hosts(fmt.Sprintf("tenant-%05d.test", i))) },
			"tenant-%05[1]d.test", "/service-%05[1]d/v1/things/%05[2]d"},
		{"wildcards", func(i int) route.Rule { return rule("/", hosts(fmt.Sprintf("*.tenant-%05d.test", i))) },
			"api.tenant-%05[1]d.test", "/service-%05[1]d/v1/things/%05[2]d"},
	}
	for _, shape := range shapes {
		for _, size := range []int{10, 10_000} {
			var rules []route.Rule
			for i := range size {
				rules = append(rules, shape.rule(i))
			}
			var hosts, paths []string
			for i := range requests {
				hosts = append(hosts, fmt.Sprintf(shape.host, i%size))
				paths = append(paths, fmt.Sprintf(shape.path, i%size, i))
			}
			table := newTable(b, rules...)
			b.Run(fmt.Sprintf("%s/%d", shape.name, size), func(b *testing.B) {
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					i = (i + 7919) % requests // a prime: every request, in an order that no cache foresees
					if table.Match(hosts[i], paths[i], "GET", nil).Index != i%size {
						b.Fatal("another rule matches")
					}
				}
			})
		}
	}
}

func BenchmarkCheckPath(b *testing.B) {
	for _, path := range []string{"/order/42", "/service-00001/v1/things/42/parts/a%20b", "/.well-known/a.b.c;v=1/x"} {
		b.Run(path[1:], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if route.CheckPath(path, false) != route.Clean {
					b.Fatal("the path isn't clean")
				}
			}
		})
	}
}

func BenchmarkCanonicalHost(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := route.CanonicalHost("orders.api.example.com:8443"); !ok {
			b.Fatal("the host is refused")
		}
	}
}

func TestAHitAllocatesNothing(t *testing.T) {
	table := newTable(t, rule("/"), rule("/a", hosts("*.test"), methods("GET"), header("X-V", "~^v2")))
	h := http.Header{"X-V": {"v2"}}
	if n := testing.AllocsPerRun(100, func() {
		host, _ := route.CanonicalHost("api.test:8080")
		if route.CheckPath("/a/b-c", false) != route.Clean || table.Match(host, "/a/b-c", "GET", h).Index != 1 {
			t.Fatal("the rule doesn't match")
		}
		if table.MatchAnyMethod(host, "/a", h, func(index int) bool { return index == 0 }) != 0 || route.Strip("/a/b", "/a") != "/b" {
			t.Fatal("the root doesn't match")
		}
		if ip, _ := route.CanonicalHost("[::1]:80"); ip != "::1" {
			t.Fatal(ip)
		}
	}); n != 0 {
		t.Errorf("a hit allocates %v times", n)
	}
}
