package source

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
)

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
// arguments have the given names. Of a kernel in CUDA C, which may be a template, it reads the words of OpenCL C that have the same
// meaning: Calls has get_local_id(0) for threadIdx.x.
func FindKernel(text, name string, arguments ...string) *Function {
	all, lines := scan(asOpenCL(text))
	name = FunctionName(name)
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
	start, body = lastIndex(all[:open], ";", "{", "}", "kernel", "__kernel"), open
	if start < 0 || !strings.HasSuffix(all[start], "kernel") {
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
	end, head := closing(all, body), lastIndex(all[:start], ";", "{", "}")+1 // an attribute may stand before the word kernel
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
		return slices.Contains([]string{"barrier", "work_group_barrier", "local", "__local", "__shared__"}, w)
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

// workGroup returns the sizes of reqd_work_group_size.
func workGroup(header []string) (sizes []string) {
	i := slices.IndexFunc(header, func(t string) bool { return strings.Trim(t, "_") == "reqd_work_group_size" })
	if i < 0 || i+1 == len(header) || header[i+1] != "(" {
		return nil
	}
	return each.Of(arguments(header, i+1), func(part []string) string { return strings.Join(part, " ") })
}

// reach returns the identifiers of a source that may matter to the kernel whose body begins at an index: those in its text, in
// that of the functions and macros whose names are among them, in conditions, and outside of functions.
func reach(text string, all []string, body int) map[string]bool {
	texts := map[string][]string{} // of functions and macros, by name
	var open []string              // words that are reached and not followed yet
	from := 0                      // the first word of the current declaration
	for i := 0; i < len(all); i++ {
		switch all[i] {
		case ";":
			if !slices.Contains(all[from:i], "__shared__") && !slices.Contains(all[from:i], "__constant__") { // only who reads it reaches it
				open = append(open, all[from:i]...)
			}
			from = i + 1
		case "{":
			if i == from { // of extern "C"
				from++
				continue
			}
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

var (
	assignment = regexp.MustCompile(` (\w+) = ([^=;,][^;,]*)`)
	comparison = regexp.MustCompile(`([^;{}&|?,=<>]*) [<>](?: =)? ([A-Za-z_]\w*)`)
	indexWord  = regexp.MustCompile(`get_(?:global|group)_id \( [012]|\w+`)
	element    = regexp.MustCompile(` (\w+) \[ (\w+)( \])?`)
	// product matches an index of the work-group with its factors, and the sign of one that is more than names and numbers.
	product = regexp.MustCompile(` get_group_id \( ([012]) \)((?: \* (?:get_local_size \( [012] \)|\( \w+(?: \* \w+)* \)|\w+))+)( \*| \(| \[)?`)
	factor  = regexp.MustCompile(`[A-Za-z_]\w*(?: \( [012] \))?|\d\w*`)
)

// readIndices sets Bounds, Elements and PerGroup.
func (f *Function) readIndices(body []string) {
	axes := map[string]int{} // of the variables that a global index sets
	axis := func(expression string) (axis int) {
		axis = -1
		for _, w := range indexWord.FindAllString(expression, -1) {
			of, known := axes[w]
			if strings.HasSuffix(w[:len(w)-1], "( ") {
				of, known = int(w[len(w)-1]-'0'), true
			}
			if known && axis >= 0 && of != axis {
				return -1 // several
			} else if known {
				axis = of
			}
		}
		return axis
	}
	for _, m := range assignment.FindAllStringSubmatch(f.code, -1) {
		whole := strings.Count(m[2], "(") <= strings.Count(m[2], ")") // else it is the first of several, as of a vector
		if of := axis(m[2]); of >= 0 && whole {
			axes[m[1]] = of
		}
	}
	bounds := map[string]string{} // of these variables
	for _, m := range comparison.FindAllStringSubmatch(f.code, -1) {
		of := axis(m[1])
		if of < 0 || strings.HasSuffix(m[1], " -") { // a->b
			continue
		}
		f.Bounds[of] = append(f.Bounds[of], m[2])
		if words := strings.Fields(m[1]); len(words) == 1 || words[len(words)-2] == "(" {
			bounds[words[len(words)-1]] = m[2]
		}
	}
	text := " " + strings.Join(body, " ")
	f.Elements = map[string]string{}
	for _, m := range element.FindAllStringSubmatch(text, -1) {
		bound := bounds[m[2]]
		if known, again := f.Elements[m[1]]; m[3] == "" || again && known != bound {
			bound = ""
		}
		f.Elements[m[1]] = bound
	}
	for _, m := range product.FindAllStringSubmatch(text, -1) {
		factors := factor.FindAllString(m[2], -1)
		if m[3] != "" {
			factors = append(factors, "?")
		}
		if of := &f.PerGroup[m[1][0]-'0']; *of == nil || len(factors) < len(*of) {
			*of = factors // others also skip rows of a buffer
		}
	}
}

// A Use is what a kernel does with the buffer of an argument, as far as the text shows it.
type Use struct {
	Written bool // an element is assigned
	Read    bool // it occurs otherwise
}

// flat returns the words of some code with blanks around them. What stands in square brackets comes after the rest, and [] stands in its
// place.
func flat(code []string) string {
	var text, inside strings.Builder
	for i := 0; i < len(code); i++ {
		if code[i] == "[" {
			end := closing(code, i)
			inside.WriteString(flat(code[i+1 : max(i+1, end-1)]))
			text.WriteString(" []")
			i = end - 1
			continue
		}
		text.WriteString(" " + code[i])
	}
	return text.String() + " ;" + inside.String()
}

// Use returns what the kernel does with the elements of a name, also through pointers that it sets to it: operators, vstore, atomic
// functions, copies of work-groups and functions that write images change them.
func (f *Function) Use(name string) (u Use) {
	const conversion = `(?: \( [^()]*\* \)| &| \()*`
	count := func(pattern string) int { return len(regexp.MustCompile(pattern).FindAllStringIndex(f.code, -1)) }
	names := []string{name}
	for i := 0; i < len(names); i++ {
		name := regexp.QuoteMeta(names[i])
		element := `(?: ` + name + `(?: \[\]| \. \w+| - > \w+)+|[;{})] \* ` + name + `)`
		assigned := count(element+` = [^=]`) + count(` (?:write_image\w*|async_work_group\w*) \(`+conversion+` `+name+` `) +
			count(` vstore\w* \( [^;]*,`+conversion+` `+name+` [^,;]*;`)
		updated := count(element+` (?:[-+*/%&|^] =|\+ \+|- -|< < =|> > =)`) + count(` atom\w* \(`+conversion+` `+name+` `)
		pointer := regexp.MustCompile(`\w \* (\w+) =`+conversion+` `+name+` `).FindAllStringSubmatch(f.code, -1)
		u.Written = u.Written || assigned+updated > 0
		u.Read = u.Read || count(` `+name+`\b`) > assigned+len(pointer)+count(`\w \* `+name+` =`)
		for _, m := range pointer {
			names = each.AppendNew(names, m[1])
		}
	}
	return u
}
