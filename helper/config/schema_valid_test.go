package config

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"
)

func compiledSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("schema.json", document); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// againstSchema is what an editor with the schema says of a config.
func againstSchema(t *testing.T, schema *jsonschema.Schema, text []byte) error {
	t.Helper()
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	return schema.Validate(jsonValue(t, &root))
}

// jsonValue is a YAML node as an editor hands it to a schema's validator. Dates are texts.
func jsonValue(t *testing.T, node *yaml.Node) any {
	t.Helper()
	switch node.Kind {
	case yaml.DocumentNode:
		return jsonValue(t, node.Content[0])
	case yaml.MappingNode:
		mapping := map[string]any{}
		for i := 0; i < len(node.Content); i += 2 {
			mapping[node.Content[i].Value] = jsonValue(t, node.Content[i+1])
		}
		return mapping
	case yaml.SequenceNode:
		list := []any{}
		for _, item := range node.Content {
			list = append(list, jsonValue(t, item))
		}
		return list
	}
	if tag := node.ShortTag(); tag == "!!timestamp" || tag == "!!str" {
		return node.Value
	}
	var value any
	if err := node.Decode(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

func TestSchemaAcceptsFiles(t *testing.T) {
	schema := compiledSchema(t)
	for _, path := range []string{"testdata/reference.yaml", "../../config.yaml"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := againstSchema(t, schema, text); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// A key that isn't one, put into every mapping of a file with all keys, is refused wherever Parse refuses it.
func TestSchemaRefusesUnknownKeys(t *testing.T) {
	schema := compiledSchema(t)
	env := func(string) (string, bool) { return strings.Repeat("s", 32), true }
	text, err := os.ReadFile("testdata/reference.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	refused, taken := 0, 0
	var visit func(node *yaml.Node)
	visit = func(node *yaml.Node) {
		if node.Kind == yaml.MappingNode {
			whole := node.Content
			node.Content = append(slices.Clone(whole), &yaml.Node{Kind: yaml.ScalarNode, Value: "unheard_of"}, &yaml.Node{Kind: yaml.ScalarNode, Value: "x"})
			changed, err := yaml.Marshal(&root)
			if err != nil {
				t.Fatal(err)
			}
			node.Content = whole
			_, parseErr := Parse("config.yaml", changed, env)
			schemaErr := againstSchema(t, schema, changed)
			if (parseErr == nil) != (schemaErr == nil) {
				t.Errorf("line %d: Parse says %v, and the schema %v", node.Line, parseErr, schemaErr)
			}
			if schemaErr != nil {
				refused++
			} else {
				taken++
			}
		}
		for _, child := range node.Content {
			visit(child)
		}
	}
	visit(&root)
	if refused < 20 || taken == 0 { // headers and claims have names of anybody's making
		t.Errorf("%d were refused and %d taken", refused, taken)
	}
}

func TestSchemaRefusesWrongFiles(t *testing.T) {
	schema := compiledSchema(t)
	for _, name := range []string{"unknown_keys", "wrong_types", "upstreams_list", "no_value"} {
		text, err := os.ReadFile(filepath.Join("testdata/bad", name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if againstSchema(t, schema, text) == nil {
			t.Errorf("the schema accepts testdata/bad/%s.yaml", name)
		}
	}
}

// The schema and Parse agree about the form of a value.
func TestSchemaKnowsForms(t *testing.T) {
	schema := compiledSchema(t)
	const upstream = "upstreams:\n  order:\n    url: http://order:8080\n"
	forms := map[string]string{ // in lines, where ${NAME} needs no quotes
		"duration": "server:\n  drain:\n    delay: %\n",
		"size":     "server:\n  max_body_size: %\n",
		"rate":     upstream + "    route:\n      limit:\n        rate: %\n",
		"statuses": upstream + "    route: {}\n    breaker:\n      statuses: %\n",
		"whole":    upstream + "    route: {}\n    breaker:\n      failures: %\n",
		"truth":    "log:\n  access:\n    enabled: %\n",
		"number":   "log:\n  access:\n    sample: %\n",
		"level":    "log:\n  level: %\n",
		"text":     "log:\n  output: %\n",
		"status":   "auth:\n  expired_status: %\n",
		"CIDR":     "server:\n  trusted_proxies: [%]\n",
	}
	tests := []struct {
		form, value string
		good        bool
	}{
		{"duration", "250ms", true}, {"duration", "1h30m", true}, {"duration", "1.5s", true}, {"duration", "0", true}, {"duration", "0s", true}, {"duration", "${D:-5s}", true},
		{"duration", "5", false}, {"duration", "soon", false}, {"duration", "-5s", false}, {"duration", "5 s", false}, {"duration", "1d", false},
		{"size", "512", true}, {"size", "64KiB", true}, {"size", "'0'", true}, {"size", "64KB", false}, {"size", "-1", false}, {"size", "1.5MiB", false},
		{"rate", "10/s", true}, {"rate", "600/m", true}, {"rate", "0", true}, {"rate", "10", false}, {"rate", "10/d", false}, {"rate", "ten/s", false},
		{"statuses", "500-599", true}, {"statuses", "'500-599,429'", true}, {"statuses", "429", true}, {"statuses", "5xx", false}, {"statuses", "50-59", false},
		{"truth", "true", true}, {"truth", "${T:-false}", true}, {"truth", "yes", false}, {"truth", "1", false},
		{"whole", "3", true}, {"whole", "${N:-3}", true}, {"whole", "3.5", false}, {"whole", "many", false},
		{"number", "0.5", true}, {"number", "1", true}, {"number", "half", false},
		{"level", "debug", true}, {"level", "${L:-info}", true}, {"level", "loud", false},
		{"status", "401", true}, {"status", "404", false}, {"CIDR", "10.0.0.0/8", true}, {"CIDR", "'::1'", true}, {"CIDR", "everybody", false},
		{"text", "a.log", true}, {"text", "5", true}, {"text", "[a]", false}, {"text", "{a: b}", false},
	}
	for _, test := range tests {
		text := strings.Replace(forms[test.form], "%", test.value, 1)
		if !strings.Contains(text, "upstreams:") {
			text += smallest
		}
		_, parseErr := Parse("config.yaml", []byte(text), noEnv)
		schemaErr := againstSchema(t, schema, []byte(text))
		if (parseErr == nil) != test.good || (schemaErr == nil) != test.good {
			t.Errorf("%s %s: Parse says %v, and the schema %v; want good: %v", test.form, test.value, parseErr, schemaErr, test.good)
		}
	}
}
