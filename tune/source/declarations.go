package source

import (
	"regexp"
	"slices"
	"strings"
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

// Tested returns the macros whose values the conditions of a source read and that nobody defines, given those of the compiler's
// options. Each has the first number with which it is compared, as in #if VECTOR == 4; "0" if it is a switch that no code reads,
// as in #if DEBUG; else no text. A macro for which the source asks whether it is defined is not among them, nor are those of
// OpenCL C and of compilers.
func Tested(text string, given []Macro) (macros []Macro) {
	table, settled := tableOf(text), map[string]bool{"defined": true}
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

func isName(word string) bool { return isWord(rune(word[0])) && (word[0] < '0' || word[0] > '9') }
