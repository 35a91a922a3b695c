package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// maxFileSize bounds what a mistaken --config can make the process read.
const maxFileSize = 4 << 20

// Check judges what this package doesn't know, so that all problems are in one report. What is nil isn't looked at.
type Check struct {
	// Filter gives, for one configuration, the function that says what is wrong with an item of a route's list of filters. Its
	// errors complete "KEY: " and don't show secrets.
	Filter func(*Config) func(r *Route, item string) error
	// File and Folder say why a file that a key names can't be read, or why the folder of one that is written isn't there.
	File, Folder func(path string) error
}

// Load reads and parses the file at path; see Parse. That the file can't be read is a *Problems too.
func Load(path string, env func(string) (string, bool), checks ...Check) (*Config, error) {
	text, err := readFile(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	return Parse(path, text, env, checks...)
}

func unreadable(path string, err error) error {
	where := LookedFor(err)
	if pathError := new(fs.PathError); errors.As(err, &pathError) {
		err = pathError.Err // the path stands before it already
	}
	return &Problems{{File: path, Message: fmt.Sprintf("can't be read: %v%s", err, where)}}
}

func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	return io.ReadAll(io.LimitReader(file, maxFileSize+1))
}

// Parse decodes text strictly, sets the defaults, resolves the short forms and validates. Its error is a *Problems with
// everything that is wrong. name stands for the file in problems; env is asked for ${NAME}, and is os.LookupEnv but in tests.
//
// ${NAME}, ${NAME:-fallback} and $$ (a plain $) are replaced in values, after the text is parsed: a value from the environment
// is always one scalar, whatever it contains. In a plain scalar it may become a number (max: ${N}); a quoted one stays a text.
//
// Without checks nothing but text and env is looked at.
func Parse(name string, text []byte, env func(string) (string, bool), checks ...Check) (*Config, error) {
	c, _, err := parse(name, text, env, checks)
	return c, err
}

// Review is Load, and says what else may not be meant: warnings, sorted like problems. They are right to have all the same.
func Review(path string, env func(string) (string, bool), checks ...Check) (*Config, Problems, error) {
	text, err := readFile(path)
	if err != nil {
		return nil, nil, unreadable(path, err)
	}
	c, at, err := parse(path, text, env, checks)
	if err != nil {
		return nil, nil, err
	}
	return c, c.warnings(at), nil
}

// places is where in the file a valid config's keys stand.
type places struct {
	*report
	routeKeys []string
}

func parse(name string, text []byte, env func(string) (string, bool), checks []Check) (*Config, places, error) {
	r := newReport(name)
	r.marks = make(map[string]mark, bytes.Count(text, []byte(":")))
	root := r.parseYAML(text)
	if root == nil {
		return nil, places{}, r.err()
	}
	c := &Config{}
	setDefaults(reflect.ValueOf(c).Elem())
	newDecoder(r, env).decode(root, nil, reflect.ValueOf(c).Elem(), place{})
	if r.refused[""] { // it isn't a mapping: every section would be missing
		return nil, places{}, r.err()
	}
	routeKeys := c.resolve(r)
	r.checks = checks
	for _, check := range checks {
		if check.Filter != nil {
			r.filterChecks = append(r.filterChecks, check.Filter(c))
		}
	}
	c.validate(section{r, ""}, routeKeys)
	if err := r.err(); err != nil {
		return nil, places{}, err
	}
	return c, places{r, routeKeys}, nil
}

// parseYAML returns the root node of the only document in text, or nil after reporting why there is none.
func (r *report) parseYAML(text []byte) *yaml.Node {
	if len(text) > maxFileSize {
		r.add(1, 1, "", "is larger than 4 MiB: is it a config file?")
		return nil
	}
	if !r.checkCharacters(text) {
		return nil
	}
	documents := yaml.NewDecoder(strings.NewReader(shield(string(text))))
	var first, second yaml.Node
	err := documents.Decode(&first)
	if errors.Is(err, io.EOF) || err == nil && len(first.Content) == 1 && first.Content[0].ShortTag() == "!!null" {
		r.add(1, 1, "", "is empty: "+cmp.Or(r.remedy, "write at least upstreams: with one upstream and its route"))
		return nil
	}
	if err == nil {
		err = documents.Decode(&second)
		if err == nil {
			r.add(second.Line, second.Column, "", "a second document begins here: put everything into one, without ---")
			return nil
		}
	}
	if !errors.Is(err, io.EOF) {
		r.addSyntaxError(err, text)
		return nil
	}
	return first.Content[0]
}

// checkCharacters refuses what no YAML text may contain; yaml.v3 would report it without a line.
func (r *report) checkCharacters(text []byte) bool {
	line, column := 1, 1
	for rest := text; len(rest) > 0; column++ {
		char, size := utf8.DecodeRune(rest)
		switch {
		case char == utf8.RuneError && size == 1:
			r.add(line, column, "", "isn't UTF-8 here: save the file as UTF-8")
			return false
		case char == '\n':
			line, column = line+1, 0
		case char < ' ' && char != '\t' && char != '\r' || char == 0x7f || 0x80 <= char && char < 0xa0 && char != 0x85:
			r.add(line, column, "", fmt.Sprintf("has the control character %U here: remove it", char))
			return false
		}
		rest = rest[size:]
	}
	return true
}

var (
	syntaxError = regexp.MustCompile(`^yaml: (?:line ([0-9]+): )?(.*)$`)
	parserError = regexp.MustCompile(`^did not find expected (',' or|key$|'-' indicator|node content|<)`)
	blockError  = regexp.MustCompile(`^did not find expected (key$|'-' indicator)`) // its line is where the block begins
)

// addSyntaxError takes the line out of the text of a yaml.v3 error: the library has no type for it.
func (r *report) addSyntaxError(err error, text []byte) {
	line, message := 1, err.Error()
	if match := syntaxError.FindStringSubmatch(message); match != nil {
		message = match[2]
		if number, err := strconv.Atoi(match[1]); err == nil {
			line = number
			if parserError.MatchString(message) { // whose lines yaml.v3 counts from 0, unlike its scanner's
				line++
			}
		}
	}
	lines := bytes.Split(text, []byte("\n"))
	for number := max(1, line-1); number <= min(line+1, len(lines)); number++ {
		indent := lines[number-1][:len(lines[number-1])-len(bytes.TrimLeft(lines[number-1], " \t"))]
		if tab := bytes.IndexByte(indent, '\t'); tab >= 0 {
			r.add(number, tab+1, "", "a tab can't indent YAML: write spaces")
			return
		}
	}
	if number := misindented(lines, line); number > 0 && blockError.MatchString(message) {
		indent := len(lines[number-1]) - len(bytes.TrimLeft(lines[number-1], " "))
		r.add(number, indent+1, "", "isn't YAML: the indentation of this line fits no line above it: give it as many spaces as those that it belongs to")
		return
	}
	r.add(line, 1, "", "isn't YAML: "+unshield(message)+syntaxHint(message))
}

// misindented finds the line that ends the block which begins at line from, but with another indentation than any block
// around it: the usual reason for a block that ends too early. It returns 0 if there is none.
func misindented(lines [][]byte, from int) int {
	var open []int // the indentations of the blocks that are open
	brackets := 0
	for number := from; number <= len(lines); number++ {
		text := bytes.TrimLeft(lines[number-1], " ")
		indent := len(lines[number-1]) - len(text)
		if text = bytes.TrimSpace(text); len(text) == 0 || text[0] == '#' {
			continue
		}
		inside := brackets > 0 // where any indentation will do
		brackets += bytes.Count(text, []byte("[")) + bytes.Count(text, []byte("{")) - bytes.Count(text, []byte("]")) - bytes.Count(text, []byte("}"))
		if inside {
			continue
		}
		deepest := len(open)
		for len(open) > 0 && open[len(open)-1] > indent {
			open = open[:len(open)-1]
		}
		switch {
		case len(open) == 0 && deepest > 0:
			return 0 // the block has ended
		case len(open) < deepest && open[len(open)-1] != indent:
			return number
		}
		for {
			if len(open) == 0 || open[len(open)-1] < indent {
				open = append(open, indent)
			}
			item := bytes.TrimLeft(bytes.TrimPrefix(text, []byte("- ")), " ")
			if len(item) == len(text) {
				break
			}
			indent, text = indent+len(text)-len(item), item
		}
	}
	return 0
}

// syntaxHint says what is usually behind an error of the parser, which tells where it gave up rather than what is wrong.
func syntaxHint(message string) string {
	switch {
	case strings.Contains(message, "mapping values are not allowed"):
		return ": a text that contains \": \" needs quotes; or is the indentation of this line or the one before it wrong?"
	case strings.Contains(message, "end of stream"):
		return ": is a quote not closed?"
	case strings.Contains(message, "',' or"):
		return ": is a comma or the closing bracket missing, here or in the line before?"
	case strings.Contains(message, "character that cannot start"):
		return ": put the text in quotes"
	default:
		return ": often the line before is the wrong one: is there a space after each ':', and does the indentation fit?"
	}
}
