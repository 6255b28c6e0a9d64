package include

import "strings"

// A directive is a line of the C preprocessor, continued lines and comments included.
type directive struct {
	name       string // include, pragma, ifndef, …
	argument   string // what follows the name up to a comment, without continuations
	start, end int    // from # to the end of the argument, in bytes of the source
	line       int    // from 1, on which it starts
	endLine    int    // on which it ends
	next       int    // where the line after it begins, in bytes of the source
	nextLine   int
}

// A cScanner finds the directives of OpenCL C source. It knows comments, literals and
// continued lines, and nothing else of the language.
type cScanner struct {
	text string
	pos  int
	line int

	directives []directive
	// The first and the last byte of code outside of directives; first is the length of
	// the text where there is none.
	firstCode, lastCode int
}

func scanDirectives(text string) *cScanner {
	s := &cScanner{text: text, line: 1, firstCode: len(text), lastCode: -1}
	s.scan()
	return s
}

func (s *cScanner) scan() {
	fresh := true // only blanks and comments stand before this on the line
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; {
		case s.skipBlank():
		case c == '\n':
			s.advance(1)
			fresh = true
		case c == '#' && fresh:
			s.directive()
			fresh = false
		default:
			if s.firstCode == len(s.text) {
				s.firstCode = s.pos
			}
			s.lastCode = s.pos
			fresh = false
			s.token()
		}
	}
}

// advance moves on by n bytes and counts lines.
func (s *cScanner) advance(n int) {
	end := min(s.pos+n, len(s.text))
	s.line += strings.Count(s.text[s.pos:end], "\n")
	s.pos = end
}

// splice is the length of a continuation, a backslash before a line end, at a position.
func (s *cScanner) splice(pos int) int {
	switch rest := s.text[pos:]; {
	case strings.HasPrefix(rest, "\\\n"):
		return 2
	case strings.HasPrefix(rest, "\\\r\n"):
		return 3
	}
	return 0
}

// skipBlank moves over one blank, continuation or comment; it never passes the end of a
// line outside of those.
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

// token moves over a literal, or over one byte of anything else.
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

// directive reads from # to the end of the line. Of an include in quotes, the end is the
// closing quote: a comment after it stays where it is.
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
		d.argument = strings.TrimSpace(argument.String()) // names of files may hold blanks
	}
	d.next, d.nextLine = min(s.pos+1, len(s.text)), s.line+1
	s.directives = append(s.directives, d)
}

// word reads an identifier, which a continuation may interrupt.
func (s *cScanner) word() string {
	from := s.pos
	for s.pos < len(s.text) {
		c := s.text[s.pos]
		switch {
		case s.splice(s.pos) > 0:
			s.advance(s.splice(s.pos))
		case c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9':
			s.advance(1)
		default:
			return s.unspliced(from)
		}
	}
	return s.unspliced(from)
}

// headerName moves over "…", in which a backslash is a backslash.
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

// unspliced is the text from a position to here without continuations.
func (s *cScanner) unspliced(from int) string {
	text := strings.ReplaceAll(s.text[from:s.pos], "\\\r\n", "")
	return strings.ReplaceAll(text, "\\\n", "")
}

// includedFile is the file that a directive includes in quotes.
func (d directive) includedFile() (name string, ok bool) {
	a := d.argument
	if d.name != "include" || len(a) < 3 || a[0] != '"' || strings.IndexByte(a[1:], '"') != len(a)-2 {
		return "", false
	}
	return a[1 : len(a)-1], true
}

// isOnce reports whether a directive is #pragma once.
func (d directive) isOnce() bool { return d.name == "pragma" && d.argument == "once" }

// guarded reports whether the whole text stands in an include guard: #ifndef X, #define X,
// …, #endif, with nothing outside.
func (s *cScanner) guarded() bool {
	n := len(s.directives)
	if n < 3 {
		return false
	}
	open, define, end := s.directives[0], s.directives[1], s.directives[n-1]
	macro := ""
	switch open.name {
	case "ifndef":
		macro = open.argument
	case "if":
		macro = strings.NewReplacer("!", "", "defined", "", "(", "", ")", "", " ", "").Replace(open.argument)
		if plain := strings.ReplaceAll(open.argument, " ", ""); plain != "!defined("+macro+")" && plain != "!defined"+macro {
			return false
		}
	}
	name, _, _ := strings.Cut(define.argument, " ")
	if macro == "" || define.name != "define" || name != macro || end.name != "endif" ||
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
