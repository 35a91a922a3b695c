package config

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Environment substitution in two steps, so that a value can never become YAML structure, and a variable in a comment is
// never looked at: shield, before the text is parsed, replaces the ASCII characters inside ${…} by private-use runes that mean
// nothing to YAML (as many runes, so columns stay right), and substitute puts values into the scalars that the parser found.

const shieldBase = '\uE000'

var (
	variableForm = regexp.MustCompile(`\$\$|\$\{[A-Za-z_][A-Za-z0-9_]*(?::-[^}\n]*)?\}`)
	shieldedForm = regexp.MustCompile(`\$\x{E07B}[^\x{E07D}]*\x{E07D}`)
	variable     = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)(?:(:-)([^}]*))?\}`)
)

func shield(text string) string {
	return variableForm.ReplaceAllStringFunc(text, func(found string) string {
		if found == "$$" {
			return found
		}
		return "$" + strings.Map(func(r rune) rune {
			if r < utf8.RuneSelf {
				return shieldBase + r
			}
			return r
		}, found[1:])
	})
}

func unshield(text string) string {
	if !strings.Contains(text, "$") { // nearly always
		return text
	}
	return shieldedForm.ReplaceAllStringFunc(text, func(found string) string {
		return strings.Map(func(r rune) rune {
			if shieldBase <= r && r < shieldBase+utf8.RuneSelf {
				return r - shieldBase
			}
			return r
		}, found)
	})
}

// variables names those in text that the environment gives a value, and not their fallback.
func variables(text string, env func(string) (string, bool)) string {
	var names []string
	for _, match := range variableForm.FindAllString(text, -1) {
		if match == "$$" {
			continue
		}
		parts := variable.FindStringSubmatch(match)
		if value, _ := env(parts[1]); (value != "" || parts[2] == "") && !slices.Contains(names, parts[1]) {
			names = append(names, parts[1])
		}
	}
	return strings.Join(names, ", ")
}

// substitute replaces ${NAME}, ${NAME:-fallback} (also for an empty value, as in a shell) and $$ in text. complaints are about
// variables that can't be replaced; they never hold a value.
func substitute(text string, env func(string) (string, bool)) (result string, complaints []string) {
	if !strings.Contains(text, "$") {
		return text, nil
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "$")
		b.WriteString(before)
		if !found {
			return b.String(), complaints
		}
		match := variable.FindStringSubmatch("$" + rest)
		switch {
		case strings.HasPrefix(rest, "$"):
			b.WriteByte('$')
			text = rest[1:]
			continue
		case match == nil && strings.HasPrefix(rest, "{"):
			complaints = append(complaints, "${ doesn't begin a variable here: write ${NAME}, ${NAME:-fallback}, or $$ for a plain $")
			text = rest
			continue
		case match == nil:
			b.WriteByte('$')
			text = rest
			continue
		}
		name, hasFallback, fallback := match[1], match[2] != "", match[3]
		value, set := env(name)
		switch {
		case hasFallback && value == "":
			value = fallback
		case !set:
			complaints = append(complaints, "the environment variable "+name+" isn't set: set it, or write ${"+name+":-fallback}")
		case !utf8.ValidString(value):
			complaints = append(complaints, "the environment variable "+name+" isn't UTF-8")
		}
		b.WriteString(value)
		text = rest[len(match[0])-1:]
	}
}
