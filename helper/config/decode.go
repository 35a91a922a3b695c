package config

import (
	"cmp"
	"encoding"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"gatehouse/helper/suggest"
)

// decoder fills the types of this package from YAML nodes, by their yaml tags. It reports and goes on.
type decoder struct {
	*report
	env    func(string) (string, bool)
	fields map[reflect.Type]map[string]int // of the sections that were met, by their keys
}

func newDecoder(r *report, env func(string) (string, bool)) *decoder {
	return &decoder{r, env, map[reflect.Type]map[string]int{}}
}

// place is where a node stands.
type place struct {
	key    string
	isItem bool   // of a list
	name   string // which the file has chosen for a section of its own, such as an upstream's
}

func (p place) entry(name string) place {
	if p.key == "" {
		return place{key: name}
	}
	return place{key: p.key + "." + name}
}

func (p place) named(name string) place {
	p = p.entry(name)
	p.name = name
	return p
}

func (p place) item(index int) place {
	return place{key: p.key + "[" + strconv.Itoa(index) + "]", isItem: true}
}

// decode fills into, which holds its default; key is the node to point at when the value is a list or a mapping.
func (d *decoder) decode(node, key *yaml.Node, into reflect.Value, at place) {
	where := node
	if node.Kind != yaml.ScalarNode && key != nil {
		where = key
	}
	refuse := func(format string, args ...any) {
		d.unread[at.key] = true
		d.add(where.Line, where.Column, at.key, fmt.Sprintf(format, args...))
	}
	switch {
	case node.Kind == yaml.AliasNode:
		refuse("aliases (*name) aren't supported: write the value out")
		return
	case node.Style&yaml.TaggedStyle != 0:
		refuse("tags (%s) aren't supported: write the value alone", node.Tag)
		return
	}
	written, ok := d.substitute(node, refuse)
	if !ok {
		return
	}
	if node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null" {
		refuse("has no value: give it one, or remove the key")
		return
	}
	if into.Kind() == reflect.Pointer {
		into.Set(reflect.New(into.Type().Elem()))
		into = into.Elem()
		setDefaults(into)
	}
	scalar := mark{where.Line, where.Column, written, ""}
	if strings.Contains(written, "${") {
		scalar.variables = variables(written, d.env)
	}
	d.marks[at.key] = scalar

	if text, ok := into.Addr().Interface().(encoding.TextUnmarshaler); ok {
		if node.Kind != yaml.ScalarNode {
			refuse("must be a single value, not a %s", kindName(node))
		} else if err := text.UnmarshalText([]byte(node.Value)); err != nil {
			refuse("%s is %v", scalar.shown(), err)
		}
		return
	}
	switch into.Kind() {
	case reflect.Struct:
		d.decodeStruct(node, into, at, refuse)
	case reflect.Map:
		d.decodeMap(node, into, at, refuse)
	case reflect.Slice:
		d.decodeList(node, into, at, refuse)
	case reflect.Interface:
		d.decodeAny(node, into, at, refuse)
	default:
		if node.Kind != yaml.ScalarNode {
			refuse("must be a single value, not a %s", kindName(node))
		} else if complaint := setScalar(node, into); complaint != "" {
			refuse("%s is %s", scalar.shown(), complaint)
		}
	}
}

type refuser = func(format string, args ...any)

// substitute puts the environment into a scalar, and returns the scalar as it was written.
func (d *decoder) substitute(node *yaml.Node, refuse refuser) (written string, ok bool) {
	if node.Kind != yaml.ScalarNode {
		return "", true
	}
	written = unshield(node.Value)
	value, complaints := substitute(written, d.env)
	for _, complaint := range complaints {
		refuse("%s", complaint)
	}
	node.Value = value
	if node.Style == 0 && value != written { // plain: ${N} may be a number, which an empty value isn't, nor is it a null
		node.Tag = ""
		if value == "" || node.ShortTag() == "!!null" {
			node.Tag = "!!str"
		}
	}
	return written, len(complaints) == 0
}

func (d *decoder) decodeStruct(node *yaml.Node, into reflect.Value, at place, refuse refuser) {
	fields, met := d.fields[into.Type()]
	if !met {
		fields = fieldsByKey(into.Type())
		d.fields[into.Type()] = fields
	}
	hint := ""
	if _, ok := fields[at.name]; ok { // upstreams.route: the name is missing, or this belongs to the one before
		hint = fmt.Sprintf(": is %q indented too little?", at.name)
	}
	if node.Kind != yaml.MappingNode {
		refuse("must be a mapping (key: value), not a %s%s", kindName(node), hint)
		return
	}
	d.eachEntry(node, at, refuse, func(name string, key, value *yaml.Node) {
		field, ok := fields[name]
		switch {
		case ok:
			d.decode(value, key, into.Field(field), at.entry(name))
		case name == "<<":
			d.add(key.Line, key.Column, at.entry(name).key, "merge keys aren't supported: write the keys out")
		default:
			d.add(key.Line, key.Column, at.entry(name).key, "is not a key"+cmp.Or(hint, suggest.Suffix(name, sortedKeys(fields))))
		}
	})
}

func (d *decoder) decodeMap(node *yaml.Node, into reflect.Value, at place, refuse refuser) {
	if node.Kind == yaml.MappingNode {
		into.Set(reflect.MakeMapWithSize(into.Type(), len(node.Content)/2))
	}
	d.eachEntry(node, at, refuse, func(name string, key, value *yaml.Node) {
		element := reflect.New(into.Type().Elem()).Elem()
		setDefaults(element)
		d.decode(value, key, element, at.named(name))
		if element.Kind() == reflect.Struct && value.Kind != yaml.MappingNode && d.refused[at.entry(name).key] {
			if _, misplaced := fieldsByKey(element.Type())[name]; misplaced {
				return // nobody meant a section of this name, so that nothing is missing in it
			}
		}
		into.SetMapIndex(reflect.ValueOf(name), element)
	})
}

// eachEntry calls visit for each key of a mapping, but for one that was there before.
func (d *decoder) eachEntry(node *yaml.Node, at place, refuse refuser, visit func(name string, key, value *yaml.Node)) {
	if node.Kind != yaml.MappingNode {
		refuse("must be a mapping (key: value), not a %s", kindName(node))
		return
	}
	firstLine := make(map[string]int, len(node.Content)/2)
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			d.add(key.Line, key.Column, at.key, fmt.Sprintf("has a key that is a %s: write a plain word", kindName(key)))
			continue
		}
		name := unshield(key.Value)
		if line, ok := firstLine[name]; ok {
			d.add(key.Line, key.Column, at.entry(name).key, fmt.Sprintf("is given twice: remove it here or in line %d", line))
			continue
		}
		firstLine[name] = key.Line
		visit(name, key, value)
	}
}

func (d *decoder) decodeList(node *yaml.Node, into reflect.Value, at place, refuse refuser) {
	if node.Kind != yaml.SequenceNode {
		refuse("must be a list: write [a, b], or [] for none")
		return
	}
	list := reflect.MakeSlice(into.Type(), len(node.Content), len(node.Content))
	unset := reflect.New(into.Type().Elem()).Elem() // items have no lists or mappings as defaults, which they would share
	setDefaults(unset)
	for i, item := range node.Content {
		list.Index(i).Set(unset)
		d.decode(item, nil, list.Index(i), at.item(i))
	}
	into.Set(list)
}

// decodeAny takes what a claim can be compared to: a string, a number, true or false, or a list of these.
func (d *decoder) decodeAny(node *yaml.Node, into reflect.Value, at place, refuse refuser) {
	var value any
	switch {
	case node.Kind == yaml.SequenceNode && !at.isItem:
		list := make([]any, 0, len(node.Content))
		d.decodeList(node, reflect.ValueOf(&list).Elem(), at, refuse)
		into.Set(reflect.ValueOf(list))
		return
	case node.Kind != yaml.ScalarNode:
		refuse("must be a text, a number, true or false, or a list of these, not a %s", kindName(node))
		return
	case node.ShortTag() == "!!int" || node.ShortTag() == "!!float" || node.ShortTag() == "!!bool":
		if err := node.Decode(&value); err != nil {
			refuse("is not a number: put it in quotes if it is a text")
			return
		}
	default:
		value = node.Value
	}
	if number, ok := value.(float64); ok && (math.IsInf(number, 0) || math.IsNaN(number)) {
		refuse("is not a number that a claim can have: put it in quotes if it is a text")
		return
	}
	into.Set(reflect.ValueOf(value))
}

var wholeNumber = regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)

// setScalar returns what completes "VALUE is …" if node isn't a value of into's kind.
func setScalar(node *yaml.Node, into reflect.Value) (complaint string) {
	switch tag := node.ShortTag(); into.Kind() {
	case reflect.String:
		into.SetString(node.Value)
	case reflect.Bool:
		if tag != "!!bool" {
			return "neither true nor false"
		}
		into.SetBool(strings.EqualFold(node.Value, "true"))
	case reflect.Int:
		number, err := strconv.ParseInt(node.Value, 10, 32)
		if tag != "!!int" || !wholeNumber.MatchString(node.Value) {
			return "not a whole number: write it in plain digits, such as 5"
		}
		if err != nil {
			return "too large a number"
		}
		into.SetInt(number)
	case reflect.Float64:
		number, err := strconv.ParseFloat(node.Value, 64)
		if tag != "!!int" && tag != "!!float" || err != nil || math.IsInf(number, 0) || math.IsNaN(number) {
			return "not a number: write one such as 0.5"
		}
		into.SetFloat(number)
	default:
		panic("config: no decoding for a field of type " + into.Type().String()) // a mistake in the types, which every test finds
	}
	return ""
}

func kindName(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "mapping"
	case yaml.SequenceNode:
		return "list"
	default:
		return "single value"
	}
}
