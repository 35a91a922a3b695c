package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"reflect"
	"strconv"
)

// Hash identifies the effective config: two files that mean the same have the same one. It is a SHA-256 in hexadecimal digits;
// secrets influence it, but can't be told from it.
func Hash(c *Config) string {
	sum := sha256.New()
	text := &canon{fields: map[reflect.Type][]string{}, sink: sum}
	sum.Write(text.append(nil, reflect.ValueOf(c)))
	return hex.EncodeToString(sum.Sum(nil))
}

// same tells whether two values mean the same; an empty list or map is none.
func same(a, b reflect.Value) bool {
	c := &canon{fields: map[reflect.Type][]string{}}
	return bytes.Equal(c.append(nil, a), c.append(nil, b))
}

const sinkSize = 16 << 10

// canon writes texts that differ where values differ. Every text in one is quoted, so that none can pass for structure.
type canon struct {
	sink   hash.Hash                 // gets what is written, now and then; nil: it is kept
	fields map[reflect.Type][]string // the names of the sections that were met; nil: it is one text
}

func (c *canon) append(to []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return append(to, '-')
		}
		return c.append(to, v.Elem())
	case reflect.Struct:
		return c.appendStruct(to, v)
	case reflect.Map:
		if v.Len() == 0 {
			return append(to, "{}"...)
		}
		to = append(to, '{')
		entries := make(map[string]reflect.Value, v.Len())
		for each := v.MapRange(); each.Next(); {
			entries[each.Key().String()] = each.Value()
		}
		for _, key := range sortedKeys(entries) {
			to = c.append(append(strconv.AppendQuote(to, key), ':'), entries[key])
		}
		return append(to, '}')
	case reflect.Slice:
		to = append(to, '[')
		for i := range v.Len() {
			to = append(c.append(to, v.Index(i)), ',')
			if c.sink != nil && len(to) > sinkSize {
				c.sink.Write(to)
				to = to[:0]
			}
		}
		return append(to, ']')
	case reflect.String: // also a Secret, whose String would hide it
		return strconv.AppendQuote(to, v.String())
	case reflect.Int, reflect.Int64:
		return strconv.AppendInt(to, v.Int(), 10)
	case reflect.Bool:
		return strconv.AppendBool(to, v.Bool())
	default:
		return fmt.Append(to, v.Interface())
	}
}

func (c *canon) appendStruct(to []byte, v reflect.Value) []byte {
	names, met := c.fields[v.Type()]
	if !met {
		if _, isText := v.Interface().(fmt.Stringer); !isText {
			for i := range v.NumField() {
				names = append(names, v.Type().Field(i).Name+":")
			}
		}
		c.fields[v.Type()] = names
	}
	if names == nil { // Date, Prefix and Rate
		return strconv.AppendQuote(to, fmt.Sprint(v.Interface()))
	}
	to = append(to, '{')
	for i, name := range names {
		to = c.append(append(to, name...), v.Field(i))
	}
	return append(to, '}')
}
