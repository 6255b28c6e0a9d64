package source

import (
	"iter"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
)

// A Redefinition is a directive of a source that defines a macro, or removes its definition, although
// the compiler's options define the macro.
type Redefinition struct {
	Macro     string
	At        Place
	Text      string // the directive on one line, without comments
	Arguments bool   // it defines a macro with arguments
}

// Override returns a source without the #define and #undef directives of some macros, so that the
// compiler's options, which define them all, decide; and the directives that it removed. All lines keep
// their numbers. A directive that the compiler does not reach stays, such as one under #ifndef of a macro that is
// defined, or under #if 0. Others are macros that the options define besides. Values of macros are not known: a
// directive that depends on them is removed.
func Override(text string, macros, others []string) (string, []Redefinition) {
	if !slices.ContainsFunc(macros, func(name string) bool { return strings.Contains(text, name) }) {
		return text, nil
	}
	directives := scanDirectives(text).directives
	table := tableOf(text)
	for _, d := range directives {
		if name, _ := splitMacro(d.argument); d.name == "define" || d.name == "undef" {
			table[name] = macroState{anyText, unknown}
		}
	}
	for _, name := range others {
		if _, again := table[name]; !again {
			table[name] = macroState{anyText, yes}
		}
	}
	for _, name := range macros {
		table[name] = macroState{anyText, yes}
	}
	var removed []Redefinition
	var out strings.Builder
	var open conditions
	done := 0
	var lines lineCount
	for _, d := range directives {
		lines.read(d)
		name, rest := splitMacro(d.argument)
		switch {
		case open.read(d, table):
		case (d.name == "define" || d.name == "undef") && slices.Contains(macros, name) && !open.exclude():
			out.WriteString(text[done:d.start])
			out.WriteString(strings.Repeat("\n", d.endLine-d.line))
			done = d.end
			removed = append(removed, Redefinition{
				name, lines.place(d.line), "#" + d.name + " " + d.argument, strings.HasPrefix(rest, "("),
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

// A truth is the value of a condition as far as it is known.
type truth int8

const (
	unknown truth = iota
	yes
	no
)

func (t truth) negated() truth { return [...]truth{unknown: unknown, yes: no, no: yes}[t] }

// conditions are the open #if directives at a place in a source, each with its current branch, the innermost last.
type conditions []condition

// A condition is the current branch of an #if.
type condition struct {
	taken truth
	past  bool // an earlier branch is taken
}

// read takes a directive into account. It reports whether the directive is one of conditions.
func (c *conditions) read(d directive, macros macroTable) bool {
	open := len(*c) > 0
	switch {
	case strings.HasPrefix(d.name, "if"):
		*c = append(*c, condition{taken: macros.holds(d)})
	case strings.HasPrefix(d.name, "el"):
		if open {
			(*c)[len(*c)-1].branch(d, macros)
		}
	case d.name == "endif":
		if open {
			*c = (*c)[:len(*c)-1]
		}
	default:
		return false
	}
	return true
}

// exclude reports whether the compiler does not reach the text at the place.
func (c conditions) exclude() bool {
	return slices.ContainsFunc(c, func(c condition) bool { return c.taken == no })
}

// branch goes on to the next branch of the #if: its #else or an #elif.
func (c *condition) branch(d directive, macros macroTable) {
	c.past = c.past || c.taken == yes
	switch {
	case c.past:
		c.taken = no
	case d.name == "else":
		c.taken = c.taken.negated()
	default:
		c.taken = macros.holds(d)
	}
}

// Identifiers returns the words of a source outside comments and literals: its identifiers, keywords and
// numbers, those of directives included.
func Identifiers(text string) map[string]bool {
	words := map[string]bool{}
	for word := range identifiers(text) {
		words[word] = true
	}
	return words
}

// Lines returns the numbers, from 1, of the lines of a source that have a word outside of comments and literals.
func Lines(text, word string) (lines []int) {
	for w, line := range identifiers(text) {
		if w == word {
			lines = each.AppendNew(lines, line)
		}
	}
	return lines
}

func identifiers(text string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		s := newScanner(text)
		for s.pos < len(s.text) {
			if s.skipBlank() {
				continue
			}
			if word := s.word(); word == "" {
				s.token()
			} else if !yield(word, s.line) {
				return
			}
		}
	}
}

// HasIncludes reports whether a source includes files whose text is not in it.
func HasIncludes(text string) bool {
	return slices.ContainsFunc(scanDirectives(text).directives, func(d directive) bool { return d.name == "include" })
}
