package python

import "slices"

// call translates a function.
func (t *translator) call(n *call, b *binding) fragment {
	checkCall(n)
	at := n.place()
	if n.function == "range" && t.values == nil {
		return t.rangeItems(n, b)
	}
	args := make([]fragment, len(n.arguments))
	for i, a := range n.arguments {
		args[i] = t.translate(a, b)
	}
	if !slices.ContainsFunc(args, func(f fragment) bool { return !isConstant(f) }) {
		if f, ok := t.foldedCall(n, args); ok {
			return f
		}
	}
	switch n.function {
	case "bool":
		return args[0].condition()
	case "any":
		return anyOf(t.items(n, args[0]), fragment.condition)
	case "all":
		return allOf(t.items(n, args[0]), fragment.condition)
	case "len":
		if args[0].kind == textKind {
			f := called("len", wholeKind, args[0])
			f.span = span{0, all64.hi}
			return f
		}
		return t.count(n, t.items(n, args[0]))
	case "sum":
		return t.sum(n, t.items(n, args[0]))
	case "list", "tuple":
		f := fragment{kind: listKind, items: t.items(n, args[0])}
		return f
	case "sorted":
		failf(at, "sorted of what depends on parameters is not allowed")
	case "min", "max":
		return t.extreme(n, args)
	}
	f := args[0].number()
	if !f.kind.isNumber() {
		failf(at, "%s does not apply to %v", n.function, f.kind)
	}
	return t.numeric(at, n.function, f)
}

// foldedCall computes a function of constants; see folded.
func (t *translator) foldedCall(n *call, args []fragment) (fragment, bool) {
	values := make([]any, len(args))
	for i, a := range args {
		values[i] = a.constant
	}
	v, ok := t.attempt(func() any { return t.callOf(n, values) })
	if !ok {
		return fragment{}, false
	}
	return constantFragment(n.place(), v), true
}

// items are the items of a list.
func (t *translator) items(n *call, f fragment) []item {
	if f.kind != listKind {
		failf(n.place(), "%s needs a list, not %v", n.function, f.kind)
	}
	return f.list()
}

// numeric is a function of one number, which is not constant.
func (t *translator) numeric(at int, function string, f fragment) fragment {
	switch function {
	case "float":
		if f.kind == realKind {
			return f
		}
		r := called("float", realKind, f)
		r.zero = canBeZero(f)
		return r
	case "abs":
		return t.absolute(at, f)
	case "math.sqrt", "math.log2":
		return called(numericFunctions[function], realKind, f)
	}
	if f.kind == wholeKind {
		return f
	}
	return called(numericFunctions[function], wholeKind, f)
}

func (t *translator) absolute(at int, f fragment) fragment {
	if f.kind == realKind {
		return called("abs", realKind, f)
	}
	if f.kind == wholeKind {
		if f.span.lo >= 0 {
			return f
		}
		if f.span.fits64() {
			r := called("abs", wholeKind, f)
			r.span = span{0, max(f.span.hi, -f.span.lo)}
			r.zero = f.zero
			return r
		}
	}
	zero := constantFragment(at, 0)
	return t.choice(at, t.link(link{column(at), "<", nil}, f, zero), t.negative(at, f), f)
}

// count is how many items a list has.
func (t *translator) count(n *call, items []item) fragment {
	ones := make([]item, len(items))
	for i, round := range items {
		ones[i] = item{round.guard, constantFragment(n.place(), 1)}
	}
	return t.sum(n, ones)
}

func (t *translator) sum(n *call, items []item) fragment {
	zero := constantFragment(n.place(), 0)
	total := zero
	for _, i := range items {
		v := i.value.number()
		if !v.kind.isNumber() {
			failf(n.place(), "sum does not apply to %v", v.kind)
		}
		if i.guard != nil {
			v = t.choice(n.place(), *i.guard, v, zero)
		}
		switch a, b := total.constant, v.constant; {
		case a != nil && b != nil:
			total = constantFragment(n.place(), t.binaryOf(n.place(), "+", a, b))
		case total.kind == wholeKind && a != nil && truthless(a) && v.kind == wholeKind:
			total = v
		default:
			total = t.compute(n.place(), "+", total, v)
		}
		t.checked(n.place(), total)
	}
	return total
}

func truthless(v any) bool { return !truth(v) }

// extreme is the least or the largest of the arguments, or of the items of a list.
func (t *translator) extreme(n *call, args []fragment) fragment {
	values := args
	if len(args) == 1 {
		values = nil
		for _, i := range t.items(n, args[0]) {
			if i.guard != nil {
				failf(n.place(), "%s of a list whose length depends on parameters is not allowed", n.function)
			}
			values = append(values, i.value)
		}
	}
	if len(values) == 0 {
		failf(n.place(), "%s of nothing", n.function)
	}
	best := values[0]
	for _, v := range values[1:] {
		best = t.checked(n.place(), t.better(n, best, v))
	}
	return best
}

// better is the one of two values that goes before the other; the first where they are equal.
func (t *translator) better(n *call, a, b fragment) fragment {
	if a.kind == wholeKind && b.kind == wholeKind {
		f := called(n.function, wholeKind, a, b)
		f.span = span{min(a.span.lo, b.span.lo), min(a.span.hi, b.span.hi)}
		if n.function == "max" {
			f.span = span{max(a.span.lo, b.span.lo), max(a.span.hi, b.span.hi)}
		}
		f.zero = a.zero || b.zero
		return f
	}
	operator := "<"
	if n.function == "max" {
		operator = ">"
	}
	return t.choice(n.place(), t.link(link{n.column, operator, nil}, b, a), b, a)
}
