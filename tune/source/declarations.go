package source

import (
	"fmt"
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

// A Function is the text of a kernel function.
type Function struct {
	Dimensions int      // of the NDRange: 1 + the largest argument of get_global_id and its like; 0: none is called
	WorkGroup  []string // the expressions of reqd_work_group_size, or nil

	Arguments []string // the names of its arguments

	Shares bool            // its work-items share local memory, or wait for each other
	Calls  map[string]bool // the functions of the NDRange that it calls for a dimension, such as get_local_id(0)

	Bounds   [3][]string       // the names with which the index of a dimension is compared, as n in i < n
	Elements map[string]string // the bound of the only index of a name's elements, as n for a in if (i < n) a[i] = 0; "" with others
	PerGroup [3][]string       // the names and numbers by which the index of the work-group is multiplied; "?" is another expression

	Lines [2]int // the first and the last line of the body

	// Reach are the identifiers that may matter to the kernel: see reach.
	Reach map[string]bool

	code string // the words of the body; what stands in square brackets comes after the rest
}

// Reads reports whether the kernel calls a function such as get_local_id for a dimension.
func (f *Function) Reads(function string, axis int) bool {
	return f.Calls[fmt.Sprintf("%s(%d)", function, axis)]
}

// FindKernel finds a kernel function in a source; nil if its text is not there. The function that conditions choose is not
// known: FindKernel takes the first of several with the name. If a macro makes the name, it takes the first kernel whose
// arguments have the given names.
func FindKernel(text, name string, arguments ...string) *Function {
	all, lines := scan(text)
	named := func(open int, _ []string) bool { return all[open-1] == name }
	made := func(_ int, names []string) bool { return len(names) > 0 && slices.Equal(names, arguments) }
	for _, fits := range []func(open int, names []string) bool{named, made} {
		for open := 1; open < len(all); open++ {
			if all[open] != "(" {
				continue
			}
			start, body, found := kernelAt(all, open)
			if names := argumentNames(all, open); found && fits(open, names) {
				f := readKernel(text, all, start, body, names)
				f.Lines = [2]int{lines[min(body+1, len(all)-1)], lines[closing(all, body)-1]}
				return f
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
		WorkGroup: workGroup(all[head:body]), code: flat(all[body:end]), Arguments: arguments,
		Reach: reach(text, all, body),
	}
	f.readIndices(all[body:end])
	code := all[start:end]
	if f.Calls = calls(code); len(f.Calls) == 0 {
		code = all // functions that it calls read the indices
		f.Calls = calls(code)
	}
	f.Shares = slices.ContainsFunc(code, func(w string) bool {
		return slices.Contains([]string{"barrier", "work_group_barrier", "local", "__local"}, w)
	})
	for call := range f.Calls {
		f.Dimensions = max(f.Dimensions, int(call[len(call)-2]-'0')+1)
	}
	return f
}

// calls returns the functions of the NDRange that some code calls for a dimension.
func calls(code []string) map[string]bool {
	found := map[string]bool{}
	for i := 0; i+2 < len(code); i++ {
		if strings.HasPrefix(code[i], "get_") && code[i+1] == "(" && slices.Contains([]string{"0", "1", "2"}, code[i+2]) {
			found[code[i]+"("+code[i+2]+")"] = true
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
	definition := regexp.MustCompile(`\btypedef ((?:[A-Za-z_]\w* )+)` + regexp.QuoteMeta(name) + ` ;`)
	if m := definition.FindStringSubmatch(strings.Join(tokens(text), " ")); m != nil {
		return strings.TrimSpace(m[1])
	}
	return ""
}

// IsType reports whether a source uses a name as a type: before another name, or after a qualifier.
func IsType(text, name string) bool {
	name = regexp.QuoteMeta(name)
	use := regexp.MustCompile(`\b(?:` + name + ` [A-Za-z_]|(?:const|volatile|(?:__)?(?:global|local|constant|private)|typedef) ` + name + `\b)`)
	return use.MatchString(strings.Join(tokens(text), " "))
}

// IsEnum reports whether a source declares a name as that of an enumeration.
func IsEnum(text, name string) bool {
	name = regexp.QuoteMeta(name)
	return name != "" && regexp.MustCompile(`\benum `+name+`\b|\btypedef enum (?:\w+ )?\{[^}]*\} `+name+`\b`).MatchString(strings.Join(tokens(text), " "))
}

// tokens returns the words, literals and other characters of a source, without directives and comments.
func tokens(text string) []string {
	all, _ := scan(text)
	return all
}

// scan returns the words, literals and other characters of a source, without directives and comments, and their lines.
func scan(text string) (all []string, lines []int) {
	s := newScanner(text)
	for word := s.next(); word != ""; word = s.next() {
		all, lines = append(all, word), append(lines, s.line)
	}
	return all, lines
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
