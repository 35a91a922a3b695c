package token

import (
	"fmt"
)

// Reason is why a token was refused.
type Reason int

const (
	// Malformed means that the text isn't a token.
	Malformed Reason = iota + 1
	// Invalid means that it is one which can't be accepted: its signature, issuer, audience or times are wrong.
	Invalid
	// Expired means that everything is right but for its exp, which is past.
	Expired
	// KeysUnavailable means that it can't be judged: its provider has no keys at present.
	KeysUnavailable
)

func (r Reason) String() string {
	switch r {
	case Malformed:
		return "malformed"
	case Invalid:
		return "invalid"
	case Expired:
		return "expired"
	case KeysUnavailable:
		return "keys_unavailable"
	}
	return fmt.Sprintf("reason %d", int(r))
}

// Error is what [Verifier.Verify] returns. Its text can go to a debug log: it holds nothing of the token but its
// algorithm and kid, cut to 64 bytes, and names of claims.
type Error struct {
	Reason   Reason
	Provider string // "" while none was chosen
	Detail   string
	Err      error // the cause, where there is one
}

func (e *Error) Error() string {
	text := "token " + e.Reason.String()
	if e.Provider != "" {
		text += " for provider " + e.Provider
	}
	text += ": " + e.Detail
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// cut bounds a text of a token's header for a log line.
func cut(s string) string { return s[:min(len(s), 64)] }
