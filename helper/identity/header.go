package identity

import (
	"bytes"
	"encoding/json"
	"strings"
)

// HeaderValue renders a claim as a header's value; false means that there is none to send (nil).
//
// Strings, booleans and numbers (a json.Number verbatim) stay as they are, the elements of an array are joined by
// commas, and an object, or an array that holds one, is JSON. A byte that can't stand where it is (controls, DEL,
// non-ASCII, a space at either end, which the wire would lose, and a comma inside an element of an array) is
// percent-encoded, so CR and LF can't pass. A percent sign stays: the encoding keeps a header safe, it isn't meant to
// be undone.
func HeaderValue(claim any) (string, bool) {
	switch claim := claim.(type) {
	case nil:
		return "", false
	case string:
		return escape(claim, false), true
	case []any:
		if elements, ok := scalarTexts(claim); ok {
			return strings.Join(elements, ","), true
		}
	}
	if text, ok := scalarText(claim); ok {
		return escape(text, false), true
	}
	text, ok := marshal(claim)
	return escape(text, false), ok
}

// scalarTexts renders the elements of an array that has only scalars.
func scalarTexts(array []any) ([]string, bool) {
	texts := make([]string, len(array))
	for i, element := range array {
		text, ok := scalarText(element)
		if !ok {
			return nil, false
		}
		texts[i] = escape(text, true)
	}
	return texts, true
}

func scalarText(value any) (string, bool) {
	scalar, ok := scalarOf(value)
	if !ok {
		return "", false
	}
	switch scalar := scalar.(type) {
	case string:
		return scalar, true
	case json.Number:
		return scalar.String(), true
	case bool:
		if scalar {
			return "true", true
		}
		return "false", true
	}
	return "", false
}

func marshal(value any) (string, bool) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(value) != nil {
		return "", false
	}
	return strings.TrimSuffix(buffer.String(), "\n"), true
}

// escape percent-encodes the bytes of s that can't stand in a header, and commas where they separate.
func escape(s string, inList bool) string {
	const hex = "0123456789ABCDEF"
	plain := func(i int) bool {
		c := s[i]
		edge := i == 0 || i == len(s)-1
		return c > ' ' && c < 0x7f && !(inList && c == ',') || c == ' ' && !edge
	}
	first := 0
	for first < len(s) && plain(first) {
		first++
	}
	if first == len(s) {
		return s
	}
	var b strings.Builder
	b.WriteString(s[:first])
	for i := first; i < len(s); i++ {
		if plain(i) {
			b.WriteByte(s[i])
		} else {
			b.Write([]byte{'%', hex[s[i]>>4], hex[s[i]&0xf]})
		}
	}
	return b.String()
}
