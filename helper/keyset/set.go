package keyset

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// maxCandidates bounds how many signatures one token can make the gateway verify.
const maxCandidates = 8

// UnavailableError says that a source has no keys yet: the request can be neither accepted nor refused. Err is why, and
// RetryAfter when the source tries again.
type UnavailableError struct {
	Err        error
	RetryAfter time.Duration
}

func (e *UnavailableError) Error() string { return fmt.Sprintf("keys are unavailable: %v", e.Err) }
func (e *UnavailableError) Unwrap() error { return e.Err }

// Set is a fixed set of keys, and the source of keys for secrets and PEM files.
type Set struct {
	keys        []Key
	byAlgorithm map[string]candidates
}

// candidates is the answer to every question about one algorithm, made once.
type candidates struct {
	all      []Key            // for a token without kid
	byID     map[string][]Key // the keys of that ID, then the nameless ones
	nameless []Key            // for a kid that no key has
}

// NewSet makes a set of keys. Several may share an ID.
func NewSet(keys ...Key) *Set {
	set := &Set{keys: keys, byAlgorithm: make(map[string]candidates)}
	for _, algorithm := range Algorithms() {
		if c := candidatesFor(keys, algorithm); len(c.all) > 0 {
			set.byAlgorithm[algorithm] = c
		}
	}
	return set
}

func candidatesFor(keys []Key, algorithm string) candidates {
	c := candidates{byID: make(map[string][]Key)}
	for _, key := range keys {
		if !key.Fits(algorithm) {
			continue
		}
		c.all = append(c.all, key)
		if key.ID == "" {
			c.nameless = append(c.nameless, key)
		} else {
			c.byID[key.ID] = append(c.byID[key.ID], key)
		}
	}
	for id, named := range c.byID {
		c.byID[id] = atMost(append(named, c.nameless...))
	}
	c.all, c.nameless = atMost(c.all), atMost(c.nameless)
	return c
}

func atMost(keys []Key) []Key { return keys[:min(len(keys), maxCandidates)] }

// Keys returns the keys that may have made a signature with algorithm, at most eight: those with the ID kid and those
// without an ID, or all that fit where kid is "". None is an empty answer, not an error. The caller must not change
// the slice.
func (s *Set) Keys(_ context.Context, kid, algorithm string) ([]Key, error) {
	c := s.byAlgorithm[algorithm]
	if kid == "" {
		return c.all, nil
	}
	if named, ok := c.byID[kid]; ok {
		return named, nil
	}
	return c.nameless, nil
}

// Generation is 0: no key ever leaves a Set.
func (s *Set) Generation() uint64 { return 0 }

// Len is how many keys there are.
func (s *Set) Len() int { return len(s.keys) }

// has says whether a key has the ID kid, for whatever algorithm.
func (s *Set) has(kid string) bool {
	return kid != "" && slices.ContainsFunc(s.keys, func(key Key) bool { return key.ID == kid })
}

// Fit says whether any key may verify signatures made with one of algorithms. The error names the kinds of the keys.
func (s *Set) Fit(algorithms []string) error {
	var kinds []string
	for _, key := range s.keys {
		if slices.ContainsFunc(algorithms, key.Fits) {
			return nil
		}
		kinds = append(kinds, key.Kind())
	}
	slices.Sort(kinds)
	return fmt.Errorf("no key fits the algorithms %s: the kinds of its keys are %s",
		strings.Join(algorithms, ", "), strings.Join(slices.Compact(kinds), ", "))
}

// within says whether every key of s is among the keys of other.
func (s *Set) within(other *Set) bool {
	for _, key := range s.keys {
		if !slices.ContainsFunc(other.keys, key.equal) {
			return false
		}
	}
	return true
}
