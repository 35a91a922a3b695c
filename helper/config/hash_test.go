package config

import (
	"testing"
	"time"
)

func TestHash(t *testing.T) {
	parse := func(text string) *Config {
		c, err := Parse("config.yaml", []byte(text), noEnv)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	base := Hash(parse(smallest))
	if len(base) != 64 {
		t.Fatalf("%q isn't a SHA-256 in hexadecimal digits", base)
	}
	for name, text := range map[string]string{
		"backends instead of url":   "upstreams: {order: {backends: [{url: http://order:8080}], route: {}}}",
		"routes instead of route":   "routes: [{path: /order, upstream: order}]\nupstreams: {order: {url: http://order:8080}}",
		"a default written out":     smallest + "log: {level: info}",
		"a duration in other units": smallest + "server: {drain: {timeout: 30000ms}}",
		"comments":                  "# a\n" + smallest,
	} {
		if Hash(parse(text)) != base {
			t.Errorf("%s changes the hash", name)
		}
	}
	for name, edit := range map[string]func(*Config){
		"a secret":              func(c *Config) { c.Server.AdminToken = "a" },
		"a rate":                func(c *Config) { c.Routes[0].Limit.Rate = Rate{1, time.Second} },
		"a trusted proxy":       func(c *Config) { c.Server.TrustedProxies = []Prefix{prefix("::1")} },
		"a claim":               func(c *Config) { c.Routes[0].Claims = map[string]any{"a": "1"} },
		"an item in two":        func(c *Config) { c.Log.Access.RedactQuery = []string{"a", "b"} },
		"two items in one":      func(c *Config) { c.Log.Access.RedactQuery = []string{`a","b`} },
		"a section that exists": func(c *Config) { c.Redis = &Redis{} },
		"a number":              func(c *Config) { c.Tracing.SampleRatio = 0.2 },
		"a switch":              func(c *Config) { c.Server.H2C = true },
	} {
		c := parse(smallest)
		edit(c)
		if Hash(c) == base {
			t.Errorf("%s doesn't change the hash", name)
		}
	}
}
