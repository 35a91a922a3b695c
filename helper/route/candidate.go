package route

import (
	"net/http"
	"slices"
)

// Verdict is what became of a candidate.
type Verdict uint8

// The verdicts.
const (
	// Wins is the rule that Match returns.
	Wins Verdict = iota
	// LessSpecific is a rule that would have matched if it weren't for the winner.
	LessSpecific
	// OtherMethod is a rule that doesn't admit the method.
	OtherMethod
	// OtherHeaders is a rule whose header conditions don't hold.
	OtherHeaders
)

func (v Verdict) String() string {
	switch v {
	case Wins:
		return "matches"
	case LessSpecific:
		return "is less specific"
	case OtherMethod:
		return "doesn't admit the method"
	case OtherHeaders:
		return "has header conditions that don't hold"
	default:
		return "has an unknown verdict"
	}
}

// Candidate is a rule that path and host allow.
type Candidate struct {
	// Index is the position of the rule in the list that New got.
	Index int
	// Verdict says why the rule won or lost.
	Verdict Verdict
}

// Candidates returns the rules that path and host allow, the most specific first. It explains Match, with the same
// arguments, to a person; Match is what a request uses.
func (t *Table) Candidates(host, path, method string, h http.Header) []Candidate {
	var candidates []Candidate
	best := Wins
	t.walk(host, path, func(c compiled) bool {
		// A rule with both a host and a wildcard over it is met twice.
		if slices.ContainsFunc(candidates, func(other Candidate) bool { return other.Index == c.index }) {
			return false
		}
		verdict := best
		switch {
		case !c.admits(method):
			verdict = OtherMethod
		case !c.headersHold(h):
			verdict = OtherHeaders
		default:
			best = LessSpecific
		}
		candidates = append(candidates, Candidate{Index: c.index, Verdict: verdict})
		return false
	})
	return candidates
}
