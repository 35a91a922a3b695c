package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Hash identifies the effective config: two files that mean the same have the same one. It is a SHA-256 in hexadecimal digits;
// secrets influence it, but can't be told from it.
func Hash(c *Config) string {
	sum := sha256.New()
	writeCanonical(sum, reflect.ValueOf(c))
	return hex.EncodeToString(sum.Sum(nil))
}

// same tells whether two values mean the same; an empty list or map is none.
func same(a, b reflect.Value) bool {
	var textA, textB strings.Builder
	writeCanonical(&textA, a)
	writeCanonical(&textB, b)
	return textA.String() == textB.String()
}

// writeCanonical writes a text that differs where values differ. Every text in it is quoted, so that none can pass for structure.
func writeCanonical(w io.Writer, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			fmt.Fprint(w, "-")
			return
		}
		writeCanonical(w, v.Elem())
	case reflect.Struct:
		if date, ok := v.Interface().(fmt.Stringer); ok { // Date, Prefix and Rate
			fmt.Fprintf(w, "%q", date)
			return
		}
		fmt.Fprint(w, "{")
		for i := range v.NumField() {
			fmt.Fprintf(w, "%s:", v.Type().Field(i).Name)
			writeCanonical(w, v.Field(i))
		}
		fmt.Fprint(w, "}")
	case reflect.Map:
		fmt.Fprint(w, "{")
		keys := map[string]reflect.Value{}
		for _, key := range v.MapKeys() {
			keys[key.String()] = v.MapIndex(key)
		}
		for _, key := range sortedKeys(keys) {
			fmt.Fprintf(w, "%q:", key)
			writeCanonical(w, keys[key])
		}
		fmt.Fprint(w, "}")
	case reflect.Slice:
		fmt.Fprint(w, "[")
		for i := range v.Len() {
			writeCanonical(w, v.Index(i))
			fmt.Fprint(w, ",")
		}
		fmt.Fprint(w, "]")
	case reflect.String: // also a Secret, whose String would hide it
		fmt.Fprintf(w, "%q", v.String())
	case reflect.Int, reflect.Int64:
		fmt.Fprint(w, v.Int())
	default:
		fmt.Fprint(w, v.Interface())
	}
}
