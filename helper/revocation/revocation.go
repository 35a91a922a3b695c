package revocation

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"gatehouse/helper/identity"
)

// Kind is what an entry names.
type Kind string

// The kinds.
const (
	TokenID Kind = "jti"
	Subject Kind = "sub"
	KeyID   Kind = "kid"
)

// maxValue bounds what an entry names, in bytes.
const maxValue = 1024

// Name is what is revoked.
type Name struct {
	Kind  Kind
	Value string
}

// ParseName reads jti:VALUE, sub:VALUE or kid:VALUE.
func ParseName(text string) (Name, error) {
	kind, value, _ := strings.Cut(text, ":")
	name := Name{Kind(kind), value}
	switch {
	case name.Kind != TokenID && name.Kind != Subject && name.Kind != KeyID:
		return Name{}, errors.New("an entry is jti:…, sub:… or kid:…")
	case value == "" || len(value) > maxValue || !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl):
		return Name{}, fmt.Errorf("what stands after %s: is 1 to %d bytes of text", kind, maxValue)
	}
	return name, nil
}

// String is the form that ParseName reads.
func (n Name) String() string { return string(n.Kind) + ":" + n.Value }

// ParseFile reads one entry a line. Empty lines, and those that begin with #, say nothing. The error names the line.
func ParseFile(content []byte) ([]Name, error) {
	var names []Name
	number := 0
	for line := range strings.Lines(string(content)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, err := ParseName(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		names = append(names, name)
	}
	return names, nil
}

// Entry is one entry in force.
type Entry struct {
	Name
	Until    time.Time // zero: as long as it stands in the file
	FromFile bool
}

// List is the entries in force. The zero List has none.
type List struct {
	mu     sync.Mutex        // held by whoever changes something
	files  map[string][]Name // by path
	added  map[Name]time.Time
	lookup atomic.Pointer[map[Name]time.Time] // both; never changed after it was stored
}

// SetFile puts names in the place of the entries that came from the file at path before.
func (l *List) SetFile(path string, names []Name) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.files == nil {
		l.files = make(map[string][]Name)
	}
	l.files[path] = names
	l.publish()
}

// Add revokes name until the given time; a later end of an entry that is there already stays.
func (l *List) Add(name Name, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.added == nil {
		l.added = make(map[Name]time.Time)
	}
	if l.added[name].Before(until) {
		l.added[name] = until
	}
	l.publish()
}

// Remove takes away what was added, and says whether there was something. What stands in the file stays in force.
func (l *List) Remove(name Name) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, there := l.added[name]
	delete(l.added, name)
	l.publish()
	return there
}

// publish makes what was changed take effect, and forgets what has ended.
func (l *List) publish() {
	now := time.Now()
	maps.DeleteFunc(l.added, func(_ Name, until time.Time) bool { return !now.Before(until) })
	lookup := maps.Clone(l.added)
	if lookup == nil {
		lookup = make(map[Name]time.Time)
	}
	for _, names := range l.files {
		for _, name := range names {
			lookup[name] = time.Time{}
		}
	}
	l.lookup.Store(&lookup)
}

// Entries lists what is in force, sorted.
func (l *List) Entries() []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	entries := []Entry{}
	for _, names := range l.files {
		for _, name := range names {
			entries = append(entries, Entry{Name: name, FromFile: true})
		}
	}
	for name, until := range l.added {
		if now.Before(until) {
			entries = append(entries, Entry{Name: name, Until: until})
		}
	}
	slices.SortFunc(entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Value, b.Value), a.Until.Compare(b.Until))
	})
	return slices.Compact(entries) // a file may say the same twice
}

// Match returns the entry by which the caller's credential is refused; false: there is none.
func (l *List) Match(p *identity.Principal) (Name, bool) {
	lookup := l.lookup.Load()
	if lookup == nil || len(*lookup) == 0 {
		return Name{}, false
	}
	for _, name := range [...]Name{{TokenID, p.TokenID}, {Subject, p.Subject}, {KeyID, p.KeyID}} {
		if until, listed := (*lookup)[name]; listed && (until.IsZero() || time.Now().Before(until)) {
			return name, true
		}
	}
	return Name{}, false
}
