package clc

import (
	"slices"
	"strings"
	"unicode"
)

// An indexReader finds what the body of a kernel does with its place in the NDRange.
type indexReader struct {
	body  []string
	axes  map[string]int    // the dimension of the variables that a global index sets
	bound map[string]string // what these are compared with
}

// readIndices sets Bounds, Elements and PerGroup.
func (f *Function) readIndices(body []string) {
	r := &indexReader{body, map[string]int{}, map[string]string{}}
	for i := range body {
		r.readAssignment(i)
	}
	for i := range body {
		if axis, name := r.compares(i); axis >= 0 {
			f.Bounds[axis] = append(f.Bounds[axis], name)
		}
	}
	f.Elements = map[string]string{}
	for i, name := range body[:max(0, len(body)-3)] {
		if !isName(name) || body[i+1] != "[" {
			continue
		}
		bound := r.bound[body[i+2]]
		if known, again := f.Elements[name]; body[i+3] != "]" || again && known != bound {
			bound = ""
		}
		f.Elements[name] = bound
	}
	f.readProducts(body)
}

func isName(word string) bool { return isWord(rune(word[0])) && !unicode.IsDigit(rune(word[0])) }

// readAssignment notes the variable of NAME = expression at a place, if the expression has the index of one dimension.
func (r *indexReader) readAssignment(at int) {
	if at+2 >= len(r.body) || !isName(r.body[at]) || r.body[at+1] != "=" || r.body[at+2] == "=" {
		return
	}
	end := at + 2
	for end < len(r.body) && !slices.Contains([]string{";", ",", ")"}, r.body[end]) {
		if end++; slices.Contains([]string{"(", "["}, r.body[end-1]) {
			end = closing(r.body, end-1)
		}
	}
	if axis := r.axis(r.body[at+2 : end]); axis >= 0 {
		r.axes[r.body[at]] = axis
	}
}

// axis returns the dimension of the NDRange whose global index an expression depends on; -1 for none and for several.
func (r *indexReader) axis(expression []string) (axis int) {
	axis = -1
	for i := 0; i < len(expression); i++ {
		of, known := r.axes[expression[i]]
		switch expression[i] {
		case "[":
			i = closing(expression, i) - 1
		case "get_global_id", "get_group_id":
			of, known = strings.Index("012", expression[min(i+2, len(expression)-1)]), true
		}
		if known && axis >= 0 && of != axis {
			return -1
		} else if known {
			axis = of
		}
	}
	return axis
}

// beforeExpressions are words before an expression that is compared.
var beforeExpressions = []string{"=", "&", "|", "?", ";", "{", "}", ",", "return"}

// compares returns the name with which the operator at a place compares an expression, as in i < n, and the dimension of the
// index in the expression; -1 if there is no such comparison.
func (r *indexReader) compares(at int) (axis int, name string) {
	end := at + 1
	if end < len(r.body) && r.body[end] == "=" {
		end++
	}
	compares := strings.Contains("<>", r.body[at]) && (at == 0 || !strings.Contains("<>-", r.body[at-1]))
	if !compares || end >= len(r.body) || !isName(r.body[end]) {
		return -1, ""
	}
	from := at
	for depth := 0; from > 0; from-- {
		w := r.body[from-1]
		depth += strings.Count(")]", w) - strings.Count("([", w)
		if depth < 0 || depth == 0 && slices.Contains(beforeExpressions, w) {
			break
		}
	}
	if axis = r.axis(r.body[from:at]); axis >= 0 && from == at-1 {
		r.bound[r.body[from]] = r.body[end]
	}
	return axis, r.body[end]
}

// readProducts sets PerGroup.
func (f *Function) readProducts(body []string) {
	for i, w := range body {
		if w != "get_group_id" || i+4 >= len(body) || body[i+4] != "*" || !strings.Contains("012", body[i+2]) {
			continue
		}
		if factors, of := factors(body[i+4:]), &f.PerGroup[body[i+2][0]-'0']; *of == nil || len(factors) < len(*of) {
			*of = factors // others also skip rows of a buffer
		}
	}
}

// factors returns the names and numbers of a product, from the sign before the first one; "?" for what is no product.
func factors(code []string) (all []string) {
	depth := 0 // of brackets
	for i := 0; i < len(code) && depth >= 0; i++ {
		switch w := code[i]; {
		case w == "get_local_size":
			all = append(all, w)
			i += 3
		case isWord(rune(w[0])):
			all = append(all, w)
		case w == "(":
			depth++
		case w == ")":
			depth--
		case w != "*" && depth == 0:
			return all
		case w != "*":
			all = append(all, "?")
		}
	}
	return all
}
