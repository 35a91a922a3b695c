package config

import (
	"reflect"
	"slices"
	"strings"
)

// Changes is what a reload from one config to another does. Every list has upstreams, routes,
// providers and plans in this order, each by name, and is never nil.
type Changes struct {
	Added   []Part `json:"added"`
	Changed []Part `json:"changed"`
	Removed []Part `json:"removed"`
	Kept    []Part `json:"kept"`
	// Settings are the keys outside of the parts that differ and that a reload applies.
	Settings []string `json:"settings"`
	// Restart are the keys that differ and that only a new process applies.
	Restart []string `json:"restart"`
}

// Part is a section with a name, by which it is the same one in both configs.
type Part struct {
	Kind string   `json:"kind"` // upstream, route, provider or plan
	Name string   `json:"name"`
	Keys []string `json:"keys,omitempty"` // in Changed: which of its keys differ. Values aren't told: they may be secrets.
}

// String is the kind and the name: upstream order.
func (p Part) String() string { return p.Kind + " " + p.Name }

// None tells whether the configs mean the same.
func (c Changes) None() bool {
	return len(c.Added)+len(c.Changed)+len(c.Removed)+len(c.Settings)+len(c.Restart) == 0
}

// restartKeys are those whose values a process takes once, with all keys below them: what its listeners, its log's sink and
// its metrics are made of.
func restartKeys() []string {
	return []string{
		"server.listen", "server.admin", "server.admin_token", "server.tls", "server.proxy_protocol", "server.h2c",
		"server.timeouts.read_header", "server.timeouts.idle", "server.max_header_size", "server.drain",
		"log.format", "log.output", "log.rotate", "metrics", "tracing",
	}
}

// Diff compares two effective configs. A setting that others inherit counts as a change of each of them: routes have their
// upstream's timeout.
func Diff(before, after *Config) Changes {
	c := Changes{Added: []Part{}, Changed: []Part{}, Removed: []Part{}, Kept: []Part{}, Settings: []string{}, Restart: []string{}}
	diffParts(&c, "upstream", before.Upstreams, after.Upstreams)
	diffParts(&c, "route", routesByName(before), routesByName(after))
	diffParts(&c, "provider", before.Auth.Providers, after.Auth.Providers)
	diffParts(&c, "plan", before.Plans, after.Plans)
	for _, key := range differences("", reflect.ValueOf(before.settings()), reflect.ValueOf(after.settings())) {
		needsRestart := func(prefix string) bool { return key == prefix || strings.HasPrefix(key, prefix+".") }
		if slices.ContainsFunc(restartKeys(), needsRestart) {
			c.Restart = append(c.Restart, key)
		} else {
			c.Settings = append(c.Settings, key)
		}
	}
	return c
}

// settings is the config without its parts.
func (c *Config) settings() Config {
	rest := *c
	rest.Upstreams, rest.Routes, rest.Plans, rest.Auth.Providers = nil, nil, nil, nil
	return rest
}

func routesByName(c *Config) map[string]*Route {
	routes := make(map[string]*Route, len(c.Routes))
	for i := range c.Routes {
		routes[c.Routes[i].Name] = &c.Routes[i]
	}
	return routes
}

func diffParts[P any](c *Changes, kind string, before, after map[string]P) {
	for _, name := range sortedKeys(before) {
		if _, stays := after[name]; !stays {
			c.Removed = append(c.Removed, Part{Kind: kind, Name: name})
		}
	}
	for _, name := range sortedKeys(after) {
		old, was := before[name]
		now := after[name]
		if !was {
			c.Added = append(c.Added, Part{Kind: kind, Name: name})
		} else if keys := differences("", reflect.ValueOf(old), reflect.ValueOf(now)); len(keys) > 0 {
			c.Changed = append(c.Changed, Part{kind, name, keys})
		} else {
			c.Kept = append(c.Kept, Part{Kind: kind, Name: name})
		}
	}
}

// differences lists the keys below at whose values don't mean the same, in the order of the types. A list or a mapping is
// one value.
func differences(at string, before, after reflect.Value) []string {
	if reflect.DeepEqual(before.Interface(), after.Interface()) { // nearly always, with thousands of routes
		return nil
	}
	if before.Kind() == reflect.Pointer && !before.IsNil() && !after.IsNil() {
		return differences(at, before.Elem(), after.Elem())
	}
	if before.Kind() != reflect.Struct || before.Type().NumField() == 0 || before.Type().Field(0).Tag.Get("yaml") == "" {
		if same(before, after) {
			return nil
		}
		return []string{at}
	}
	var keys []string
	for i := range before.NumField() {
		key := strings.TrimPrefix(at+"."+before.Type().Field(i).Tag.Get("yaml"), ".")
		keys = append(keys, differences(key, before.Field(i), after.Field(i))...)
	}
	return keys
}
