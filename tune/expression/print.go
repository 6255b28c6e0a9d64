package expression

import (
	"math"
	"strconv"
	"strings"
)

// A level is how tightly the printed text of a node holds together.
type level int

const (
	loose level = iota // a conditional
	orLevel
	andLevel
	compareLevel
	addLevel
	multiplyLevel
	signLevel
	atomLevel
)

// layout hands out the text of a node in pieces, and its arguments, each with the level that it
// must have to stand without parentheses.
func (n *Node) layout(text func(string), part func(n *Node, at level)) level {
	list := func(before string, args []*Node, after string) {
		text(before)
		for i, a := range args {
			if i > 0 {
				text(", ")
			}
			part(a, loose)
		}
		text(after)
	}
	o := &operators[n.Code]
	operator, l := o.text, o.level
	args := n.Args
	switch {
	case n.Code == Constant:
		s, l := literal(n.Value)
		text(s)
		return l
	case n.Code == Name:
		text(n.Name)
		if n.Field != "" {
			text("." + n.Field)
		}
		return atomLevel
	case n.Code == Call:
		list(n.Function+"(", args, ")")
		return atomLevel
	case n.IsImplicit():
		part(args[0], loose)
		return args[0].holds()
	case n.Code == Negate:
		text("-")
		part(args[0], atomLevel)
		return signLevel
	case n.Code == If:
		part(args[0], orLevel)
		text(" ? ")
		part(args[1], orLevel)
		text(" : ")
		part(args[2], orLevel)
		return loose
	case n.Code == In:
		part(args[0], addLevel)
		list(" in [", args[1:], "]")
		return compareLevel
	case n.Code == Not && n.written == "":
		list("not (", args, ")")
		return signLevel
	case l == atomLevel:
		list(operator+"(", args, ")")
		return atomLevel
	case n.written == "!=":
		operator, l, args = n.written, compareLevel, args[0].Args
	case n.written != "":
		operator, args = n.written, []*Node{args[1], args[0]}
	}
	left, right := l, l+1
	switch l {
	case andLevel, orLevel:
		right = l
	case compareLevel, signLevel:
		left = right
	}
	part(args[0], left)
	text(" " + operator + " ")
	part(args[1], right)
	return l
}

// holds is the level of the node.
func (n *Node) holds() level {
	return n.layout(func(string) {}, func(*Node, level) {})
}

// String prints the node in the language of specifications.
func (n *Node) String() string {
	var b strings.Builder
	var print func(n *Node, at level)
	print = func(n *Node, at level) {
		if n.holds() < at {
			b.WriteByte('(')
			defer b.WriteByte(')')
		}
		n.layout(func(s string) { b.WriteString(s) }, print)
	}
	print(n, loose)
	return b.String()
}

// literal is a constant as it is written.
func literal(v any) (string, level) {
	switch v := v.(type) {
	case int:
		switch {
		case v == math.MinInt64:
			return "-9223372036854775807 - 1", addLevel
		case v < 0:
			return strconv.Itoa(v), signLevel
		}
		return strconv.Itoa(v), atomLevel
	case float64:
		s := strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(s, ".e") {
			s += ".0"
		}
		if math.Signbit(v) {
			return s, signLevel
		}
		return s, atomLevel
	case bool:
		return strconv.FormatBool(v), atomLevel
	}
	return strconv.Quote(v.(string)), atomLevel
}
