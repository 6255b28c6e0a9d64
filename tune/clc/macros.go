package clc

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Redefinition is a directive of a source that defines a macro, or removes its definition, although
// the compiler's options define the macro.
type Redefinition struct {
	Macro     string
	File      string // of the last #line directive that names one, or ""
	Line      int    // from 1, as compilers count
	Text      string // the directive on one line, without comments
	Arguments bool   // it defines a macro with arguments
}

// Place returns the place of the directive for messages: «kernel.cl:12» or «line 12 of the source».
func (r Redefinition) Place() string {
	if r.File == "" {
		return fmt.Sprintf("line %d of the source", r.Line)
	}
	return fmt.Sprintf("%s:%d", r.File, r.Line)
}

// Override returns a source without the #define and #undef directives of some macros, so that the
// compiler's options decide, and the directives that it removed. All lines keep their numbers. Override
// keeps a directive that the compiler does not reach once the macros are defined: under #ifndef of the
// same macro, under #if !defined, and under #if 0. It evaluates no other conditions, and removes a
// directive that depends on them.
func Override(text string, macros []string) (string, []Redefinition) {
	if !slices.ContainsFunc(macros, func(name string) bool { return strings.Contains(text, name) }) {
		return text, nil
	}
	var removed []Redefinition
	var out strings.Builder
	var open []condition
	done := 0
	file, shift := "", 0 // the compiler's line is the line of the text plus shift
	for _, d := range scanDirectives(text).directives {
		name, rest := splitMacro(d.argument)
		switch {
		case strings.HasPrefix(d.name, "if"):
			open = append(open, conditionOf(d))
		case strings.HasPrefix(d.name, "el") && len(open) > 0:
			open[len(open)-1].branch(d.name == "else")
		case d.name == "endif" && len(open) > 0:
			open = open[:len(open)-1]
		case d.name == "line":
			number, path, _ := strings.Cut(d.argument, " ")
			if n, err := strconv.Atoi(number); err == nil {
				shift = n - d.nextLine
			}
			if path, err := strconv.Unquote(path); err == nil {
				file = path
			}
		case (d.name == "define" || d.name == "undef") && slices.Contains(macros, name):
			if slices.ContainsFunc(open, func(c condition) bool { return c.skips(name) }) {
				continue
			}
			out.WriteString(text[done:d.start])
			out.WriteString(strings.Repeat("\n", d.endLine-d.line))
			done = d.end
			removed = append(removed, Redefinition{
				name, file, d.line + shift, "#" + d.name + " " + d.argument, strings.HasPrefix(rest, "("),
			})
		}
	}
	if len(removed) == 0 {
		return text, nil
	}
	out.WriteString(text[done:])
	return out.String(), removed
}

// splitMacro splits the argument of a #define into the name of the macro and the text after it.
func splitMacro(argument string) (name, rest string) {
	end := strings.IndexFunc(argument, func(c rune) bool { return !isWord(c) })
	if end < 0 {
		return argument, ""
	}
	return argument[:end], argument[end:]
}

func isWord(c rune) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// A condition is the current branch of an #if that is known to be taken or not, at least once a
// macro is defined.
type condition struct {
	macro string // the macro that must be defined; "": the branch does not depend on one
	known bool
	taken bool
	past  bool // an earlier branch is taken
}

func conditionOf(d directive) condition {
	switch plain := strings.ReplaceAll(d.argument, " ", ""); {
	case d.name == "ifndef":
		return condition{macro: plain, known: true}
	case d.name == "ifdef":
		return condition{macro: plain, known: true, taken: true}
	case plain == "0" || plain == "1":
		return condition{known: true, taken: plain == "1"}
	default:
		rest, negated := strings.CutPrefix(plain, "!")
		if rest, ok := strings.CutPrefix(rest, "defined"); ok {
			if name := strings.TrimSuffix(strings.TrimPrefix(rest, "("), ")"); name != "" && strings.IndexFunc(name, func(c rune) bool { return !isWord(c) }) < 0 {
				return condition{macro: name, known: true, taken: !negated}
			}
		}
	}
	return condition{}
}

// branch goes on to the next branch of the #if: its #else or an #elif.
func (c *condition) branch(last bool) {
	c.past = c.past || c.known && c.taken
	switch {
	case c.past:
		c.taken = false
	case last && c.known:
		c.taken = true
	default:
		c.known = false
	}
}

// skips reports whether the compiler skips the branch if the macro is defined.
func (c condition) skips(macro string) bool {
	return c.known && !c.taken && (c.macro == "" || c.macro == macro)
}

// Identifiers returns the words of a source outside comments and literals: its identifiers, keywords and
// numbers, those of directives included.
func Identifiers(text string) map[string]bool {
	words := map[string]bool{}
	s := &cScanner{text: text, line: 1}
	for s.pos < len(s.text) {
		if s.skipBlank() {
			continue
		}
		if word := s.word(); word != "" {
			words[word] = true
		} else {
			s.token()
		}
	}
	return words
}

// HasIncludes reports whether a source includes files whose text is not in it.
func HasIncludes(text string) bool {
	return slices.ContainsFunc(scanDirectives(text).directives, func(d directive) bool { return d.name == "include" })
}
