package source

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
)

// A Place is a line of a source, as compilers count them.
type Place struct {
	File string // of the last #line directive that names one, or ""
	Line int    // from 1; 0: not known
}

// String returns the place for messages: «kernel.cl:12» or «line 12 of the source».
func (p Place) String() string {
	switch {
	case p.Line == 0:
		return "the source"
	case p.File == "":
		return fmt.Sprintf("line %d of the source", p.Line)
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// A lineCount follows the #line directives of a source.
type lineCount struct {
	file  string
	shift int // the compiler's line is the line of the text plus shift
}

// read takes a directive into account.
func (c *lineCount) read(d directive) {
	if d.name != "line" {
		return
	}
	number, path, _ := strings.Cut(d.argument, " ")
	if n, err := strconv.Atoi(number); err == nil {
		c.shift = n - d.nextLine
	}
	if path, err := strconv.Unquote(path); err == nil {
		c.file = path
	}
}

func (c *lineCount) place(line int) Place { return Place{c.file, line + c.shift} }

// PlaceOf returns the place of a line of a text, from 1.
func PlaceOf(text string, line int) Place {
	var lines lineCount
	for _, d := range scanDirectives(text).directives {
		if d.nextLine <= line {
			lines.read(d)
		}
	}
	return lines.place(line)
}

// Lined returns the lines of a text by their places.
func Lined(text string) map[Place]string {
	lined, lines, directives := map[Place]string{}, lineCount{}, scanDirectives(text).directives
	for i, line := range strings.Split(text, "\n") {
		for len(directives) > 0 && directives[0].nextLine <= i+1 {
			lines.read(directives[0])
			directives = directives[1:]
		}
		lined[lines.place(i+1)] = strings.TrimRight(line, "\r")
	}
	return lined
}

// First returns the place where a source first has a word outside of comments, literals and conditions, and the number of
// arguments with which it is called there, 0 if it is no call. It returns false for found if the source has no such word.
func First(text, word string) (at Place, call int, found bool) {
	all, lines := scan(text)
	line, following := 0, []string(nil)
	if i := slices.Index(all, word); i >= 0 {
		line, following = lines[i], all[i+1:]
	}
	for _, d := range scanDirectives(text).directives {
		words := tokens(d.argument)
		if i := slices.Index(words, word); i > 0 && d.name == "define" && (line == 0 || d.line < line) {
			line, following = d.line, words[i+1:]
		}
	}
	if len(following) > 0 && following[0] == "(" {
		call = len(arguments(following, 0))
	}
	return PlaceOf(text, line), call, line > 0
}

// An Offer is a condition under which a source defines a name.
type Offer struct {
	Macro string // that must be defined
	At    Place  // of the condition
}

// Offers returns the conditions over one macro under which a source defines a name, by #define or typedef.
func Offers(text, name string) (all []Offer) {
	var open []Offer
	var lines lineCount
	done := 0
	typedef := regexp.MustCompile(`(?s)\btypedef\b.*\b` + regexp.QuoteMeta(name) + `\s*;`)
	for _, d := range scanDirectives(text).directives {
		lines.read(d)
		defined, _ := splitMacro(d.argument)
		if n := len(open); n > 0 && open[n-1].Macro != "" && (d.name == "define" && defined == name || typedef.MatchString(text[done:d.start])) {
			all = each.AppendNew(all, open[n-1])
		}
		done = d.end
		macro, negated, tests := d.tested()
		if !tests && macroName.MatchString(d.argument) {
			macro = d.argument // #elif DOUBLE
		}
		if negated || macro == "0" {
			macro = ""
		}
		offer := Offer{macro, lines.place(d.line)}
		switch {
		case strings.HasPrefix(d.name, "if"):
			open = append(open, offer)
		case strings.HasPrefix(d.name, "el") && len(open) > 0:
			open[len(open)-1] = offer
		case d.name == "endif" && len(open) > 0:
			open = open[:len(open)-1]
		}
	}
	return all
}
