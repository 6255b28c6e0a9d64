package clc

import (
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
}

// A loop is the condition of a loop.
type loop struct {
	at    int      // the place of the loop in the body
	names []string // that bound the variable
}

// indices reads the indices in the body of a kernel.
func indices(body []string) Indices {
	f := &flow{body: body, values: map[string][][]string{}, loops: map[string][]loop{}}
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
		if axis := f.group(i); axis >= 0 && x.PerGroup[axis] == nil {
			x.PerGroup[axis] = f.factors(i)
		}
		switch axis := f.axis(w); {
		case !isName(w):
		case body[i+1] == "[":
			index := body[i+2 : closing(body, i+1)-1]
			f.readStrides(index, &strides)
			x.addIndex(f, w, index, i)
		case axis >= 0 && strings.Contains("<>", body[i+1]) && i+3 < len(body):
			if limit := body[i+2 : i+4]; limit[0] == "=" && isName(limit[1]) {
				x.Limits[axis] = append(x.Limits[axis], limit[1])
			} else if isName(limit[0]) {
				x.Limits[axis] = append(x.Limits[axis], limit[0])
			}
		}
	}
	for name, expressions := range f.values {
		for _, e := range expressions {
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
		case !isName(w) || depth > 12:
		default:
			var of []string
			for _, e := range f.values[w] {
				if !slices.Contains(e, w) {
					of = append(of, f.variables(e, depth+1)...)
				}
			}
			if _, loop := f.loops[w]; loop && len(of) == 0 {
				of = []string{w}
			}
			for _, name := range of {
				add(name)
			}
		}
	}
	return found
}

// axis returns the dimension whose global index is the only thing that a name depends on, or -1.
func (f *flow) axis(name string) int {
	if len(f.values[name]) == 0 {
		return -1
	}
	if of := f.variables([]string{name}, 0); len(of) == 1 {
		return strings.Index("012", of[0])
	}
	return -1
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

// expression returns an expression of names, numbers and + - *, with the values of variables in their places, or "" if
// there is another.
func (f *flow) expression(words []string, depth int) string {
	if len(words) > 1 && words[0] == "(" && closing(words, 0) == len(words) {
		words = words[1 : len(words)-1]
	}
	if len(words) == 4 && words[0] == "get_local_size" {
		return words[0]
	}
	var parts []string
	for _, w := range words {
		values := f.values[w]
		switch {
		case len(values) > 1 || depth > 8 || !isWord(rune(w[0])) && !strings.Contains("+-*()", w):
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
