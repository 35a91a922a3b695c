package config

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// unbuilt is every key whose feature doesn't exist yet, with a test for the values that leave it off (nil: only the default
// does). A file may give no other value. To build a feature is to remove its lines here.
func unbuilt() map[string]func(value any) bool {
	not := func(values ...string) func(any) bool {
		return func(value any) bool { return !slices.Contains(values, value.(string)) }
	}
	return map[string]func(value any) bool{
		"server.tests":                nil,
		"tracing.otlp_endpoint":       nil,
		"redis":                       nil,
		"auth.providers.*.plan_claim": nil,
		"plans":                       nil,
		"upstreams.*.resolve":         nil,
		"upstreams.*.balance":         not("least_requests", "random_two", "hash"),
		"upstreams.*.hash_by":         nil,
		"upstreams.*.health.path":     nil,
		"upstreams.*.eject":           func(value any) bool { return value.(Eject).Failures == 0 },
		"upstreams.*.concurrency.max": nil,
		"upstreams.*.retry":           func(value any) bool { return value.(Retry).Attempts == 1 },
		"upstreams.*.url":             plainHTTP,
		"upstreams.*.backends[].url":  plainHTTP,
		"routes[].split":              nil,
		"routes[].mirror":             nil,
		"routes[].quota":              nil,
		"routes[].limit.mode":         not("shadow"),
	}
}

func plainHTTP(value any) bool {
	url := strings.ToLower(value.(string))
	return !strings.HasPrefix(url, "h2c:") && !strings.HasPrefix(url, "unix:")
}

// refuseUnbuilt reports every key of the file that would switch on what doesn't exist.
func (r *report) refuseUnbuilt() {
	features := unbuilt()
	for key, given := range r.marks {
		off, ok := features[given.schema]
		if !ok {
			continue
		}
		if off == nil && !same(given.value, reflect.ValueOf(given.unset)) || off != nil && !off(given.value.Interface()) {
			section{r, key}.refuse("%s isn't built yet: remove it", given.name(key))
		}
	}
}

// name is a key's value where only some values aren't built, or the key's last part.
func (m mark) name(key string) string {
	switch m.schema {
	case "upstreams.*.balance", "routes[].limit.mode":
		return strconv.Quote(m.text)
	case "upstreams.*.url", "upstreams.*.backends[].url":
		scheme, _, _ := strings.Cut(m.text, ":")
		return "the scheme " + scheme
	}
	return key[strings.LastIndexByte(key, '.')+1:]
}
