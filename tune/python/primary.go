package python

import "strings"

// primary is an atom with the calls and subscripts behind it.
func (p *parser) primary() node {
	n := p.atom()
	for i := 0; ; i++ {
		t := p.peek()
		if i == maxChain {
			failf(t.column, "more than %d subscripts stand in a row", maxChain)
		}
		switch {
		case p.is("["):
			n = p.subscript(n)
		case p.is("("):
			f, ok := n.(*name)
			if !ok {
				failf(t.column, "only a function that has a name can be called")
			}
			n = &call{f.column, f.id, p.arguments(f.id)}
		case p.is("."):
			n = p.attribute(n)
		default:
			if f, ok := n.(*name); ok && (f.id == p.record || strings.Contains(f.id, ".")) {
				failf(f.place(), "%s stands alone; %s", f.id, p.hint(f.id))
			}
			return n
		}
	}
}

func (p *parser) hint(id string) string {
	if id == p.record {
		return "name a parameter, as in " + id + `["block_size_x"]`
	}
	return "only functions of math are known, and they are called"
}

// attribute is a function of math before its call. Nothing else has attributes.
func (p *parser) attribute(of node) node {
	at := p.take().column
	t := p.take()
	if t.kind != nameToken {
		failf(t.column, "expected a name after the dot, found %s", t.describe())
	}
	if n, ok := of.(*name); ok && n.id == "math" {
		return &name{n.column, "math." + t.text}
	}
	if p.is("(") {
		failf(at, "the method .%s() is not allowed", t.text)
	}
	failf(at, "the attribute .%s is not allowed", t.text)
	return nil
}

// subscript is of[index]; of a name with a text, as in p["block_size_x"], it is the parameter
// that the text names.
func (p *parser) subscript(of node) node {
	at := p.take().column
	if p.is(":") {
		failf(p.peek().column, "a slice is not allowed")
	}
	index := p.conditional()
	if t := p.peek(); p.is(":") {
		failf(t.column, "a slice is not allowed")
	} else if p.is(",") {
		failf(t.column, "a subscript of several values is not allowed")
	}
	p.expect("]", "after the subscript")
	if record, ok := of.(*name); ok {
		if l, ok := index.(*literal); ok {
			if id, ok := l.value.(string); ok {
				if !isIdentifier(id) {
					failf(l.place(), "%q is not the name of a parameter", id)
				}
				return &name{record.column, id}
			}
		}
		if record.id == p.record {
			failf(index.place(), "%s is indexed by the name of a parameter, as in %s[\"block_size_x\"]", p.record, p.record)
		}
	}
	return &subscript{column(at), of, index}
}

func isIdentifier(text string) bool {
	for i, c := range text {
		if !isLetter(c) && (i == 0 || !isDigit(c)) {
			return false
		}
	}
	return text != ""
}

func (p *parser) arguments(function string) (arguments []node) {
	open := p.take()
	for !p.accept(")") {
		t := p.peek()
		if p.is("*", "**") {
			failf(t.column, "unpacking (%s) is not allowed", t.text)
		}
		if t.kind == nameToken && p.assigned() {
			failf(t.column, "the argument %s= of %s is given by name, which is not allowed", t.text, function)
		}
		a := p.conditional()
		if p.is("for") {
			if len(arguments) > 0 {
				failf(t.column, "a generator expression beside other arguments stands in parentheses of its own")
			}
			a = p.comprehension(open.column, "(", a)
			p.expect(")", "after the generator expression")
			return []node{a}
		}
		arguments = append(arguments, a)
		if !p.is(")") {
			p.expect(",", "or \")\" after an argument")
		}
	}
	return arguments
}

// assigned reports whether the name that is next stands before an equals sign.
func (p *parser) assigned() bool {
	next := p.tokens[min(p.at+1, len(p.tokens)-1)]
	return next.kind == operatorToken && next.text == "="
}

func (p *parser) atom() node {
	t := p.peek()
	switch {
	case t.kind == nameToken:
		p.at++
		return &name{column(t.column), t.text}
	case t.kind == valueToken:
		p.at++
		if text, ok := t.value.(string); ok {
			return &literal{column(t.column), text + p.moreText()}
		}
		return &literal{column(t.column), t.value}
	case p.is("("):
		return p.parenthesis()
	case p.is("["):
		p.at++
		return p.display(t.column, "[", "]", nil)
	case p.is("{"):
		p.at++
		if p.is("}") {
			failf(t.column, "a dictionary is not allowed")
		}
		return p.display(t.column, "{", "}", nil)
	}
	failf(t.column, "expected a value, found %s", t.describe())
	return nil
}

// moreText are the texts behind a text, which Python joins.
func (p *parser) moreText() string {
	var b strings.Builder
	for {
		t := p.peek()
		text, ok := t.value.(string)
		if t.kind != valueToken || !ok {
			return b.String()
		}
		b.WriteString(text)
		p.at++
	}
}

// parenthesis is an expression in parentheses, a tuple or a generator expression.
func (p *parser) parenthesis() node {
	at := p.take().column
	if p.accept(")") {
		return &display{column(at), "(", nil}
	}
	first := p.item()
	switch {
	case p.is("for"):
		c := p.comprehension(at, "(", first)
		p.expect(")", "after the generator expression")
		return c
	case p.is(","):
		return p.display(at, "(", ")", first)
	}
	p.expect(")", "to close the parenthesis")
	return first
}

// display is what stands in brackets, of which the first item may have been read.
func (p *parser) display(at int, open, end string, first node) node {
	d := &display{column(at), open, nil}
	if first != nil {
		d.items = append(d.items, first)
		p.expect(",", "after the item")
	}
	for !p.accept(end) {
		item := p.item()
		if t := p.peek(); p.is(":") && open == "{" {
			failf(t.column, "a dictionary is not allowed")
		}
		if p.is("for") && len(d.items) == 0 {
			if open == "{" {
				failf(at, "a set comprehension is not allowed; write a list")
			}
			c := p.comprehension(at, open, item)
			p.expect(end, "after the comprehension")
			return c
		}
		d.items = append(d.items, item)
		if !p.is(end) {
			p.expect(",", "or \""+end+"\" after an item")
		}
	}
	return d
}

func (p *parser) item() node {
	if t := p.peek(); p.is("*", "**") {
		failf(t.column, "unpacking (%s) is not allowed", t.text)
	}
	return p.conditional()
}

// maxClauses bounds the loops of a comprehension.
const maxClauses = 20

// comprehension is what follows the element of one.
func (p *parser) comprehension(at int, open string, element node) node {
	c := &comprehension{column: column(at), open: open, element: element}
	for p.is("for") {
		loop := clause{column: column(p.take().column)}
		if len(c.clauses) == maxClauses {
			failf(loop.place(), "a comprehension has more than %d loops", maxClauses)
		}
		t := p.take()
		if t.kind != nameToken || p.is(",") {
			failf(t.column, "the variable of a comprehension is one name")
		}
		loop.variable = t.text
		p.expect("in", "after the variable")
		loop.iterable = p.or()
		for p.accept("if") {
			loop.conditions = append(loop.conditions, p.or())
		}
		c.clauses = append(c.clauses, loop)
	}
	return c
}
