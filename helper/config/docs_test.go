package config

import (
	"encoding"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"strings"
	"testing"
)

//go:generate go test -run "^Test(Reference|Schema)IsCurrent$" . -update
var update = flag.Bool("update", false, "write what the golden tests compare with: docs/config.md and testdata")

const referencePath = "../../docs/config.md"

// docs/config.md is made from the doc comments of the types, and is never older than they are.
func TestReferenceIsCurrent(t *testing.T) {
	want := reference(t)
	if *update {
		if err := os.MkdirAll("../../docs", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(referencePath, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(referencePath)
	if err != nil || string(got) != want {
		t.Errorf("docs/config.md is stale (%v): run go generate ./helper/config", err)
	}
}

const referenceHead = `# Reference of config.yaml

<!-- Generated from the doc comments in helper/config by go generate ./helper/config. Don't edit. -->

Durations: ` + "`250ms`, `30s`, `5m`, `1h`. Sizes: `512`, `64KiB`, `10MiB`, `1GiB`. Rates: `10/s`, `600/m`, `5000/h`, `0` for none." + `
Ranges of statuses: ` + "`500-599` or `500-599,429`" + `.

In values, ` + "`${NAME}` and `${NAME:-fallback}` are replaced from the environment, and `$$` is a plain `$`" + `. The fallback is for a
variable that isn't set or is empty; without one, a variable that isn't set is a problem. Variables are replaced after the file is
parsed: whatever a value contains, it is one value. Unquoted, it may be a number (` + "`max: ${N}`" + `); quoted, it is a text.

Files are named by an absolute path, or by one that begins in the **working directory** of the process, not in the folder of this
file: under systemd that is ` + "`WorkingDirectory`" + `, in the container image it is ` + "`/`" + `.

Unknown keys, duplicate keys, keys without a value, aliases, tags, merge keys and a second document are problems. All problems are
reported at once, each as ` + "`FILE:LINE:COLUMN: KEY: what, and what to do`" + `.

## The usual set-ups

Each is a whole file. A route to an upstream with ` + "`route: {}`" + ` is /NAME, wants a token, and the token the scope NAME.

A secret that the issuer and the gateway share, from the environment (` + "`openssl rand -base64 32`" + ` makes one):

` + "```yaml" + `
auth: {providers: {identity: {issuer: my-issuer, audiences: [gateway], algorithms: [HS256], secret: "${JWT_SECRET}"}}}
upstreams: {order: {url: http://order:8080, route: {}}}
` + "```" + `

Public keys in a PEM file (` + "`gatehouse keys new --out id.pem`" + ` makes a pair):

` + "```yaml" + `
auth: {providers: {identity: {issuer: my-issuer, audiences: [gateway], algorithms: [ES256], public_key_file: /etc/gatehouse/id.pem.pub}}}
upstreams: {order: {url: http://order:8080, route: {}}}
` + "```" + `

Keys that the issuer publishes, by OpenID Connect discovery; where it has none, ` + "`jwks_url: URL`" + ` instead of ` + "`discovery: true`" + `:

` + "```yaml" + `
auth: {providers: {identity: {issuer: https://identity.example.com, audiences: [gateway], algorithms: [RS256], discovery: true}}}
upstreams: {order: {url: http://order:8080, route: {}}}
` + "```" + `

API keys (` + "`gatehouse keys api`" + ` prints a key, for the caller, and its hash, for here):

` + "```yaml" + `
auth:
  api_keys:
    keys: [{id: ada, sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08, scopes: [order]}]
upstreams: {order: {url: http://order:8080, route: {auth: api_key}}}
` + "```" + `

Two backends that are checked, behind an open route:

` + "```yaml" + `
upstreams:
  search:
    backends: [{url: http://search-1:8080}, {url: http://search-2:8080}]
    health: {path: /healthz, interval: 5s}
    route: {auth: none}
` + "```" + `

## How keys are written here

In the keys, ` + "`*` is a name that you choose, and `[]` is each item of a list" + `.
`

func reference(t *testing.T) string {
	var b strings.Builder
	b.WriteString(referenceHead)
	comments := fieldComments(t)
	root := reflect.TypeFor[Config]()
	for i := range root.NumField() {
		field := root.Field(i)
		key := field.Tag.Get("yaml")
		section := comments["Config."+field.Name]
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| Key | Type | Default | Meaning |\n|---|---|---|---|\n", key, section.meaning)
		writeRows(t, &b, comments, field.Type, key)
	}
	return b.String()
}

func writeRows(t *testing.T, b *strings.Builder, comments map[string]comment, typ reflect.Type, key string) {
	section, suffix := sectionOf(typ)
	if section == nil {
		return
	}
	value := reflect.New(section).Elem()
	setDefaults(value)
	for i := range section.NumField() {
		field := section.Field(i)
		fieldKey := key + suffix + "." + field.Tag.Get("yaml")
		doc := comments[section.Name()+"."+field.Name]
		checkDefault(t, fieldKey, doc, value.Field(i))
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", fieldKey, typeName(field.Type), cell(doc.fallback), cell(doc.meaning))
		if fieldKey != "upstreams.*.route" { // its keys are those of routes
			writeRows(t, b, comments, field.Type, fieldKey)
		}
	}
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// sectionOf is the struct that a key leads to, and what stands between the key and the struct's own.
func sectionOf(typ reflect.Type) (section reflect.Type, suffix string) {
	for {
		if _, ok := reflect.New(typ).Interface().(encoding.TextUnmarshaler); ok {
			return nil, ""
		}
		switch typ.Kind() {
		case reflect.Pointer:
		case reflect.Map:
			suffix += ".*"
		case reflect.Slice:
			suffix += "[]"
		case reflect.Struct:
			return typ, suffix
		default:
			return nil, ""
		}
		typ = typ.Elem()
	}
}

// leafKeys is every key of the schema that has no keys below it.
func leafKeys(typ reflect.Type, key string) map[string]bool {
	section, suffix := sectionOf(typ)
	if section == nil {
		return map[string]bool{key: true}
	}
	keys := map[string]bool{}
	for i := range section.NumField() {
		child := strings.TrimPrefix(key+suffix+"."+section.Field(i).Tag.Get("yaml"), ".")
		if child == "upstreams.*.route" {
			continue
		}
		for leaf := range leafKeys(section.Field(i).Type, child) {
			keys[leaf] = true
		}
	}
	return keys
}

func typeName(typ reflect.Type) string {
	switch typ {
	case reflect.TypeFor[Statuses]():
		return "statuses"
	case reflect.TypeFor[Duration](), reflect.TypeFor[Size](), reflect.TypeFor[Rate](), reflect.TypeFor[Date](), reflect.TypeFor[Secret]():
		return strings.ToLower(typ.Name())
	case reflect.TypeFor[Prefix]():
		return "CIDR"
	}
	switch typ.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "whole number"
	case reflect.Float64:
		return "number"
	case reflect.Slice:
		return "list of " + typeName(typ.Elem())
	case reflect.Map:
		return "mapping to " + typeName(typ.Elem())
	case reflect.Interface:
		return "value or list of values"
	default:
		return "section"
	}
}

// comment is a field's doc comment: what it means, and its default.
type comment struct{ meaning, fallback string }

// fieldComments is the doc comment of every field that has a key, by TYPE.FIELD.
func fieldComments(t *testing.T) map[string]comment {
	comments := map[string]comment{}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range files {
		if !strings.HasSuffix(entry.Name(), ".go") || strings.HasSuffix(entry.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), entry.Name(), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if spec, ok := node.(*ast.TypeSpec); ok {
				if section, ok := spec.Type.(*ast.StructType); ok {
					for _, field := range section.Fields.List {
						if field.Tag != nil && strings.Contains(field.Tag.Value, "yaml:") {
							comments[spec.Name.Name+"."+field.Names[0].Name] = parseComment(t, spec.Name.Name, field)
						}
					}
				}
			}
			return true
		})
	}
	return comments
}

func parseComment(t *testing.T, section string, field *ast.Field) comment {
	text := strings.Join(strings.Fields(field.Doc.Text()), " ")
	meaning, fallback, ok := strings.Cut(text, " Default: ")
	if !ok || meaning == "" || !strings.HasSuffix(fallback, ".") {
		t.Errorf("the comment of %s.%s doesn't say what it is and end with its default: %q", section, field.Names[0].Name, text)
	}
	return comment{meaning, strings.TrimSuffix(fallback, ".")}
}

// checkDefault compares a comment with what setDefaults sets. Where that is a zero value, another section or nobody decides.
func checkDefault(t *testing.T, key string, doc comment, value reflect.Value) {
	if section, _ := sectionOf(value.Type()); section != nil || value.IsZero() {
		return
	}
	r := newReport("")
	documented := reflect.New(value.Type()).Elem()
	newDecoder(r, noEnv).decode(r.parseYAML([]byte(doc.fallback)), nil, documented, place{})
	if err := r.err(); err != nil || !same(documented, value) {
		t.Errorf("the comment of %s says that its default is %s, and it is %v (%v)", key, doc.fallback, value, err)
	}
}
