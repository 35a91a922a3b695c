package config

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The schema is embedded, and docs/ has the copy that the first line of config.yaml names.
func TestSchemaIsCurrent(t *testing.T) {
	want := schemaOf(t, reflect.TypeFor[Config]())
	for _, path := range []string{"schema.json", "../../docs/config.schema.json"} {
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is stale (%v): run go generate ./helper/config", path, err)
		}
	}
}

type object = map[string]any

// choices are the fields that take one of a few words, with a config that has one of them.
var choices = []struct {
	field  string
	values []string
	config string
}{
	{"ServerTLS.min_version", []string{"1.2", "1.3"}, "server: {tls: {min_version: %s}}"},
	{"Log.level", []string{"debug", "info", "warn", "error"}, "log: {level: %s}"},
	{"Log.format", []string{"json", "console"}, "log: {format: %s}"},
	{"Auth.expired_status", []string{"401", "403"}, "auth: {expired_status: %s}"},
	{"Provider.algorithms", algorithms(), "auth: {providers: {p: {algorithms: [%s]}}}"},
	{"Upstream.balance", []string{"round_robin", "least_requests", "random_two", "hash"}, "upstreams: {o: {balance: %s}}"},
	{"Route.auth", []string{"none", "jwt", "api_key", "any"}, "upstreams: {o: {route: {auth: %s}}}"},
	{"Route.flush", []string{"auto", "always"}, "upstreams: {o: {route: {flush: %s}}}"},
	{"RouteLimit.per", []string{"route", "client_ip"}, "upstreams: {o: {route: {limit: {per: %s}}}}"},
	{"RouteLimit.mode", []string{"enforce", "shadow"}, "upstreams: {o: {route: {limit: {mode: %s}}}}"},
	{"Quota.mode", []string{"enforce", "shadow"}, "upstreams: {o: {route: {quota: {mode: %s}}}}"},
}

// schemaOf makes the schema of a type, with a definition for each section.
func schemaOf(t *testing.T, typ reflect.Type) []byte {
	s := &schemaWriter{t, fieldComments(t), scalarSchemas()}
	root := s.section(typ)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "config.yaml of gatehouse"
	root["$defs"] = s.defs
	s.defs["ShortRoute"] = s.shortRoute()
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(root); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// scalarSchemas are the forms of single values. Any of them may come from the environment.
func scalarSchemas() object {
	form := func(pattern string, others ...any) object {
		return object{"anyOf": append([]any{object{"type": "string", "pattern": pattern}, ref("variable")}, others...)}
	}
	return object{
		"variable":  object{"type": "string", "pattern": `\$\{`, "description": "${NAME} or ${NAME:-fallback}: from the environment"},
		"text":      object{"type": []string{"string", "number", "boolean"}},
		"truth":     object{"anyOf": []any{object{"type": "boolean"}, ref("variable")}},
		"whole":     object{"anyOf": []any{object{"type": "integer"}, ref("variable")}},
		"number":    object{"anyOf": []any{object{"type": "number"}, ref("variable")}},
		"claim":     object{"anyOf": []any{ref("text"), object{"type": "array", "items": ref("text"), "minItems": 1}}},
		"Duration":  form(`^\+?(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`, object{"const": 0}),
		"Size":      form(`^[0-9]{1,18}(KiB|MiB|GiB)?$`, object{"type": "integer", "minimum": 0}),
		"Rate":      form(`^[0-9]{1,10}/(s|m|h)$`, object{"const": 0}, object{"const": "0"}),
		"Date":      form(`^([0-9]{4}-[0-9]{2}-[0-9]{2})?$`),
		"Prefix":    form(`^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$`),
		"Statuses":  form(`^ *[0-9]{3}(-[0-9]{3})? *(, *[0-9]{3}(-[0-9]{3})? *)*$`, object{"type": "integer", "minimum": 100, "maximum": 599}),
		"Algorithm": object{"anyOf": []any{object{"enum": algorithms()}, ref("variable")}},
	}
}

func ref(name string) object { return object{"$ref": "#/$defs/" + name} }

type schemaWriter struct {
	t        *testing.T
	comments map[string]comment
	defs     object
}

// value is the schema of what stands behind a key.
func (s *schemaWriter) value(typ reflect.Type) object {
	if typ == reflect.TypeFor[Secret]() {
		return ref("text")
	}
	if _, ok := reflect.New(typ).Interface().(encoding.TextUnmarshaler); ok {
		if s.defs[typ.Name()] == nil {
			s.t.Fatalf("there is no schema for %s: add one to scalarSchemas", typ)
		}
		return ref(typ.Name())
	}
	switch typ.Kind() {
	case reflect.Pointer:
		return s.value(typ.Elem())
	case reflect.Struct:
		if s.defs[typ.Name()] == nil {
			s.defs[typ.Name()] = s.section(typ)
		}
		return ref(typ.Name())
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.value(typ.Elem())}
	case reflect.Slice:
		return object{"type": "array", "items": s.value(typ.Elem())}
	}
	return ref(map[reflect.Kind]string{
		reflect.String: "text", reflect.Bool: "truth", reflect.Int: "whole", reflect.Float64: "number", reflect.Interface: "claim",
	}[typ.Kind()])
}

func (s *schemaWriter) section(typ reflect.Type) object {
	defaults := reflect.New(typ).Elem()
	setDefaults(defaults)
	properties, required := object{}, []string{}
	for i := range typ.NumField() {
		field := typ.Field(i)
		key := field.Tag.Get("yaml")
		doc := s.comments[typ.Name()+"."+field.Name]
		property := s.choice(typ.Name()+"."+key, s.value(field.Type))
		property["description"] = doc.meaning
		if fallback, ok := s.fallback(doc, defaults.Field(i)); ok {
			property["default"] = fallback
		} else {
			property["description"] = doc.meaning + " Default: " + doc.fallback + "."
		}
		if doc.fallback == "none, required" || key == "upstreams" {
			required = append(required, key)
		}
		properties[key] = property
	}
	made := object{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		made["required"] = required
	}
	if typ == reflect.TypeFor[Upstream]() {
		properties["route"].(object)["$ref"] = "#/$defs/ShortRoute"
	}
	return made
}

// choice narrows a field's values to the words that it takes, as texts or as what YAML makes of them.
func (s *schemaWriter) choice(field string, values object) object {
	for _, choice := range choices {
		if choice.field != field {
			continue
		}
		if field == "Provider.algorithms" {
			return object{"type": "array", "items": ref("Algorithm")}
		}
		var words []any
		for _, word := range choice.values {
			if number, err := strconv.ParseFloat(word, 64); err == nil {
				words = append(words, number)
			}
			if field != "Auth.expired_status" {
				words = append(words, word)
			}
		}
		return object{"anyOf": []any{object{"enum": words}, ref("variable")}}
	}
	return values
}

// fallback is a default as JSON, where the comment says it as a value and not in words.
func (s *schemaWriter) fallback(doc comment, value reflect.Value) (any, bool) {
	if section, _ := sectionOf(value.Type()); section != nil {
		return nil, false
	}
	r := newReport("")
	documented := reflect.New(value.Type()).Elem()
	root := r.parseYAML([]byte(doc.fallback))
	if root == nil {
		return nil, false
	}
	newDecoder(r, noEnv).decode(root, nil, documented, place{})
	if r.err() != nil || !same(documented, value) {
		return nil, false
	}
	return documented.Interface(), true
}

// shortRoute is a route inside an upstream: the upstream and the path are known.
func (s *schemaWriter) shortRoute() object {
	route := s.section(reflect.TypeFor[Route]())
	for _, key := range []string{"name", "upstream", "split"} {
		delete(route["properties"].(object), key)
	}
	delete(route, "required")
	path := route["properties"].(object)["path"].(object)
	path["description"] = strings.Replace(path["description"].(string), "none, required", "/ and the upstream's name", 1)
	return route
}

// What the schema offers is what validation takes.
func TestChoicesAreThoseOfValidation(t *testing.T) {
	for _, choice := range choices {
		_, err := Parse("config.yaml", fmt.Appendf(nil, choice.config, "7"), noEnv)
		listed := func(separator string) bool {
			return strings.Contains(err.Error(), " "+strings.Join(choice.values, separator))
		}
		if err == nil || !slices.ContainsFunc([]string{", ", " nor "}, listed) {
			t.Errorf("%s: the schema has %q, and validation says %v", choice.field, choice.values, err)
		}
	}
}
