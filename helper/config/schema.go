package config

import (
	_ "embed"
	"slices"
)

// schema is made from the types, their defaults and their doc comments by go generate; a test says when it is stale.
//
//go:embed schema.json
var schema []byte

// Schema is the JSON Schema (draft 2020-12) of config.yaml, for editors: each key with its meaning, its default and the form of
// its values. It accepts every file that Parse does, and knows no more than one key at a time: references are Parse's.
func Schema() []byte { return slices.Clone(schema) }
