package clc

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
)

// A Macro is an object-like macro that a source defines.
type Macro struct {
	Name    string
	Text    string // of the first definition, on one line, without comments
	Guarded bool   // under #ifndef of its own name: the definition is a default
}

// Macros returns the object-like macros of a source, each once, in the order of their first definitions. It
// leaves out definitions under #if 0 and include guards.
func Macros(text string) (macros []Macro) {
	var open []string // the conditions, as the names of undefined macros; «0»: never; "": others
	for _, d := range scanDirectives(text).directives {
		switch name, rest := splitMacro(d.argument); {
		case strings.HasPrefix(d.name, "if"):
			macro, negated, _ := d.tested()
			switch {
			case d.argument == "0":
				macro = "0"
			case !negated:
				macro = ""
			}
			open = append(open, macro)
		case strings.HasPrefix(d.name, "el") && len(open) > 0:
			open[len(open)-1] = ""
		case d.name == "endif" && len(open) > 0:
			open = open[:len(open)-1]
		case d.name != "define" || strings.HasPrefix(rest, "(") || strings.TrimSpace(rest) == "" || slices.Contains(open, "0"):
		case !slices.ContainsFunc(macros, func(m Macro) bool { return m.Name == name }):
			macros = append(macros, Macro{name, strings.TrimSpace(rest), slices.Contains(open, name)})
		}
	}
	return macros
}

// A Use is what a kernel does with the buffer of an argument, as far as the text shows it.
type Use struct {
	Written bool // an element is assigned
	Read    bool // it occurs otherwise
}

// A Function is the text of a kernel function.
type Function struct {
	Dimensions int            // of the NDRange: 1 + the largest argument of get_global_id and its like; 0: none is called
	WorkGroup  []string       // the expressions of reqd_work_group_size, or nil
	Uses       map[string]Use // of identifiers, by name

	Arguments []string // the names of its arguments

	Shares     bool    // its work-items share local memory, or wait for each other
	ReadsSize  [3]bool // it reads the local size of a dimension
	ReadsLocal [3]bool // it reads the index within the work-group of a dimension
	ReadsGroup [3]bool // it reads the index of the work-group of a dimension

	Images map[string]Image // what the source reads of images and writes to them; "": of any

	Loops   map[string]bool // the identifiers in the heads of its loops
	Indices Indices

	// Reach are the identifiers that may matter to the kernel: see reach.
	Reach map[string]bool
}

// An Image is the access to an image by the functions of OpenCL C.
type Image struct {
	Suffix string // of read_image and write_image: f, i, ui or h; "": there is no call
	First  bool   // only the first channel is read
}

// images finds the calls of read_image and write_image.
func images(code []string) map[string]Image {
	found := map[string]Image{}
	for i, w := range code {
		suffix, reads := strings.CutPrefix(w, "read_image")
		if !reads {
			suffix, _ = strings.CutPrefix(w, "write_image")
		}
		if !slices.Contains([]string{"f", "i", "ui", "h"}, suffix) || i+2 >= len(code) || code[i+1] != "(" {
			continue
		}
		end := closing(code, i+1)
		first := reads && end+1 < len(code) && code[end] == "." && slices.Contains([]string{"x", "s0", "r"}, code[end+1])
		for _, name := range []string{code[i+2], ""} {
			known, again := found[name]
			found[name] = Image{suffix, first && (known.First || !again)}
		}
	}
	return found
}

// FindKernel finds a kernel function in a source; nil if its text is not there. The function that conditions choose is not
// known: FindKernel takes the first of several with the name. If a macro makes the name, it takes the first kernel whose
// arguments have the given names.
func FindKernel(text, name string, arguments ...string) *Function {
	all := tokens(text)
	named := func(open int, _ []string) bool { return all[open-1] == name }
	made := func(_ int, names []string) bool { return len(names) > 0 && slices.Equal(names, arguments) }
	for _, fits := range []func(open int, names []string) bool{named, made} {
		for open := 1; open < len(all); open++ {
			if all[open] != "(" {
				continue
			}
			start, body, found := kernelAt(all, open)
			if names := argumentNames(all, open); found && fits(open, names) {
				return readKernel(text, all, start, body, names)
			}
		}
	}
	return nil
}

// kernelAt returns the first word and the body of the kernel whose arguments begin with the bracket at an index, if there is one.
func kernelAt(all []string, open int) (start, body int, found bool) {
	start, body = open, open
	for start > 0 && !slices.Contains([]string{";", "{", "}", "kernel", "__kernel"}, all[start]) {
		start--
	}
	if start == open || !strings.HasSuffix(all[start], "kernel") {
		return 0, 0, false
	}
	for body < len(all) && all[body] != "{" && all[body] != ";" {
		body++
	}
	return start, body, body < len(all) && all[body] == "{"
}

// argumentNames returns the names of the arguments of a function, between the bracket at an index and the one that closes it.
func argumentNames(all []string, open int) (names []string) {
	for _, argument := range arguments(all, open) {
		words := slices.DeleteFunc(slices.Clone(argument), func(w string) bool { return !isWord(rune(w[0])) })
		if len(words) > 1 {
			names = append(names, words[len(words)-1])
		}
	}
	return names
}

func readKernel(text string, all []string, start, body int, arguments []string) *Function {
	end, head := closing(all, body), start // an attribute may stand before the word kernel
	for head > 0 && !slices.Contains([]string{";", "{", "}"}, all[head-1]) {
		head--
	}
	f := &Function{
		WorkGroup: workGroup(all[head:body]), Uses: uses(all[body:end]), Arguments: arguments, Images: images(all),
		Loops: loops(all[body:end]), Indices: indices(all[body:end]), Reach: reach(text, all, body),
	}
	code := all[start:end]
	if f.Dimensions = dimensions(code); f.Dimensions == 0 {
		code = all // functions that it calls read the indices
		f.Dimensions = dimensions(code)
	}
	f.readSharing(code)
	return f
}

// readSharing finds what ties a kernel to a local size.
func (f *Function) readSharing(code []string) {
	for i, w := range code {
		f.Shares = f.Shares || slices.Contains([]string{"barrier", "work_group_barrier", "local", "__local"}, w)
		if i+2 >= len(code) || code[i+1] != "(" || !slices.Contains([]string{"0", "1", "2"}, code[i+2]) {
			continue
		}
		axis := code[i+2][0] - '0'
		f.ReadsSize[axis] = f.ReadsSize[axis] || w == "get_local_size" || w == "get_enqueued_local_size"
		f.ReadsLocal[axis] = f.ReadsLocal[axis] || w == "get_local_id"
		f.ReadsGroup[axis] = f.ReadsGroup[axis] || w == "get_group_id"
	}
}

// loops returns the words in the heads of the loops of some code.
func loops(code []string) map[string]bool {
	found := map[string]bool{}
	for i, t := range code {
		if (t == "for" || t == "while") && i+1 < len(code) && code[i+1] == "(" {
			for _, word := range code[i+1 : closing(code, i+1)] {
				found[word] = true
			}
		}
	}
	return found
}

// Tested returns the macros whose values the conditions of a source read and that nobody defines, given those of the compiler's
// options. Each has the first number with which it is compared, as in #if VECTOR == 4; "0" if it is a switch that no code reads,
// as in #if DEBUG; else no text. A macro for which the source asks whether it is defined is not among them, nor are those of
// OpenCL C and of compilers.
func Tested(text string, given []Macro) (macros []Macro) {
	table, settled := macroTable{}, map[string]bool{"defined": true}
	directives := scanDirectives(text).directives
	for _, d := range directives {
		switch name, _ := splitMacro(d.argument); d.name {
		case "define":
			table[name], settled[name] = macroState{anyText, unknown}, true
		case "ifdef", "ifndef":
			settled[name] = true
		}
		for _, m := range isDefined.FindAllStringSubmatch(d.argument, -1) {
			settled[m[1]+m[2]] = true
		}
	}
	for _, m := range given {
		table[m.Name], settled[m.Name] = macroState{m.Text, yes}, true
	}
	var open conditions
	for _, d := range directives {
		skipped := open.exclude()
		if n := len(open); d.name == "elif" && n > 0 {
			skipped = open[:n-1].exclude() || open[n-1].past || open[n-1].taken == yes
		}
		words := tokens(d.argument)
		for i, name := range words {
			if d.name != "if" && d.name != "elif" || skipped || settled[name] || !isName(name) || name[0] == '_' || IsWord(name) {
				continue
			}
			after := strings.Join(words[i+1:], "")
			around := strings.Join(words[:i], "") + " " + after
			value := ""
			if _, _, read := First(text, name); !read && switched.MatchString(around) {
				value = "0"
			}
			if m := compared.FindStringSubmatch(around); m != nil {
				value = m[1]
			}
			at := slices.IndexFunc(macros, func(m Macro) bool { return m.Name == name })
			switch {
			case strings.HasPrefix(after, "("):
			case at < 0:
				macros, table[name] = append(macros, Macro{name, value, true}), macroState{anyText, unknown}
			case macros[at].Text == "":
				macros[at].Text = value
			}
		}
		open.read(d, table)
	}
	return macros
}

var (
	switched = regexp.MustCompile(`(?:^|[(!&|]) (?:$|[)&|])`)  // what stands before and after a switch
	compared = regexp.MustCompile(`(?:^|[(!&|]) [=!]=(\d\w*)`) // what stands before and after a macro that is compared with a number
)

// reach returns the identifiers of a source that may matter to the kernel whose body begins at an index: those in its text, in
// that of the functions and macros whose names are among them, in conditions, and outside of functions.
func reach(text string, all []string, body int) map[string]bool {
	texts := map[string][]string{} // of functions and macros, by name
	var open []string              // words that are reached and not followed yet
	from := 0                      // the first word of the current declaration
	for i := 0; i < len(all); i++ {
		switch all[i] {
		case ";":
			open = append(open, all[from:i]...)
			from = i + 1
		case "{":
			end := closing(all, i)
			header, words := all[from:i], all[from:end]
			name := functionName(header)
			switch {
			case i == body || name == "":
				open = append(open, words...)
			case !slices.Contains(header, "kernel") && !slices.Contains(header, "__kernel"):
				texts[name] = append(texts[name], words...)
			}
			i, from = end-1, end
		}
	}
	for _, d := range scanDirectives(text).directives {
		switch name, rest := splitMacro(d.argument); d.name {
		case "define":
			texts[name] = append(texts[name], tokens(rest)...)
		case "undef", "ifndef":
		default:
			open = append(open, tokens(d.argument)...)
		}
	}
	found := map[string]bool{}
	for len(open) > 0 {
		word := open[len(open)-1]
		open = open[:len(open)-1]
		if !found[word] {
			found[word] = true
			open = append(open, texts[word]...)
		}
	}
	return found
}

// functionName returns the name before the first bracket of a function's header, or "" if it is no function.
func functionName(header []string) string {
	for i := 1; i < len(header); i++ {
		switch name := header[i-1]; {
		case header[i] == "(" && strings.Trim(name, "_") == "attribute":
			i = closing(header, i) - 1
		case header[i] == "(" && isName(name):
			return name
		}
	}
	return ""
}

// Typedef returns the type that a source gives a name by a typedef, such as unsigned int; "" if there is none.
func Typedef(text, name string) string {
	all := tokens(text)
	for i := range all {
		end := i + 2
		for end < len(all) && isName(all[end]) {
			end++
		}
		if all[i] == "typedef" && end < len(all) && all[end] == ";" && all[end-1] == name {
			return strings.Join(all[i+1:end-1], " ")
		}
	}
	return ""
}

// IsType reports whether a source uses a name as a type: before another name, or after a qualifier.
func IsType(text, name string) bool {
	qualifiers := strings.Fields("const volatile global local constant private __global __local __constant __private typedef")
	all := tokens(text)
	for i, t := range all {
		if t != name {
			continue
		}
		if i+1 < len(all) && isName(all[i+1]) || i > 0 && slices.Contains(qualifiers, all[i-1]) {
			return true
		}
	}
	return false
}

// tokens returns the words, literals and other characters of a source, without directives and comments.
func tokens(text string) (all []string) {
	s := newScanner(text)
	for word := s.next(); word != ""; word = s.next() {
		all = append(all, word)
	}
	return all
}

// closing returns the index after the bracket that closes the one at an index.
func closing(all []string, open int) int {
	depth := 0
	for i := open; i < len(all); i++ {
		switch all[i] {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(all)
}

// workGroup returns the sizes of reqd_work_group_size.
func workGroup(header []string) (sizes []string) {
	i := slices.IndexFunc(header, func(t string) bool { return strings.Trim(t, "_") == "reqd_work_group_size" })
	if i < 0 || i+1 == len(header) || header[i+1] != "(" {
		return nil
	}
	return each.Of(arguments(header, i+1), func(part []string) string { return strings.Join(part, " ") })
}

// arguments splits the arguments between the bracket at an index and the one that closes it.
func arguments(all []string, open int) (parts [][]string) {
	end := closing(all, open)
	from := open + 1
	for i := from; i < end; i++ {
		switch {
		case all[i] == "," || i == end-1:
			parts = append(parts, all[from:i])
			from = i + 1
		case slices.Contains([]string{"(", "[", "{"}, all[i]):
			i = closing(all, i) - 1
		}
	}
	return parts
}

// dimensions returns the number of dimensions of the indices that some code reads.
func dimensions(code []string) (n int) {
	reads := []string{"get_global_id", "get_local_id", "get_group_id", "get_global_size", "get_local_size", "get_num_groups"}
	for i, t := range code {
		if slices.Contains(reads, t) && i+2 < len(code) && code[i+1] == "(" {
			if axis := strings.Index("012", code[i+2]); axis >= 0 && len(code[i+2]) == 1 {
				n = max(n, axis+1)
			}
		}
	}
	return n
}

// uses finds the identifiers of a function's body whose elements are assigned, also by vstore, by atomic functions
// and by copies of work-groups.
func uses(body []string) map[string]Use {
	found := map[string]Use{}
	pointers, targets := pointers(body)
	note := func(name string, u Use) {
		for range 8 {
			found[name] = Use{found[name].Written || u.Written, found[name].Read || u.Read}
			if name = pointers[name]; name == "" {
				return
			}
		}
	}
	for i, t := range body {
		if !isWord(rune(t[0])) || targets[i] {
			continue
		}
		if i+1 < len(body) && body[i+1] == "(" {
			if target, reads := targetOf(t, arguments(body, i+1)); target != "" {
				note(target, Use{true, reads})
			}
			continue
		}
		next := i + 1
		for next+1 < len(body) {
			switch {
			case body[next] == ".":
				next += 2
				continue
			case body[next] == "-" && body[next+1] == ">":
				next += 3
				continue
			case body[next] == "[":
				next = closing(body, next)
				continue
			}
			break
		}
		element := next > i+1 || i > 1 && body[i-1] == "*" && slices.Contains([]string{";", "{", "}", ")"}, body[i-2])
		rest := strings.Join(body[min(next, len(body)):min(next+3, len(body))], "")
		switch {
		case !element:
			note(t, Use{Read: true})
		case strings.HasPrefix(rest, "=") && !strings.HasPrefix(rest, "=="):
			note(t, Use{Written: true})
		case updates.MatchString(rest):
			note(t, Use{true, true})
		default:
			note(t, Use{Read: true})
		}
	}
	return found
}

// updates matches an operator that reads and assigns.
var updates = regexp.MustCompile(`^(?:[-+*/%&|^]=|\+\+|--|<<=|>>=)`)

// pointers returns the names to which declarations of pointers set these, as p of float *q = p + i, and the places of
// both names.
func pointers(body []string) (of map[string]string, places map[int]bool) {
	of, places = map[string]string{}, map[int]bool{}
	for i := 1; i+3 < len(body); i++ {
		if body[i] != "*" || body[i+2] != "=" || !isName(body[i+1]) || !isWord(rune(body[i-1][0])) {
			continue
		}
		end := i + 3 + max(0, slices.Index(body[i+3:], ";"))
		if name := pointee(body[i+3 : end]); name != "" && name != body[i+1] {
			of[body[i+1]] = name
			places[i+1], places[i+3+slices.Index(body[i+3:end], name)] = true, true
		}
	}
	return of, places
}

// targetOf returns the identifier that a function of OpenCL C writes through, and whether it reads it, too.
func targetOf(function string, args [][]string) (target string, reads bool) {
	var pointer []string
	switch {
	case len(args) == 0:
	case strings.HasPrefix(function, "atom"), strings.HasPrefix(function, "async_work_group"):
		pointer, reads = args[0], strings.HasPrefix(function, "atom")
	case strings.HasPrefix(function, "write_image"):
		pointer = args[0]
	case strings.HasPrefix(function, "vstore"):
		pointer = args[len(args)-1]
	}
	for i := 0; i < len(pointer); i++ {
		if pointer[i] == "(" { // a conversion
			i = closing(pointer, i) - 1
			continue
		}
		if first := pointer[i][0]; isWord(rune(first)) && (first < '0' || first > '9') {
			return pointer[i], reads
		}
	}
	return "", false
}
