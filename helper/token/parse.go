package token

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"
)

// maxSize bounds a token's text, in bytes: real tokens with group claims reach 12 KiB.
const maxSize = 16 << 10

// unverified is a token's content before anything about it is known to be true.
type unverified struct {
	algorithm string
	kid       string // "" if the header has none
	claims    map[string]any
	signed    string // what the signature is over
	signature []byte
}

// parse takes a token apart. It never judges by what the token says of itself, beyond refusing what is ambiguous.
func parse(raw string) (*unverified, error) {
	if len(raw) > maxSize {
		return nil, refuse(Malformed, "longer than %d bytes", maxSize)
	}
	headerText, rest, ok1 := strings.Cut(raw, ".")
	claimsText, signatureText, ok2 := strings.Cut(rest, ".")
	if !ok1 || !ok2 || strings.Contains(signatureText, ".") {
		return nil, refuse(Malformed, "not three parts")
	}
	// Go's decoder passes over line breaks, which would give one token many spellings.
	if strings.ContainsAny(raw, "\r\n") {
		return nil, refuse(Malformed, "a line break inside")
	}
	token := &unverified{signed: raw[:len(headerText)+1+len(claimsText)]}
	header, err := decodePart(headerText)
	if err != nil {
		return nil, &Error{Reason: Malformed, Detail: "decoding the header", Err: err}
	}
	if token.claims, err = decodePart(claimsText); err != nil {
		return nil, &Error{Reason: Malformed, Detail: "decoding the claims", Err: err}
	}
	if token.signature, err = base64.RawURLEncoding.Strict().DecodeString(signatureText); err != nil {
		return nil, refuse(Malformed, "its signature isn't base64url")
	}
	return token, token.readHeader(header)
}

// readHeader reads alg and kid. jku, x5u, jwk and x5c, by which a token would bring its own keys, aren't looked at.
func (t *unverified) readHeader(header map[string]any) error {
	var ok bool
	if t.algorithm, ok = header["alg"].(string); !ok {
		return refuse(Malformed, "its alg isn't a string")
	}
	if kid, present := header["kid"]; present {
		if t.kid, ok = kid.(string); !ok {
			return refuse(Malformed, "its kid isn't a string")
		}
	}
	// crit names extensions that must be understood (RFC 7515, section 4.1.11), and none is.
	if _, present := header["crit"]; present {
		return refuse(Invalid, "its header has crit")
	}
	return nil
}

// The errors of decodePart are fixed texts, so that nothing of a token gets into a log.
var (
	errBase64    = errors.New("not base64url")
	errObject    = errors.New("not a JSON object in UTF-8")
	errDuplicate = errors.New("a name is given twice")
)

// decodePart decodes a JSON object in base64url, its numbers as json.Number, and refuses one with a name given twice:
// which of the two counts is a matter on which readers differ (RFC 7519, section 4).
func decodePart(text string) (map[string]any, error) {
	data, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, errBase64
	}
	var object map[string]any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if !utf8.Valid(data) || decoder.Decode(&object) != nil || object == nil {
		return nil, errObject
	}
	if trailing := data[decoder.InputOffset():]; len(bytes.Trim(trailing, " \t\r\n")) > 0 {
		return nil, errObject
	}
	// The decoder keeps one value per name, so an object with a name given twice has more members as text than it
	// has decoded.
	if membersOfText(data) != membersOf(object) {
		return nil, errDuplicate
	}
	return object, nil
}

// membersOfText counts the members of all objects in valid JSON: each has one colon outside of strings.
func membersOfText(data []byte) int {
	count, inString := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			inString = !inString
		case c == '\\':
			i++ // only strings have backslashes; what is escaped ends none
		case c == ':' && !inString:
			count++
		}
	}
	return count
}

func membersOf(value any) int {
	count := 0
	switch value := value.(type) {
	case map[string]any:
		count = len(value)
		for _, member := range value {
			count += membersOf(member)
		}
	case []any:
		for _, element := range value {
			count += membersOf(element)
		}
	}
	return count
}
