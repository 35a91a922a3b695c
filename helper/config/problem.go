package config

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Problem is one thing that is wrong in a file. Line and Column count from 1; they are 0 where the file couldn't be read at all.
type Problem struct {
	File    string
	Line    int
	Column  int
	Key     string // such as routes[2].path; empty where the text isn't YAML
	Message string
}

// String is FILE:LINE:COLUMN: KEY: MESSAGE, without the parts that aren't known.
func (p Problem) String() string {
	where := p.File
	if p.Line > 0 {
		where = fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	}
	if strings.ContainsFunc(p.Key, unicode.IsControl) {
		p.Key = strconv.Quote(p.Key) // a name of the file's making must not break the line
	}
	if p.Key != "" {
		where += ": " + p.Key
	}
	return where + ": " + p.Message
}

// Problems is everything that is wrong in a file, sorted by line and column. It is the error of Load and Parse.
type Problems []Problem

// Error has one problem a line.
func (ps *Problems) Error() string {
	lines := make([]string, len(*ps))
	for i, p := range *ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}
