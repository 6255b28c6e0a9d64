package expression_test

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ndtune/ndtune/tune/expression"
)

// An exportCase is an expression with environments in which it is computed.
type exportCase struct {
	expression   *expression.Expression
	environments []map[string]any
}

// commands are programs that compute expressions. A program reads lines: the number of the expression, how many names
// it reads, and a word for each. A word is an integer: of a float its bits, of a text its number. The program prints a
// line for each: an integer in decimal, the bits of a float, a text, or ! if the computation failed.
var commands = map[string]struct {
	language       expression.Language
	file           string
	before, after  string
	function       string // of a number, the kind of the result and the expression
	texts          string
	names          map[expression.Kind]string
	build          []string
	run            []string
	requiredInPath string
	first          int // computes only so many expressions, because it takes long; 0: all
}{
	"C": {
		language: expression.C, file: "program.c", before: beforeC, after: afterC, names: namesC, function: functionC, texts: textsC, requiredInPath: "gcc",
		build: []string{"gcc", "-Wall", "-Wextra", "-Werror", "-std=c99", "-pedantic", "-fsanitize=undefined", "-fno-sanitize-recover=all", "-o", "program", "program.c", "-lm"},
		run:   []string{"./program"},
	},
	"C++": {
		language: expression.C, file: "program.cpp", before: beforeC, after: afterC, names: namesC, function: functionC, texts: textsC, requiredInPath: "g++",
		build: []string{"g++", "-Wall", "-Wextra", "-Werror", "-std=c++17", "-pedantic", "-o", "program", "program.cpp"},
		run:   []string{"./program"}, first: 2000, // the text is that of C
	},
	"Python": {
		language: expression.Python, file: "program.py", before: "import struct, sys\nfunctions = []\n", after: afterPython,
		function: "functions.append((%[3]q, lambda w: %[2]s))  # %[1]d\n", texts: "texts = [%s]\n",
		names: map[expression.Kind]string{expression.Whole: "w[%d]", expression.Real: "real(w[%d])", expression.Truth: "(w[%d] != 0)", expression.Text: "texts[w[%d]]"},
		run:   []string{"python3", "program.py"}, requiredInPath: "python3",
	},
	"Go": {
		language: expression.Go, file: "main.go", before: "package main\nimport (\"bufio\"; \"cmp\"; \"fmt\"; \"math\"; \"math/big\"; \"os\"; \"slices\"; \"strings\")\nvar functions []func(w []int64) any\n", after: afterGo,
		function: "func f%[1]d(w []int64) any { return %[2]s }\n", texts: "var texts = []string{%s}\n",
		names: map[expression.Kind]string{expression.Whole: "w[%d]", expression.Real: "math.Float64frombits(uint64(w[%d]))", expression.Truth: "(w[%d] != 0)", expression.Text: "texts[w[%d]]"},
		build: []string{"go", "build", "-gcflags=-N -l", "-o", "program", "main.go"},
		run:   []string{"./program"}, requiredInPath: "go",
	},
}

const (
	functionC = "static void f%[1]d(const int64_t *w, int *failed) { (void)w; print_%[3]s(%[2]s, failed); }\n"
	textsC    = "static const char *const texts[] = {%s};\nstatic const char *text(const int64_t *w, int i) { return texts[w[i]]; }\n"

	beforeC = `#include <stdio.h>
#include <stdlib.h>
#include <inttypes.h>
#include <string.h>
static int64_t whole(const int64_t *w, int i) { return w[i]; }
static int truth(const int64_t *w, int i) { return w[i] != 0; }
static double real(const int64_t *w, int i) { double f; memcpy(&f, &w[i], sizeof f); return f; }
static void print_whole(int64_t v, int *failed) { if (*failed) puts("!"); else printf("%" PRId64 "\n", v); }
static void print_truth(int v, int *failed) { if (*failed) puts("!"); else puts(v ? "true" : "false"); }
static void print_text(const char *v, int *failed) { puts(*failed ? "!" : v); }
static void print_real(double v, int *failed) {
    uint64_t w;
    memcpy(&w, &v, sizeof w);
    if (*failed) puts("!");
    else if (v != v) puts("nan");
    else printf("%016" PRIx64 "\n", w);
}
`
	afterC = `int main(void) {
    int64_t w[64] = {0};
    int number, names, i;
    (void)whole; (void)truth; (void)real; (void)text; (void)print_whole; (void)print_truth; (void)print_text; (void)print_real;
    while (scanf("%d %d", &number, &names) == 2) {
        int failed = 0;
        for (i = 0; i < names; i++) if (scanf("%" SCNd64, &w[i]) != 1) return 1;
        functions[number](w, &failed);
    }
    return 0;
}
`
	afterPython = `
def real(w):
    return struct.unpack("<d", struct.pack("<q", w))[0]

def show(kind, v):
    assert type(v) is {"whole": int, "real": float, "truth": bool, "text": str}[kind], (kind, v)
    if kind == "truth":
        return "true" if v else "false"
    if kind == "real":
        return "nan" if v != v else "%016x" % struct.unpack("<Q", struct.pack("<d", v))
    return str(v)

for line in sys.stdin:
    number, _, *w = map(int, line.split())
    kind, function = functions[number]
    try:
        print(show(kind, function(w)))
    except ValueError:
        print("!")
`
	afterGo = `
func show(function func(w []int64) any, w []int64) (text string) {
	defer func() {
		if failed, ok := recover().(ndError); ok && failed != "" {
			text = "!"
		}
	}()
	v := function(w)
	if f, ok := v.(float64); ok {
		if f != f {
			return "nan"
		}
		return fmt.Sprintf("%016x", math.Float64bits(f))
	}
	return fmt.Sprint(v)
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for in.Scan() {
		words := strings.Fields(in.Text())
		w := make([]int64, len(words))
		for i := range w {
			fmt.Sscan(words[i], &w[i])
		}
		fmt.Fprintln(out, show(functions[w[0]], w[2:]))
	}
}
`
)

var (
	namesC    = map[expression.Kind]string{expression.Whole: "whole(w, %d)", expression.Real: "real(w, %d)", expression.Truth: "truth(w, %d)", expression.Text: "text(w, %d)"}
	kindNames = map[expression.Kind]string{expression.Whole: "whole", expression.Real: "real", expression.Truth: "truth", expression.Text: "text"}
)

// namesOf are the names that an expression reads, with the fields of records, and their kinds.
func namesOf(c exportCase) (names []string, kinds []expression.Kind) {
	for _, name := range c.expression.Names() {
		all := []string{name}
		if record, ok := c.environments[0][name].(map[string]any); ok {
			all = nil
			for _, field := range slices.Sorted(maps.Keys(record)) {
				all = append(all, name+"."+field)
			}
		}
		for _, name := range all {
			if k, ok := expression.KindOf(lookup(c.environments[0], name)); ok {
				names, kinds = append(names, name), append(kinds, k)
			}
		}
	}
	return names, kinds
}

// exported is a case in a language, in which names have identifiers of a format.
func (c exportCase) exported(l expression.Language, formats map[expression.Kind]string) (string, expression.Kind, error) {
	names, kinds := namesOf(c)
	identifiers := map[string]string{}
	for i, name := range names {
		identifiers[name] = fmt.Sprintf(formats[kinds[i]], i)
	}
	return c.expression.Export(l, identifiers)
}

// A line is one computation: the input of a program, the result of ndtune and the words of a message.
type line struct{ input, want, about string }

// compareExported computes cases in every language and compares the results with those of ndtune.
func compareExported(t *testing.T, cases []exportCase) {
	t.Helper()
	var lines []line
	var ends []int // of the lines of each case
	var texts []string
	for number, c := range cases {
		names, kinds := namesOf(c)
		for _, environment := range c.environments {
			input := fmt.Sprint(number, " ", len(names))
			for i, name := range names {
				v := lookup(environment, name)
				if k, _ := expression.KindOf(v); k != kinds[i] {
					t.Fatalf("%s: %s is %v, not %s", c.expression, name, v, kinds[i])
				}
				text, ok := v.(string)
				if ok && !slices.Contains(texts, text) {
					texts = append(texts, text)
				}
				if ok {
					v = slices.Index(texts, text)
				}
				input += fmt.Sprint(" ", int64(expression.Raw(v)))
			}
			lines = append(lines, line{input, result(c.expression, environment), fmt.Sprintf("%s\nwith %v", c.expression, environment)})
		}
		ends = append(ends, len(lines))
	}
	var all sync.WaitGroup
	for name, c := range commands {
		cases, lines := cases, lines
		if c.first > 0 && c.first < len(cases) {
			cases, lines = cases[:c.first], lines[:ends[c.first-1]]
		}
		all.Go(func() {
			got, ok := runExported(t, name, cases, lines, texts)
			if !ok {
				return
			}
			if len(got) != len(lines) {
				t.Errorf("%s printed %d lines; want %d", name, len(got), len(lines))
				return
			}
			wrong := 0
			for i, l := range lines {
				if got[i] != l.want {
					if wrong++; wrong <= 5 {
						t.Errorf("%s computes %s; ndtune: %s: %s", name, got[i], l.want, l.about)
					}
				}
			}
			t.Logf("%s: %d values of %d expressions, %d differ", name, len(lines), len(cases), wrong)
		})
	}
	all.Wait()
}

// lookup is the value of a name, or of a field of a record.
func lookup(environment map[string]any, name string) any {
	record, field, _ := strings.Cut(name, ".")
	v := environment[record]
	if fields, ok := v.(map[string]any); ok {
		v = fields[field]
	}
	return v
}

// result is the value in ndtune as programs print it.
func result(e *expression.Expression, environment map[string]any) string {
	v, err := e.Eval(environment)
	f, real := v.(float64)
	switch {
	case err != nil:
		return "!"
	case real && math.IsNaN(f):
		return "nan"
	case real:
		return fmt.Sprintf("%016x", math.Float64bits(f))
	}
	return fmt.Sprint(v)
}

// runExported returns the lines that a program prints; false where its compiler is missing or it fails.
func runExported(t *testing.T, name string, cases []exportCase, lines []line, texts []string) (got []string, ok bool) {
	c := commands[name]
	if _, err := exec.LookPath(c.requiredInPath); err != nil {
		if os.Getenv("NDTUNE_REQUIRE_COMPILERS") != "" {
			t.Errorf("%v, and NDTUNE_REQUIRE_COMPILERS is set", err)
		} else {
			t.Logf("%s is not tested: %v", name, err)
		}
		return nil, false
	}
	var b strings.Builder
	b.WriteString(c.before)
	b.WriteString(expression.Runtime(c.language))
	quoted := []string{`""`}
	for i, text := range texts {
		quoted = slices.Insert(quoted, i, fmt.Sprintf("%+q", text))
	}
	fmt.Fprintf(&b, c.texts, strings.Join(quoted, ", "))
	var functions []string
	for number, e := range cases {
		text, kind, err := e.exported(c.language, c.names)
		if err != nil {
			t.Error(err)
			return nil, false
		}
		fmt.Fprintf(&b, c.function, number, text, kindNames[kind])
		functions = append(functions, fmt.Sprintf("f%d", number))
	}
	switch c.language {
	case expression.C:
		fmt.Fprintf(&b, "static void (*const functions[])(const int64_t *, int *) = {%s};\n", strings.Join(functions, ", "))
	case expression.Go:
		fmt.Fprintf(&b, "func init() { functions = []func([]int64) any{%s} }\n", strings.Join(functions, ", "))
	}
	b.WriteString(c.after)
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, c.file), []byte(b.String()), 0o666); err != nil {
		t.Error(err)
		return nil, false
	}
	run := func(input []byte, command []string) (string, bool) {
		var out, wrong bytes.Buffer
		x := exec.CommandContext(t.Context(), command[0], command[1:]...)
		x.Dir, x.Stdin, x.Stdout, x.Stderr = folder, bytes.NewReader(input), &out, &wrong
		x.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GO111MODULE=off")
		if err := x.Run(); err != nil {
			t.Errorf("%s: %v\n%.3000s", strings.Join(command, " "), err, wrong.String())
			return "", false
		}
		return out.String(), true
	}
	if c.build != nil {
		if _, ok := run(nil, c.build); !ok {
			return nil, false
		}
	}
	var input bytes.Buffer
	for _, l := range lines {
		fmt.Fprintln(&input, l.input)
	}
	out, ok := run(input.Bytes(), c.run)
	return strings.Split(strings.TrimSuffix(out, "\n"), "\n"), ok
}

// TestExportRandom: ten thousand random expressions have the same values in C, C++, Python and Go as in ndtune, and
// fail where they do.
func TestExportRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 3))
	integer := func() int {
		switch r.IntN(6) {
		case 0:
			return []int{math.MinInt, math.MaxInt, math.MinInt + 1, -1, 1 << 53, 1<<53 + 1, 1 << 31, -1 << 31}[r.IntN(8)]
		case 1:
			return int(r.Uint64() >> r.IntN(64))
		}
		return r.IntN(140) - 20
	}
	real := func() float64 {
		switch r.IntN(4) {
		case 0:
			return []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1e300, 5e-324, -1.5, 1 << 62, 1 << 63, -1 << 63, 0.49999999999999994}[r.IntN(12)]
		case 1:
			return math.Float64frombits(r.Uint64())
		}
		return float64(r.IntN(200)-100) / 4
	}
	var cases []exportCase
	for known := map[string]bool{}; len(cases) < 10_000; {
		source := expression.RandomSource(r, r.IntN(6))
		e, err := expression.Compile(source, expression.RandomScope)
		if err != nil || known[source] {
			continue
		}
		known[source] = true
		c := exportCase{expression: e}
		for range 6 {
			c.environments = append(c.environments, map[string]any{"a": integer(), "b": integer(), "zero": 0, "least": math.MinInt + r.IntN(2), "f": real(), "g": real(),
				"t": r.IntN(2) == 0, "u": r.IntN(2) == 0, "s": []string{"x", "y", "z?\n\"é"}[r.IntN(3)], "r": []string{"x", "y"}[r.IntN(2)],
				"device": map[string]any{"local_memory": 1 << r.IntN(20)}})
		}
		if _, _, err := c.exported(expression.C, namesC); err == nil {
			cases = append(cases, c)
		}
	}
	compareExported(t, cases)
}

// TestExportRefuses: an error names the expression, the part and the reason.
func TestExportRefuses(t *testing.T) {
	deep := "a"
	for range 100 {
		deep = "abs(" + deep + ")"
	}
	for source, want := range map[string]string{
		"1 + sum(filter([a, b], # > 1))": "cannot be exported to C: filter([a, b], # > 1): it computes with a list",
		"a + len([b])":                   "len([b]): it computes with a list",
		"mixed + 1":                      "mixed + 1 cannot be exported to C: mixed: its values are of more than one kind",
		"f ** g":                         "f ** g: languages round a power differently",
		"power(f, 0.3)":                  "power(f, 0.3): languages round a power differently",
		"power(a, b)":                    "power(a, b): only the computation tells whether it is an integer or a float",
		"1 + power(a, b)":                "power(a, b): only the computation tells",
		"t ? 1 : f":                      "t ? 1 : f: only the computation tells",
		`s < "x"`:                        `s < "x": texts are only compared for equality`,
		`s contains "x"`:                 "texts are only compared for equality",
		"a in [power(b, 2), 1]":          "the list has items that are not constant and may fail",
		"least + 1":                      "least: the exported program does not know it",
		"device.local_memory + 1":        "device.local_memory: the exported program does not know it",
		"let x = a; x + 1":               "let x = a; x + 1: it declares a variable",
		`s == "\x00"`:                    "without a zero",
		deep:                             "it is nested more than 80 deep",
	} {
		e, err := expression.Compile(source, expression.RandomScope)
		if err != nil {
			t.Error(source, err)
			continue
		}
		text, _, err := e.Export(expression.C, map[string]string{"a": "a", "b": "b", "f": "f", "g": "g", "s": "s", "t": "t"})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), e.String()) {
			t.Errorf("%s is exported as %s, %v; want an error with %q", source, text, err, want)
		}
	}
}
