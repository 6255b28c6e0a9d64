package source

import (
	"regexp"
	"strconv"
	"strings"
)

// Active returns a source without the code that its conditions leave out, given the macros of the compiler's options.
// All other text and the conditions themselves stay, and all lines keep their numbers. A condition whose value is not
// known, such as one over an extension, leaves all its branches in place.
func Active(text string, given []Macro) string {
	m := tableOf(text)
	for _, g := range given {
		m[g.Name] = macroState{g.Text, yes}
	}
	return m.active(text)
}

func (m macroTable) active(text string) string {
	var out strings.Builder
	var open conditions
	left := false // the text before the next directive is left out
	done := 0
	copyTo := func(end int) {
		part := text[done:end]
		if left {
			part = strings.Repeat("\n", strings.Count(part, "\n"))
		}
		out.WriteString(part)
		done = end
	}
	for _, d := range scanDirectives(text).directives {
		copyTo(d.start)
		name, rest := splitMacro(d.argument)
		switch {
		case open.read(d, m):
			left = false // conditions stay
		case left:
			continue
		case d.name == "define" && !strings.HasPrefix(rest, "("):
			m[name] = macroState{strings.TrimSpace(rest), yes}
		case d.name == "define":
			m[name] = macroState{anyText, yes}
		case d.name == "undef":
			delete(m, name)
		}
		copyTo(d.end)
		left = open.exclude()
	}
	copyTo(len(text))
	return out.String()
}

// A macroTable has macros by name. A macro that is not in it is not defined, unless the language may define it.
type macroTable map[string]macroState

// A macroState is the text of a macro, and whether the macro is defined as far as that is known.
type macroState struct {
	text    string
	defined truth
}

// anyText stands for a text that is not known, or is no number.
const anyText = "?"

// inCUDA is a macro of CUDA C.
const inCUDA = "__CUDACC__"

// tableOf returns the table of a source, which may be in CUDA C.
func tableOf(text string) macroTable {
	if strings.Contains(text, "__global__") {
		return macroTable{inCUDA: {anyText, unknown}}
	}
	return macroTable{}
}

func (m macroTable) defined(name string) truth {
	if d, found := m[name]; found {
		return d.defined
	}
	_, perhaps := m[inCUDA]
	if strings.HasPrefix(name, "__CUDA") && !perhaps || strings.HasPrefix(name, "__HIP") {
		return no // for a source in several languages
	}
	if strings.HasPrefix(name, "_") || strings.Contains(name, "_") && IsWord(name) { // float is no macro
		return unknown
	}
	return no
}

// holds returns the value of the condition of an #if, an #ifdef, an #ifndef or an #elif.
func (m macroTable) holds(d directive) truth {
	if macro, negated, ok := d.tested(); ok {
		t := m.defined(macro)
		if negated {
			t = t.negated()
		}
		return t
	}
	switch v, known := m.value(d.argument); {
	case !known:
		return unknown
	case v != 0:
		return yes
	}
	return no
}

// Value returns the value of an integer expression of the preprocessor, over macros.
func Value(expression string, macros []Macro) (v int64, known bool) {
	m := macroTable{}
	for _, macro := range macros {
		m[macro.Name] = macroState{macro.Text, yes}
	}
	return m.value(expression)
}

func (m macroTable) value(expression string) (v int64, known bool) {
	expression = isDefined.ReplaceAllStringFunc(expression, func(of string) string {
		found := isDefined.FindStringSubmatch(of)
		return [...]string{unknown: " " + anyText + " ", yes: " 1 ", no: " 0 "}[m.defined(found[1]+found[2])]
	})
	e := &conditionReader{macros: m, known: true}
	e.words = e.expand(tokens(expression), 0)
	v = e.operation(0)
	return v, e.known && len(e.words) == 0
}

// isDefined matches the question whether a macro is defined.
var isDefined = regexp.MustCompile(`\bdefined\b\s*(?:\(\s*(\w+)\s*\)|(\w+))`)

// A conditionReader computes an integer expression.
type conditionReader struct {
	macros   macroTable
	words    []string
	known    bool
	expanded int // words of macros so far
	depth    int // of brackets and signs
}

// maxDepth bounds the brackets and signs within each other of a condition: no condition of a person has more.
const maxDepth = 256

// maxExpanded bounds the words of a condition whose macros contain each other.
const maxExpanded = 10_000

// expand replaces macros by their texts, and joins the characters of operators.
func (e *conditionReader) expand(words []string, depth int) (all []string) {
	for _, w := range words {
		macro, isMacro := e.macros[w]
		switch {
		case e.expanded > maxExpanded || w == "defined":
			return []string{anyText}
		case isMacro && depth < 16:
			of := tokens(macro.text)
			e.expanded += len(of)
			all = append(all, e.expand(of, depth+1)...)
		case len(all) > 0 && operators[all[len(all)-1]+w].bond > 0:
			all[len(all)-1] += w
		default:
			all = append(all, w)
		}
	}
	return all
}

// An operator binds its operands the tighter, the higher its bond is.
type operator struct {
	bond  int
	apply func(a, b int64) int64
}

var operators = map[string]operator{
	"||": {1, func(a, b int64) int64 { return integer(a != 0 || b != 0) }},
	"&&": {2, func(a, b int64) int64 { return integer(a != 0 && b != 0) }},
	"|":  {3, func(a, b int64) int64 { return a | b }},
	"^":  {4, func(a, b int64) int64 { return a ^ b }},
	"&":  {5, func(a, b int64) int64 { return a & b }},
	"==": {6, func(a, b int64) int64 { return integer(a == b) }},
	"!=": {6, func(a, b int64) int64 { return integer(a != b) }},
	"<":  {7, func(a, b int64) int64 { return integer(a < b) }},
	">":  {7, func(a, b int64) int64 { return integer(a > b) }},
	"<=": {7, func(a, b int64) int64 { return integer(a <= b) }},
	">=": {7, func(a, b int64) int64 { return integer(a >= b) }},
	"<<": {8, func(a, b int64) int64 { return a << b }},
	">>": {8, func(a, b int64) int64 { return a >> b }},
	"+":  {9, func(a, b int64) int64 { return a + b }},
	"-":  {9, func(a, b int64) int64 { return a - b }},
	"*":  {10, func(a, b int64) int64 { return a * b }},
	"/":  {10, func(a, b int64) int64 { return a / b }},
	"%":  {10, func(a, b int64) int64 { return a % b }},
}

// operation reads operations that bind more tightly than a bound.
func (e *conditionReader) operation(bound int) int64 {
	v := e.operand()
	for len(e.words) > 0 && operators[e.words[0]].bond > bound {
		sign := e.words[0]
		e.words = e.words[1:]
		right := e.operation(operators[sign].bond)
		if right == 0 && (sign == "/" || sign == "%") || right < 0 && (sign == "<<" || sign == ">>") {
			e.known, right = false, 1
		}
		v = operators[sign].apply(v, right)
	}
	return v
}

func (e *conditionReader) operand() int64 {
	e.depth++
	defer func() { e.depth-- }()
	if len(e.words) == 0 || e.depth > maxDepth {
		e.known = false
		return 0
	}
	w := e.words[0]
	e.words = e.words[1:]
	switch w {
	case "!":
		return integer(e.operand() == 0)
	case "-":
		return -e.operand()
	case "+":
		return e.operand()
	case "(":
		v := e.operation(0)
		if len(e.words) == 0 || e.words[0] != ")" {
			e.known = false
			return 0
		}
		e.words = e.words[1:]
		return v
	}
	v, err := strconv.ParseInt(strings.TrimRight(w, "uUlL"), 0, 64)
	if isName := err != nil && isWord(rune(w[0])); isName && e.macros.defined(w) == no {
		return 0 // as the preprocessor has it
	}
	e.known = e.known && err == nil
	return v
}

// integer returns a condition as C has it.
func integer(holds bool) int64 {
	if holds {
		return 1
	}
	return 0
}

// IsWord reports whether OpenCL C or the headers of its compilers have a name: as a keyword, a type, a function or a macro. If an
// option of the compiler defines such a macro, the headers, which the compiler reads after its options, do not compile.
func IsWord(name string) bool { return words.MatchString(name) }

// words matches the words of OpenCL C 1.0 to 3.0 and, in the last line, further ones of the headers of PoCL 3.1.
var words = regexp.MustCompile(`^(?:` + strings.Join(strings.Fields(`
	auto break case const continue default do else enum extern for goto if inline register restrict return signed sizeof static struct switch
	typedef typeof union unsigned void volatile while asm complex imaginary true false
	kernel global local constant private generic read_only write_only read_write uniform pipe vec_step vec_type_hint
	bool u?char\d* u?short\d* u?int\d* u?long\d* float\d*(?:x\d+)? double\d*(?:x\d+)? half\d* quad\d* u?int(?:8|16|32|64|ptr)_t size_t ptrdiff_t
	event_t sampler_t queue_t ndrange_t clk_event_t reserve_id_t memory_order\w* memory_scope\w* image[123]d\w* atom(?:ic)?_\w+
	a?(?:cos|sin|tan)(?:h|pi)? atan2(?:pi)? sincos cbrt ceil copysign erfc? exp(?:2|10|m1)? fabs fdim floor fma fmax fmin fmod fract frexp hypot
	ilogb ldexp lgamma(?:_r)? log(?:2|10|1p|b)? mad maxmag minmag modf nan nextafter pow[nr]? remainder remquo rint rootn round r?sqrt tgamma trunc
	(?:half|native)_(?:cos|divide|exp(?:2|10)?|log(?:2|10)?|powr|recip|r?sqrt|sin|tan)
	abs abs_diff add_sat r?hadd clamp c[lt]z mad_hi mad_sat mad24 max min mul_hi mul24 rotate sub_sat upsample popcount dot(?:_\w+)? bit_reverse
	bitfield_\w+ degrees mix radians step smoothstep sign cross distance length normalize fast_(?:distance|length|normalize) any all bitselect
	select signbit shuffle2? is(?:equal|notequal|greater|greaterequal|less|lessequal|lessgreater|finite|inf|nan|normal|ordered|unordered)
	(?:as|convert|get|sub_group|work_group|intel|async_work_group|enqueue|commit|reserve)_\w+ v(?:load|store)a?\w* (?:read|write)_(?:image|pipe|mem)\w*
	barrier mem_fence prefetch wait_group_\w+ printf to_(?:global|local|private) ndrange_[123]D (?:retain|release|create_user|is_valid)_event
	is_valid_reserve_id set_user_event_status capture_event_profiling_info
	__\w+ (?:CL|CLK|FP_FAST|ATOMIC|cl)_\w+ M_(?:1_|2_|E|LN|LOG|PI|SQRT)\w* (?:FLT|DBL|HALF)_(?:DIG|EPSILON|MANT|MAX|MIN|RADIX)\w*
	(?:S?CHAR|UCHAR|U?SHRT|U?INT|U?LONG)_(?:BIT|MAX|MIN) HUGE_VALF? MAXFLOAT INFINITY NAN NULL
	attribute cmp convergent CUDA(?:RT)?_VERSION ext_vector_type flags format kernel_enqueue_flags_t clk_profiling_info overloadable p pure st val`), "|") + `)$`)
