package python

import (
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/ndtune/ndtune/internal/excerpt"
)

// An Error says what is wrong with an expression, and where in it.
type Error struct {
	Source  string
	Column  int // from 1, in characters
	Message string
}

func (e *Error) Error() string {
	return fmt.Sprintf("in %q, column %d: %s", excerpt.Around(e.Source, e.Column), e.Column, e.Message)
}

// failure carries an error out of the recursion of a parser or a translation.
// It never leaves the package: see catch.
type failure struct {
	column  int // 0: the whole expression
	message string
}

// failf ends what is being done with an error at a column.
func failf(column int, format string, args ...any) {
	panic(failure{column, fmt.Sprintf(format, args...)})
}

// catch turns a failure into the error of a source. It is deferred.
func catch(source string, err *error) {
	switch f := recover().(type) {
	case nil:
	case failure:
		*err = &Error{source, max(1, f.column), f.message}
	default:
		panic(f)
	}
}

// An Expression is a Python expression that was parsed. It is immutable and safe for
// concurrent use.
type Expression struct {
	source string
	root   node
}

// maxSource and maxDepth bound what is parsed: the characters of an expression, and how deep
// its parts may stand in one another.
const (
	maxSource = 1 << 20
	maxDepth  = 200
)

// Parse reads an expression. A lambda of one argument, as in «lambda p: p["x"] > 1», is its
// body. Errors are of type [*Error].
func Parse(source string) (e *Expression, err error) {
	defer catch(source, &err)
	if len(source) > maxSource {
		failf(1, "the expression has %d bytes, more than the %d that are read", len(source), maxSource)
	}
	if !utf8.ValidString(source) {
		failf(1, "the expression is not valid UTF-8")
	}
	p := &parser{tokens: tokens(source)}
	if p.tokens[0].kind == endToken {
		failf(1, "the expression is empty")
	}
	p.lambda()
	root := p.conditional()
	if t := p.peek(); t.kind != endToken {
		switch {
		case t.text == "for":
			failf(t.column, "a comprehension stands in brackets or parentheses")
		case t.text == ",":
			failf(t.column, "a tuple stands in parentheses")
		case t.text == "=":
			failf(t.column, `"=" is an assignment; write == to compare`)
		}
		failf(t.column, "expected an operator or the end, found %s", t.describe())
	}
	return &Expression{source, root}, nil
}

// String is the expression as it was written.
func (e *Expression) String() string { return e.source }

type parser struct {
	tokens []token
	at     int
	depth  int
	record string // the argument of a lambda
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) take() token {
	t := p.tokens[p.at]
	if t.kind != endToken {
		p.at++
	}
	return t
}

// is reports whether one of the operators is next.
func (p *parser) is(operators ...string) bool {
	t := p.peek()
	return t.kind == operatorToken && slices.Contains(operators, t.text)
}

// accept takes the operator where it is next.
func (p *parser) accept(operator string) bool {
	if !p.is(operator) {
		return false
	}
	p.at++
	return true
}

func (p *parser) expect(operator, why string) token {
	t := p.peek()
	if !p.accept(operator) {
		if t.kind == operatorToken && t.text == "=" {
			failf(t.column, `"=" is an assignment; write == to compare`)
		}
		failf(t.column, "expected %q %s, found %s", operator, why, t.describe())
	}
	return t
}

func (t token) describe() string {
	switch t.kind {
	case endToken:
		return "the end"
	case valueToken:
		if _, ok := t.value.(string); ok {
			return "a text"
		}
	}
	return `"` + excerpt.Of(t.text) + `"`
}

// enter counts how deep the parser is. The caller defers what it returns.
func (p *parser) enter() func() {
	if p.depth++; p.depth > maxDepth {
		failf(p.peek().column, "the expression is nested deeper than %d levels", maxDepth)
	}
	return func() { p.depth-- }
}

func (p *parser) lambda() {
	at := p.peek().column
	if !p.accept("lambda") {
		return
	}
	t := p.take()
	if t.kind != nameToken || !p.is(":") {
		failf(at, "a lambda has one argument here, as in lambda p: p[\"block_size_x\"] > 1")
	}
	p.at++
	p.record = t.text
}

func (p *parser) conditional() node {
	defer p.enter()()
	if t := p.peek(); p.is("lambda") {
		failf(t.column, "a lambda can only be the whole expression")
	}
	then := p.or()
	at := p.peek().column
	if !p.accept("if") {
		return then
	}
	condition := p.or()
	p.expect("else", "after the condition")
	return &conditional{column(at), then, condition, p.conditional()}
}

func (p *parser) or() node  { return p.boolean("or", p.and) }
func (p *parser) and() node { return p.boolean("and", p.not) }

func (p *parser) boolean(operator string, operand func() node) node {
	first := operand()
	if !p.is(operator) {
		return first
	}
	b := &boolean{column(p.peek().column), operator, []node{first}}
	for p.accept(operator) {
		b.operands = append(b.operands, operand())
	}
	return b
}

func (p *parser) not() node {
	at := p.peek().column
	if !p.accept("not") {
		return p.comparison()
	}
	defer p.enter()()
	return &unary{column(at), "not", p.not()}
}

func (p *parser) comparison() node {
	first := p.arithmetic(0)
	c := &comparison{column: column(first.place()), first: first}
	for {
		t := p.peek()
		switch {
		case p.is("<", "<=", ">", ">=", "==", "!=", "in"):
			p.at++
		case p.is("not"):
			p.at++
			p.expect("in", "after not")
			t.text = "not in"
		default:
			if c.links == nil {
				return first
			}
			return c
		}
		c.links = append(c.links, link{column(t.column), t.text, p.arithmetic(0)})
	}
}

// levels are the operators that compute and associate to the left, the weakest first.
var levels = [][]string{{"|"}, {"^"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "//", "%"}}

// maxChain bounds the operators of one level in a row, each of which stands within the next.
const maxChain = 1000

func (p *parser) arithmetic(level int) node {
	if level == len(levels) {
		return p.factor()
	}
	left := p.arithmetic(level + 1)
	for n := 0; p.is(levels[level]...); n++ {
		t := p.take()
		if n == maxChain {
			failf(t.column, "more than %d operators stand in a row", maxChain)
		}
		left = &binary{column(t.column), t.text, left, p.arithmetic(level + 1)}
	}
	return left
}

// factor is a sign before a power: -2 ** 2 is -(2 ** 2), and 2 ** -1 has one behind it.
func (p *parser) factor() node {
	t := p.peek()
	if p.is("+", "-", "~") {
		defer p.enter()()
		p.at++
		operand := p.factor()
		if l, ok := operand.(*literal); ok && t.text == "-" && l.value == uint64(1<<63) {
			return &literal{column(t.column), math.MinInt}
		}
		return &unary{column(t.column), t.text, operand}
	}
	base := p.primary()
	t = p.peek()
	if !p.accept("**") {
		return base
	}
	defer p.enter()()
	return &binary{column(t.column), "**", base, p.factor()}
}
