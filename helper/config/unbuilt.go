package config

import (
	"reflect"
	"slices"
	"strings"
)

// unbuilt is every key whose feature doesn't exist yet. A file may give no value but the default. To build a feature is
// to remove its key here.
func unbuilt() []string {
	return []string{"server.tests"}
}

// refuseUnbuilt reports every key of the file that would switch on what doesn't exist.
func (r *report) refuseUnbuilt() {
	features := unbuilt()
	for key, given := range r.marks {
		if slices.Contains(features, given.schema) && !same(given.value, reflect.ValueOf(given.unset)) {
			section{r, key}.refuse("%s isn't built yet: remove it", key[strings.LastIndexByte(key, '.')+1:])
		}
	}
}
