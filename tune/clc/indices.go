package clc

import (
	"maps"
	"slices"
	"strings"
	"unicode"
)

// Indices is what the text of a kernel tells of the indices of its buffers.
type Indices struct {
	// Limits are the names that bound the global index of each dimension: those with which it is compared, then
	// those by which the other terms of an index are multiplied, as in y * width + x.
	Limits [3][]string

	// Elements are the bounds of the variables in the indices of each name, of the longest of its indices: "0" to "2"
	// for the global index of a dimension, else the names in the condition of a loop.
	Elements map[string][][]string

	// Targets are the names whose elements the elements of a name are an index of.
	Targets map[string][]string

	// PerItem are the names that multiply the global index of each dimension.
	PerItem [3][]string

	// PerGroup are the expressions that multiply the index of the work-group in each dimension: the elements that a
	// work-group computes. "get_local_size" is the local size.
	PerGroup [3][]string
}

// A flow holds the values that variables of a function can have, as far as the text shows them.
type flow struct {
	body   []string
	values map[string][][]string // assigned expressions
	loops  map[string][]loop     // by the variable of the condition
	known  map[step][]string     // what variables found
}

// A step is a name that [flow.variables] follows, and how many names it followed before.
type step struct {
	name  string
	depth int
}

// A loop is the condition of a loop.
type loop struct {
	at    int      // the place of the loop in the body
	names []string // that bound the variable
}

// indices reads the indices in the body of a kernel.
func indices(body []string) Indices {
	f := &flow{body: body, values: map[string][][]string{}, loops: map[string][]loop{}, known: map[step][]string{}}
	x := Indices{Elements: map[string][][]string{}, Targets: map[string][]string{}}
	f.readAssignments()
	f.readLoops()
	var strides [3][]string
	for i, w := range body[:max(0, len(body)-1)] {
		if slices.Contains(globalIDs, w) && body[i+1] == "(" && i+5 < len(body) && body[i+4] == "*" {
			if axis := strings.Index("012", body[i+2]); axis >= 0 && isName(body[i+5]) && w == globalIDs[0] {
				x.PerItem[axis] = append(x.PerItem[axis], body[i+5])
			}
		}
		if axis := f.group(i); axis >= 0 {
			if factors := f.factors(i); x.PerGroup[axis] == nil || factors != nil && len(factors) < len(x.PerGroup[axis]) {
				x.PerGroup[axis] = factors // others also skip rows of a buffer
			}
		}
		if axis, limit := f.limit(i); axis >= 0 {
			x.Limits[axis] = append(x.Limits[axis], limit)
		}
		switch {
		case !isName(w):
		case body[i+1] == "[":
			index := body[i+2 : closing(body, i+1)-1]
			f.readStrides(index, &strides)
			x.addIndex(f, w, index, i)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.values)) {
		for _, e := range f.values[name] {
			f.readStrides(e, &strides)
			buffer := pointee(e)
			if element := len(e) > 1 && e[0] == buffer && e[1] == "["; buffer != "" && buffer != name && !element {
				x.addIndex(f, buffer, e, 0)
			}
		}
	}
	for axis := range strides {
		slices.Sort(strides[axis])
		x.Limits[axis] = append(x.Limits[axis], strides[axis]...)
	}
	return x
}

// globalIDs are the functions that tell the place of a work-item in the NDRange.
var globalIDs = []string{"get_global_id", "get_group_id"}

func isName(word string) bool { return isWord(rune(word[0])) && !unicode.IsDigit(rune(word[0])) }

// readAssignments finds NAME = expression.
func (f *flow) readAssignments() {
	for i := 0; i+2 < len(f.body); i++ {
		if !isName(f.body[i]) || f.body[i+1] != "=" || f.body[i+2] == "=" || i > 0 && f.body[i-1] == "." {
			continue
		}
		end := i + 2
		for end < len(f.body) && !slices.Contains([]string{";", ",", ")"}, f.body[end]) {
			if slices.Contains([]string{"(", "[", "{"}, f.body[end]) {
				end = closing(f.body, end)
			} else {
				end++
			}
		}
		f.values[f.body[i]] = append(f.values[f.body[i]], f.body[i+2:min(end, len(f.body))])
	}
}

// readLoops finds the conditions NAME < expression of loops.
func (f *flow) readLoops() {
	for i := 0; i+1 < len(f.body); i++ {
		if t := f.body[i]; t != "for" && t != "while" || f.body[i+1] != "(" {
			continue
		}
		head := f.body[i+2 : max(i+2, closing(f.body, i+1)-1)]
		if f.body[i] == "for" {
			from := slices.Index(head, ";") + 1
			to := from + max(0, slices.Index(head[from:], ";"))
			head = head[from:to]
		}
		at := slices.IndexFunc(head, func(w string) bool { return w == "<" || w == ">" })
		if at < 1 || !isName(head[at-1]) {
			continue
		}
		names := slices.DeleteFunc(slices.Clone(head[at+1:]), func(w string) bool { return !isName(w) })
		f.loops[head[at-1]] = append(f.loops[head[at-1]], loop{i, names})
	}
}

// variables returns the variables that an expression depends on: "0" to "2" for the global index of a dimension, and
// the variables of loops. It leaves out values that come from buffers.
func (f *flow) variables(expression []string, depth int) (found []string) {
	add := func(name string) {
		if !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	for i := 0; i < len(expression); i++ {
		w := expression[i]
		switch {
		case w == "[":
			i = closing(expression, i) - 1
		case slices.Contains(globalIDs, w) && i+2 < len(expression) && strings.Contains("012", expression[i+2]):
			add(expression[i+2])
		case isName(w) && depth <= 12:
			for _, name := range f.variablesOf(w, depth) {
				add(name)
			}
		}
	}
	return found
}

// variablesOf returns the variables that a name depends on. It follows each name once at each depth: unrolled code reads a
// name in many expressions, and the names of these in many more.
func (f *flow) variablesOf(name string, depth int) []string {
	of, found := f.known[step{name, depth}]
	if found {
		return of
	}
	var values []string
	for _, e := range f.values[name] {
		if !slices.Contains(e, name) {
			values = append(append(values, e...), ";")
		}
	}
	of = f.variables(values, depth+1)
	if _, loop := f.loops[name]; loop && len(of) == 0 {
		of = []string{name}
	}
	f.known[step{name, depth}] = of
	return of
}

// beforeExpressions are words before an expression that is compared.
var beforeExpressions = []string{"=", "&", "|", "?", ";", "{", "}", ",", "return"}

// limit returns the name with which the operator at a place compares an expression, and the dimension whose global index this
// depends on besides variables of loops; -1 if there is no such comparison.
func (f *flow) limit(at int) (axis int, name string) {
	end := at + 1
	if end < len(f.body) && f.body[end] == "=" {
		end++
	}
	compares := strings.Contains("<>", f.body[at]) && (at == 0 || !strings.Contains("<>-", f.body[at-1]))
	if !compares || end >= len(f.body) || !isName(f.body[end]) {
		return -1, ""
	}
	from := at
	for depth := 0; from > 0; from-- {
		w := f.body[from-1]
		depth += strings.Count(")]", w) - strings.Count("([", w)
		if depth < 0 || depth == 0 && slices.Contains(beforeExpressions, w) {
			break
		}
	}
	axis = -1
	for _, v := range f.variables(f.body[from:at], 0) {
		switch i := strings.Index("012", v); {
		case i >= 0 && axis >= 0:
			return -1, ""
		case i >= 0:
			axis = i
		}
	}
	return axis, f.body[end]
}

// group returns the dimension of the index of the work-group that the word at a place is, or -1.
func (f *flow) group(at int) int {
	code := f.body[at:]
	if values := f.values[code[0]]; len(values) == 1 && (len(code) < 2 || code[1] != "=") {
		if code = values[0]; len(code) != 4 {
			return -1
		}
	}
	if len(code) < 4 || code[0] != "get_group_id" || len(code[2]) != 1 {
		return -1
	}
	return strings.Index("012", code[2])
}

// factors returns the factors of the product that the word at a place is in, without that word; nil if there are none or one
// of them is not made of names and numbers.
func (f *flow) factors(at int) (all []string) {
	add := func(factor []string) bool {
		text := f.expression(factor, 0)
		all = append(all, text)
		return text != ""
	}
	from := at
	for from >= 2 && f.body[from-1] == "*" {
		first := from - 2
		for depth := 0; first >= 0; first-- {
			depth += strings.Count(f.body[first], ")") - strings.Count(f.body[first], "(")
			if depth == 0 {
				break
			}
		}
		if first > 0 && f.body[first] == "(" && isName(f.body[first-1]) {
			first-- // a call
		}
		if first < 0 || !add(f.body[first:from-1]) {
			return nil
		}
		from = first
	}
	to := at + 1
	if f.body[at] == "get_group_id" {
		to = at + 4
	}
	for to+1 < len(f.body) && f.body[to] == "*" {
		end := to + 2
		if f.body[to+1] == "(" {
			end = closing(f.body, to+1)
		} else if end < len(f.body) && f.body[end] == "(" {
			end = closing(f.body, end)
		}
		if end < len(f.body) && f.body[end] == "[" || !add(f.body[to+1:end]) {
			return nil
		}
		to = end
	}
	return all
}

// maxFactor bounds the text of a factor: values of values can grow beyond all bounds.
const maxFactor = 200

// expression returns an expression of names, numbers and + - *, with the values of variables in their places, or "" if
// there is another, or a longer one than maxFactor.
func (f *flow) expression(words []string, depth int) string {
	if len(words) > 1 && words[0] == "(" && closing(words, 0) == len(words) {
		words = words[1 : len(words)-1]
	}
	if len(words) == 4 && words[0] == "get_local_size" {
		return words[0]
	}
	var parts []string
	length := 0
	for _, w := range words {
		values := f.values[w]
		switch {
		case length > maxFactor || len(values) > 1 || depth > 8 || !isWord(rune(w[0])) && !strings.Contains("+-*()", w):
			return ""
		case len(values) == 1:
			if w = f.expression(values[0], depth+1); w == "" || w == "get_local_size" && len(words) > 1 {
				return w[:0]
			}
			if strings.Contains(w, " ") && len(words) > 1 {
				w = "(" + w + ")"
			}
		case strings.HasPrefix(w, "get_"):
			return ""
		}
		parts = append(parts, w)
		length += len(w)
	}
	return strings.NewReplacer("( ", "(", " )", ")").Replace(strings.Join(parts, " "))
}

// readStrides finds the factors in an expression such as y * width + x, and notes them as limits of x.
func (f *flow) readStrides(expression []string, strides *[3][]string) {
	var terms [][]string
	from := 0
	for i := 0; i <= len(expression); i++ {
		switch {
		case i == len(expression) || expression[i] == "+":
			terms = append(terms, expression[from:i])
			from = i + 1
		case expression[i] == "(" || expression[i] == "[":
			i = closing(expression, i) - 1
		}
	}
	for _, x := range terms {
		of := f.variables(x, 0)
		if len(of) != 1 || slices.Contains(x, "*") || !strings.Contains("012", of[0]) {
			continue
		}
		for _, row := range terms {
			if rows := f.variables(row, 0); !slices.Contains(row, "*") || len(rows) == 0 || slices.Contains(rows, of[0]) {
				continue
			}
			for i, w := range row {
				if isName(w) && len(f.variables([]string{w}, 0)) == 0 && (i+1 == len(row) || row[i+1] != "(") {
					axis := strings.Index("012", of[0])
					strides[axis] = append(strides[axis], w)
				}
			}
		}
	}
}

// addIndex notes the variables of an index of a name, at a place in the body.
func (x *Indices) addIndex(f *flow, name string, index []string, at int) {
	var bounds [][]string
	for _, v := range f.variables(index, 0) {
		bound := []string{v}
		for i, l := range f.loops[v] {
			if i == 0 || l.at < at { // the last before the place
				bound = l.names
			}
		}
		bounds = append(bounds, bound)
	}
	if len(bounds) > len(x.Elements[name]) {
		x.Elements[name] = bounds
	}
	for i, w := range index { // the elements of other buffers in the index
		sources := []string{w}
		if i+1 == len(index) || index[i+1] != "[" {
			sources = nil
			for _, e := range f.values[w] {
				if len(e) > 1 && e[1] == "[" {
					sources = append(sources, e[0])
				}
			}
		}
		for _, source := range sources {
			if isName(source) && source != name && !slices.Contains(x.Targets[source], name) {
				x.Targets[source] = append(x.Targets[source], name)
			}
		}
	}
}

// pointee returns the name that an expression with a pointer begins with, after conversions: p of (float *)&p[i] and of
// p + i; "" if there is none.
func pointee(expression []string) string {
	for i := 0; i < len(expression); i++ {
		switch w := expression[i]; {
		case w == "(" && slices.Contains(expression[i:closing(expression, i)], "*"):
			i = closing(expression, i) - 1
		case isName(w):
			return w
		case w != "&" && w != "(":
			return ""
		}
	}
	return ""
}
