package python

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/ndtune/ndtune/internal/excerpt"
)

type tokenKind int

const (
	endToken tokenKind = iota
	nameToken
	valueToken    // a number or a text
	operatorToken // or a keyword
)

// A token is a piece of an expression with its place.
type token struct {
	kind   tokenKind
	text   string
	value  any // of a valueToken
	column int // from 1
}

// keywords are words that are operators here.
var keywords = []string{"and", "or", "not", "in", "if", "else", "for", "lambda"}

// refusedWords are the words of Python that no name can be and nothing here is.
var refusedWords = strings.Fields(`await async yield import from def class return assert del global nonlocal while with try except
	raise pass break continue elif finally as`)

// operators, the longer before those that they begin with.
var operators = []string{
	"**=", "//=", "<<=", ">>=", "...",
	"**", "//", "<<", ">>", "<=", ">=", "==", "!=", "<>", "&&", "||", ":=", "->", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=",
	"+", "-", "*", "/", "%", "(", ")", "[", "]", "{", "}", ",", ":", ".", "<", ">", "&", "|", "^", "~", "=", "@", ";", "!",
}

var refusedOperators = map[string]string{
	"&&": `"&&" is no operator of Python; write and`, "||": `"||" is no operator of Python; write or`,
	"!": `"!" is no operator of Python; write not`, "<>": `"<>" is no operator of Python 3; write !=`,
	":=": `":=" is an assignment, which is not allowed`,
	"@":  `"@" multiplies matrices, which there are none of here`, ";": `";" parts statements; this is one expression`,
	"->": `"->" is not allowed in an expression`, "...": `"..." is no value`,
}

// A lexer cuts an expression into tokens.
type lexer struct {
	text []rune
	at   int
}

func tokens(source string) []token {
	l := &lexer{text: []rune(source)}
	var all []token
	for {
		t := l.next()
		all = append(all, t)
		if t.kind == endToken {
			return all
		}
	}
}

func (l *lexer) peek(ahead int) rune {
	if l.at+ahead < len(l.text) {
		return l.text[l.at+ahead]
	}
	return 0
}

func (l *lexer) next() token {
	for l.at < len(l.text) && unicode.IsSpace(l.text[l.at]) {
		l.at++
	}
	column := l.at + 1
	if l.at == len(l.text) {
		return token{endToken, "", nil, column}
	}
	switch c := l.peek(0); {
	case isDigit(c), c == '.' && isDigit(l.peek(1)):
		return l.number(column)
	case c == '"', c == '\'':
		return l.quoted(column, false)
	case isLetter(c):
		return l.word(column)
	case c == '#':
		failf(column, "a comment is not allowed in an expression")
	case c == '\\':
		failf(column, "a line cannot be continued in an expression")
	}
	rest := string(l.text[l.at:min(len(l.text), l.at+3)])
	for _, op := range operators {
		if !strings.HasPrefix(rest, op) {
			continue
		}
		if message, refused := refusedOperators[op]; refused {
			failf(column, "%s", message)
		}
		if len(op) > 1 && op[len(op)-1] == '=' && !slices.Contains([]string{"<=", ">=", "==", "!="}, op) {
			failf(column, "%q is an assignment, which is not allowed", op)
		}
		l.at += len(op)
		return token{operatorToken, op, nil, column}
	}
	failf(column, "the character %q is not allowed here", l.peek(0))
	return token{}
}

func isDigit(c rune) bool  { return '0' <= c && c <= '9' }
func isLetter(c rune) bool { return c == '_' || unicode.IsLetter(c) }

func (l *lexer) word(column int) token {
	from := l.at
	for l.at < len(l.text) && (isLetter(l.text[l.at]) || unicode.IsDigit(l.text[l.at])) {
		l.at++
	}
	text := string(l.text[from:l.at])
	if c := l.peek(0); (c == '"' || c == '\'') && len(text) <= 2 {
		switch strings.ToLower(text) {
		case "r":
			return l.quoted(column, true)
		case "u":
			return l.quoted(column, false)
		case "f", "fr", "rf":
			failf(column, "a formatted text (f\"…\") is not allowed")
		case "b", "br", "rb":
			failf(column, "bytes (b\"…\") are not allowed")
		}
	}
	switch {
	case text == "True":
		return token{valueToken, text, true, column}
	case text == "False":
		return token{valueToken, text, false, column}
	case slices.Contains(keywords, text):
		return token{operatorToken, text, nil, column}
	case text == "is":
		failf(column, `"is" compares identities; write == or !=`)
	case text == "None":
		failf(column, "None is no value of a parameter")
	case slices.Contains(refusedWords, text):
		failf(column, "%s is not allowed", text)
	}
	return token{nameToken, text, nil, column}
}

func (l *lexer) number(column int) token {
	from := l.at
	isPart := func(c rune) bool { return c == '_' || c == '.' || isDigit(c) || unicode.IsLetter(c) }
	for l.at < len(l.text) {
		c := l.text[l.at]
		sign := (c == '+' || c == '-') && (l.text[l.at-min(1, l.at-from)] == 'e' || l.text[l.at-min(1, l.at-from)] == 'E') &&
			!strings.HasPrefix(strings.ToLower(string(l.text[from:min(l.at, from+2)])), "0x")
		if !isPart(c) && !sign {
			break
		}
		l.at++
	}
	text := string(l.text[from:l.at])
	return token{valueToken, text, numberOf(text, column), column}
}

// numberOf is the value of a number as Python writes it.
func numberOf(text string, column int) any {
	if len(text) > maxDigits {
		failf(column, "a number of %d characters is more than the %d that are read", len(text), maxDigits)
	}
	lower := strings.ToLower(text)
	if strings.HasSuffix(lower, "j") && !strings.HasPrefix(lower, "0x") {
		failf(column, "the imaginary number %s is not allowed", text)
	}
	if !strings.HasPrefix(lower, "0x") && strings.ContainsAny(lower, ".e") {
		f, err := strconv.ParseFloat(text, 64)
		switch {
		case math.IsInf(f, 0):
			failf(column, "%s is beyond the range of a float", excerpt.Of(text))
		case err != nil:
			failf(column, "%s is not a number", excerpt.Of(text))
		}
		return f
	}
	if text[0] == '0' && strings.Trim(text, "0123456789_") == "" && strings.Trim(text, "0_") != "" {
		failf(column, "%s has a leading zero; write 0o… for an octal number", excerpt.Of(text))
	}
	i, err := strconv.ParseUint(text, 0, 64)
	switch {
	case errors.Is(err, strconv.ErrRange) || err == nil && i > 1<<63:
		failf(column, "%s is beyond the integers of 64 bits", excerpt.Of(text))
	case err != nil:
		failf(column, "%s is not a number", excerpt.Of(text))
	case i == 1<<63:
		return i // it has a meaning behind a minus
	}
	return int(i)
}

// maxDigits bounds what a literal can be.
const maxDigits = 1000

// quoted is a text in quotes.
func (l *lexer) quoted(column int, raw bool) token {
	quote := l.text[l.at]
	if l.peek(1) == quote && l.peek(2) == quote {
		failf(column, "a text in triple quotes is not allowed")
	}
	l.at++
	var b strings.Builder
	for {
		switch c := l.peek(0); {
		case l.at >= len(l.text) || c == '\n':
			failf(column, "the text is not closed; a %c is missing", quote)
		case c == quote:
			l.at++
			return token{valueToken, "", b.String(), column}
		case c == '\\' && raw:
			b.WriteRune(c)
			l.at++
			if l.at < len(l.text) && l.text[l.at] != '\n' {
				b.WriteRune(l.text[l.at])
				l.at++
			}
		case c == '\\':
			b.WriteRune(l.escape())
		default:
			b.WriteRune(c)
			l.at++
		}
	}
}

var escapes = map[rune]rune{'n': '\n', 't': '\t', 'r': '\r', '\\': '\\', '\'': '\'', '"': '"', 'a': '\a', 'b': '\b', 'f': '\f', 'v': '\v'}

// escape is the character that a backslash and what is behind it stand for.
func (l *lexer) escape() rune {
	column, c := l.at+1, l.peek(1)
	if r, ok := escapes[c]; ok {
		l.at += 2
		return r
	}
	digits := map[rune]int{'x': 2, 'u': 4, 'U': 8}[c]
	if digits > 0 && l.at+2+digits <= len(l.text) {
		code, err := strconv.ParseUint(string(l.text[l.at+2:l.at+2+digits]), 16, 32)
		if err == nil && code <= unicode.MaxRune && !(0xd800 <= code && code <= 0xdfff) {
			l.at += 2 + digits
			return rune(code)
		}
	}
	failf(column, "the escape %s is not allowed in a text", fmt.Sprintf(`\%c`, c))
	return 0
}
