package gateway_test

import (
	"fmt"
	"sync"
	"time"

	"gatehouse/handler/gateway"
	"gatehouse/helper/exchange"
)

// counts is an Observer that remembers everything by name.
type counts struct {
	mu sync.Mutex
	n  map[string]int
}

func newCounts() *counts { return &counts{n: make(map[string]int)} }

func (c *counts) add(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n[fmt.Sprintf(format, args...)]++
}

func (c *counts) get(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n[name]
}

func (c *counts) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Sprint(c.n)
}

type named struct {
	*counts
	name string
}

func (c *counts) Route(_, route string) gateway.RouteObserver                 { return named{c, route} }
func (c *counts) Upstream(name string, _ func() int) gateway.UpstreamObserver { return named{c, name} }
func (c *counts) Backend(_, url string, _ func() int64, _ func() bool) gateway.BackendObserver {
	return backendCount{c, url}
}
func (c *counts) Retries(name string, _ []string) gateway.RetryObserver { return named{c, name} }
func (n named) Retried(reason string)                                   { n.add("retried %s %s", n.name, reason) }
func (n named) BudgetExhausted()                                        { n.add("budget %s", n.name) }
func (c *counts) Mirror(route string) gateway.MirrorObserver            { return named{c, route} }
func (n named) Mirrored(result string)                                  { n.add("mirrored %s %s", n.name, result) }
func (b backendCount) Ejected()                                         { b.add("ejected %s", b.url) }
func (c *counts) Provider(name string) gateway.Remover                  { return named{c, name} }
func (c *counts) Clients(ids []string)                                  { c.add("clients %v", ids) }
func (c *counts) LimiterMode(redis bool)                                { c.add("limiter in redis: %v", redis) }
func (c *counts) QuotaRejected(client string)                           { c.add("quota rejected %q", client) }
func (n named) Shadowed(code string)                                    { n.add("shadowed %s %s", n.name, code) }
func (c *counts) RedisCall(_ time.Duration, err error)                  { c.add("redis failed: %v", err != nil) }
func (c *counts) Keys(provider string, _ func() time.Duration) gateway.Remover {
	return named{c, provider}
}
func (c *counts) KeysRefreshed(provider, result string) { c.add("keys %s %s", provider, result) }
func (named) Remove()                                   {}
func (c *counts) Unmatched() exchange.Observer          { return named{c, "_none"} }
func (c *counts) Auth(provider, result, cache string) {
	c.add("auth %s %s %s", provider, result, cache)
}
func (c *counts) InFlight(int64)     {}
func (c *counts) Retiring(int64)     {}
func (c *counts) Panic()             { c.add("panic") }
func (c *counts) Spoof()             { c.add("spoof") }
func (n named) Accept()              { n.add("accept %s", n.name) }
func (n named) Reject()              { n.add("reject %s", n.name) }
func (n named) Rejected(code string) { n.add("rejected %s %s", n.name, code) }
func (n named) Refused()             { n.add("refused %s", n.name) }
func (n named) Transition(to int)    { n.add("transition %s %d", n.name, to) }
func (n named) Observe(method string, status int, _, _ time.Duration, _ string) {
	n.add("request %s %s %d", n.name, method, status)
}

type backendCount struct {
	*counts
	url string
}

func (backendCount) Remove()                 {}
func (b backendCount) Observe(time.Duration) { b.add("backend %s", b.url) }
