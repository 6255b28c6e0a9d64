package source

import (
	"regexp"
	"slices"
	"strings"
)

// A directive is a preprocessor directive, with its continued lines and comments.
type directive struct {
	name       string // include, pragma, ifndef, …
	argument   string // the text after the name, without continuations and comments
	start, end int    // byte offsets of # and of the end of the argument
	line       int    // line of #, from 1
	endLine    int    // line on which the argument ends
	next       int    // byte offset of the line after the directive
	nextLine   int    // number of that line
}

// A cScanner finds the directives in OpenCL C source. Of the language it knows only
// comments, literals and continued lines.
type cScanner struct {
	text string
	pos  int
	line int

	inLine     bool // code or a directive precedes on the line
	directives []directive
	// Offsets of the first and the last word of code outside directives; without such
	// code, the length of the text and -1.
	firstCode, lastCode int
}

// scanDirectives scans a whole text.
func scanDirectives(text string) *cScanner {
	s := newScanner(text)
	for s.next() != "" {
	}
	return s
}

func newScanner(text string) *cScanner {
	return &cScanner{text: text, line: 1, firstCode: len(text), lastCode: -1}
}

// next reads the next word, literal or other character outside of comments and directives, and the directives before it. At the
// end it returns "".
func (s *cScanner) next() string {
	for s.pos < len(s.text) {
		switch from := s.pos; {
		case s.skipBlank():
		case s.text[from] == '\n':
			s.advance(1)
			s.inLine = false
		case s.text[from] == '#' && !s.inLine:
			s.directive()
			s.inLine = true
		default:
			s.inLine, s.firstCode, s.lastCode = true, min(s.firstCode, from), from
			if word := s.word(); word != "" {
				return word
			}
			s.token()
			return s.unspliced(from)
		}
	}
	return ""
}

// advance moves on by n bytes and counts lines.
func (s *cScanner) advance(n int) {
	end := min(s.pos+n, len(s.text))
	s.line += strings.Count(s.text[s.pos:end], "\n")
	s.pos = end
}

// splice returns the length of the line continuation at a position, 0 if there is none.
func (s *cScanner) splice(pos int) int {
	switch rest := s.text[pos:]; {
	case strings.HasPrefix(rest, "\\\n"):
		return 2
	case strings.HasPrefix(rest, "\\\r\n"):
		return 3
	}
	return 0
}

// skipBlank skips one blank, continuation or comment and reports whether there was one.
func (s *cScanner) skipBlank() bool {
	rest := s.text[s.pos:]
	switch {
	case rest == "":
		return false
	case strings.IndexByte(" \t\r\v\f", rest[0]) >= 0:
		s.advance(1)
	case s.splice(s.pos) > 0:
		s.advance(s.splice(s.pos))
	case strings.HasPrefix(rest, "/*"):
		end := strings.Index(rest[2:], "*/")
		if end < 0 {
			end = len(rest)
		}
		s.advance(end + 4)
	case strings.HasPrefix(rest, "//"):
		for s.pos < len(s.text) && s.text[s.pos] != '\n' {
			s.advance(max(1, s.splice(s.pos)))
		}
	default:
		return false
	}
	return true
}

// token skips a literal, or one byte of anything else.
func (s *cScanner) token() {
	quote := s.text[s.pos]
	s.advance(1)
	if quote != '"' && quote != '\'' {
		return
	}
	for s.pos < len(s.text) && s.text[s.pos] != '\n' {
		switch c := s.text[s.pos]; {
		case s.splice(s.pos) > 0:
			s.advance(s.splice(s.pos))
		case c == '\\':
			s.advance(1)
			if s.pos < len(s.text) && s.text[s.pos] != '\n' {
				s.advance(1)
			}
		case c == quote:
			s.advance(1)
			return
		default:
			s.advance(1)
		}
	}
}

// directive reads from # to the end of the line. An #include "…" ends at the closing
// quote, so that a comment after it stays in place.
func (s *cScanner) directive() {
	d := directive{start: s.pos, line: s.line}
	s.advance(1)
	for s.skipBlank() {
	}
	d.name = s.word()
	var argument strings.Builder
	d.end, d.endLine = s.pos, s.line
	for s.pos < len(s.text) && s.text[s.pos] != '\n' {
		if s.skipBlank() {
			argument.WriteByte(' ')
			continue
		}
		from := s.pos
		if d.name == "include" && s.text[s.pos] == '"' {
			s.headerName()
		} else {
			s.token()
		}
		argument.WriteString(s.unspliced(from))
		d.end, d.endLine = s.pos, s.line
	}
	d.argument = strings.Join(strings.Fields(argument.String()), " ")
	if d.name == "include" {
		d.argument = strings.TrimSpace(argument.String()) // file names may contain blanks
	}
	d.next, d.nextLine = min(s.pos+1, len(s.text)), s.line+1
	s.directives = append(s.directives, d)
}

// word reads an identifier, without the continuations in it, or a whole raw string of C++, R"(…)" or R"name(…)name".
func (s *cScanner) word() string {
	from := s.pos
	for s.pos < len(s.text) {
		c := s.text[s.pos]
		switch {
		case s.splice(s.pos) > 0:
			s.advance(s.splice(s.pos))
		case c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9':
			s.advance(1)
		case c == '"' && slices.Contains([]string{"R", "u8R", "uR", "UR", "LR"}, s.text[from:s.pos]):
			name, rest, _ := strings.Cut(s.text[s.pos+1:], "(")
			content, _, closed := strings.Cut(rest, ")"+name+`"`)
			if !closed {
				return s.unspliced(from)
			}
			s.advance(len(`"()"`) + len(content) + 2*len(name))
			return s.text[from:s.pos]
		default:
			return s.unspliced(from)
		}
	}
	return s.unspliced(from)
}

// headerName skips "…", in which a backslash escapes nothing.
func (s *cScanner) headerName() {
	s.advance(1)
	for s.pos < len(s.text) && s.text[s.pos] != '\n' {
		if s.text[s.pos] == '"' {
			s.advance(1)
			return
		}
		s.advance(max(1, s.splice(s.pos)))
	}
}

// unspliced returns the text from an offset to the current one, without continuations.
func (s *cScanner) unspliced(from int) string {
	text := strings.ReplaceAll(s.text[from:s.pos], "\\\r\n", "")
	return strings.ReplaceAll(text, "\\\n", "")
}

// includedFile returns the file name of an #include "…".
func (d directive) includedFile() (name string, ok bool) {
	a := d.argument
	if d.name != "include" || len(a) < 3 || a[0] != '"' || strings.IndexByte(a[1:], '"') != len(a)-2 {
		return "", false
	}
	return a[1 : len(a)-1], true
}

// tested returns the macro of an #ifdef, an #ifndef, or an #if or #elif with nothing but defined(X) or !defined(X), and
// whether the macro must not be defined. It returns false for other directives.
func (d directive) tested() (macro string, negated, ok bool) {
	switch d.name {
	case "ifdef", "ifndef":
		return d.argument, d.name == "ifndef", macroName.MatchString(d.argument)
	case "if", "elif":
		question, negated := strings.CutPrefix(d.argument, "!")
		if found := isDefined.FindStringSubmatch(question); found != nil && found[0] == strings.TrimSpace(question) {
			return found[1] + found[2], negated, true
		}
	}
	return "", false, false
}

var macroName = regexp.MustCompile(`^\w+$`)

// isOnce reports whether a directive is #pragma once.
func (d directive) isOnce() bool { return d.name == "pragma" && d.argument == "once" }

// guarded reports whether an include guard (#ifndef X, #define X, …, #endif) surrounds
// the whole text.
func (s *cScanner) guarded() bool {
	n := len(s.directives)
	if n < 3 {
		return false
	}
	open, define, end := s.directives[0], s.directives[1], s.directives[n-1]
	macro, negated, _ := open.tested()
	if !negated {
		return false
	}
	name, _, _ := strings.Cut(define.argument, " ")
	if define.name != "define" || name != macro || end.name != "endif" ||
		s.firstCode < define.start || s.lastCode > end.start {
		return false
	}
	depth := 0
	for i, d := range s.directives {
		switch {
		case strings.HasPrefix(d.name, "if"):
			depth++
		case d.name == "endif":
			depth--
		case strings.HasPrefix(d.name, "el") && depth == 1:
			return false
		}
		if depth == 0 && i < n-1 {
			return false
		}
	}
	return depth == 0
}
