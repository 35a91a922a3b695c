package config

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// setDefaults sets the defaults of a section and of those inside it.
func setDefaults(v reflect.Value) {
	if v.Kind() != reflect.Struct {
		return
	}
	if section, ok := v.Addr().Interface().(defaulter); ok {
		section.setDefaults()
	}
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("yaml") != "" {
			setDefaults(v.Field(i))
		}
	}
}

// fieldsByKey is the indexes of a section's fields by their keys in YAML.
func fieldsByKey(section reflect.Type) map[string]int {
	fields := make(map[string]int, section.NumField())
	for i := range section.NumField() {
		name, _, _ := strings.Cut(section.Field(i).Tag.Get("yaml"), ",")
		fields[name] = i
	}
	return fields
}

func sortedKeys[V any](m map[string]V) []string {
	keys := slices.AppendSeq(make([]string, 0, len(m)), maps.Keys(m))
	slices.Sort(keys)
	return keys
}
