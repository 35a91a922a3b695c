package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gatehouse/helper/suggest"
)

// report collects the problems of one file, and knows where each key of it stands.
type report struct {
	file     string
	remedy   string // what to write into an empty file; "": a config
	problems Problems
	marks    map[string]mark
	refused  map[string]bool // keys with a problem: what follows from it needs no second one
	unread   map[string]bool // those whose value couldn't be read, so that nothing is known of what is below them

	checks       []Check
	filterChecks []func(*Route, string) error
}

func newReport(file string) *report {
	return &report{file: file, marks: map[string]mark{}, refused: map[string]bool{}, unread: map[string]bool{}}
}

// mark is one key that the file gives.
type mark struct {
	line, column int
	text         string // a scalar as it is written in the file, so before substitution
	variables    string // those of the environment that its value has come from
}

// shown names a scalar to a person, in quotes as it is written, and never shows what the environment has made of it.
func (m mark) shown() string {
	switch {
	case m.variables == "":
		return quoted(m.text)
	case variable.FindString(m.text) == m.text:
		return "the value of the environment variable " + m.variables
	default:
		return quoted(m.text) + " with " + m.variables + " from the environment"
	}
}

// quoted is a value without what may be a password: what stands before an @, as in a URL, and a URL's query.
func quoted(value string) string {
	scheme, rest, isURL := strings.Cut(value, "://")
	if isURL = isURL && !strings.ContainsAny(scheme, ":@"); isURL {
		scheme += "://"
	} else {
		scheme, rest = "", value
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 && !strings.HasPrefix(rest, "/") {
		rest = "***" + rest[at:]
	}
	if place, _, has := strings.Cut(rest, "?"); has && isURL {
		rest = place + "?***"
	}
	return strconv.Quote(scheme + rest)
}

func (r *report) add(line, column int, key, message string) {
	r.refused[key] = true
	r.problems = append(r.problems, Problem{r.file, line, column, key, message})
}

// hidden tells whether a key, or one that it is below, couldn't be read.
func (r *report) hidden(key string) bool {
	for ; key != ""; key = above(key) {
		if r.unread[key] {
			return true
		}
	}
	return false
}

// refusedBelow tells whether a key, or one below it, has a problem.
func (r *report) refusedBelow(key string) bool {
	for refused := range r.refused {
		if rest, ok := strings.CutPrefix(refused, key); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}

// above is the key that another is below of; "" is the file.
func above(key string) string { return key[:max(0, strings.LastIndexAny(key, ".["))] }

// place is where a key stands, or what it would be in.
func (r *report) place(key string) mark {
	for ; key != ""; key = above(key) {
		if found, ok := r.marks[key]; ok {
			return found
		}
	}
	return mark{line: 1, column: 1}
}

// err is the problems in order, or nil.
func (r *report) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	slices.SortFunc(r.problems, func(a, b Problem) int {
		return cmp.Or(a.Line-b.Line, a.Column-b.Column, cmp.Compare(a.Key, b.Key), cmp.Compare(a.Message, b.Message))
	})
	return &r.problems
}

// section is a key as validation sees it.
type section struct {
	*report
	key string
}

func (s section) at(name string) section {
	if s.key == "" {
		return section{s.report, name}
	}
	return section{s.report, s.key + "." + name}
}

func (s section) item(index int) section {
	return section{s.report, s.key + "[" + strconv.Itoa(index) + "]"}
}

func (s section) given() bool {
	_, ok := s.marks[s.key]
	return ok
}

// written is the value as it is in the file, in quotes, or whose it is in the environment.
func (s section) written() string { return s.marks[s.key].shown() }

// refuse reports a problem with the key, unless it has one already or is below one that couldn't be read. A key that isn't
// there is reported where its section is.
func (s section) refuse(format string, args ...any) {
	if s.refused[s.key] || s.hidden(s.key) {
		return
	}
	where := s.place(s.key)
	s.add(where.line, where.column, s.key, fmt.Sprintf(format, args...))
}

func (s section) oneOf(value string, allowed ...string) {
	if !slices.Contains(allowed, value) {
		s.refuse("%s is not one of %s%s", s.written(), strings.Join(allowed, ", "), suggest.Suffix(value, allowed))
	}
}

func (s section) within(value, least, most float64) {
	if value < least || value > most {
		s.refuse("%s is out of range: write a number from %v to %v", s.written(), least, most)
	}
}

func (s section) atLeast(value, least int) {
	if value < least {
		s.refuse("%s is too small: write %d or more", s.written(), least)
	}
}

func (s section) positive(value Duration) {
	if value <= 0 {
		s.refuse("%s is too short: write more than 0s", s.written())
	}
}

func (s section) needed(value string, what string) bool {
	if value == "" {
		s.refuse("is needed: write %s", what)
	}
	return value != ""
}
