// Package foreign tests the text that ndtune exports: it builds and runs programs in C, C++, Python and Go, and compares
// their results with those of ndtune. A language whose compiler is missing is left out, which is an error if
// NDTUNE_REQUIRE_COMPILERS names it: «gcc,g++,python3,go».
package foreign

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ndtune/ndtune/tune/expression"
)

// A Case is a computation that was exported, in environments that hold values for its names.
type Case struct {
	About        string
	Names        []string
	Environments []map[string]any
	Want         func(environment map[string]any) string // the line that programs print

	// Text returns the function of a number in a language, as [Function] does. The map has an identifier for each name.
	Text func(l expression.Language, number int, names map[string]string) (string, error)
}

// Failed is the line of a computation that failed.
const Failed = "!"

// Of returns the case of an expression.
func Of(e *expression.Expression, environments []map[string]any) Case {
	return Case{
		About: e.String(), Names: e.Names(), Environments: environments,
		Want: func(environment map[string]any) string { return result(e, environment) },
		Text: func(l expression.Language, number int, names map[string]string) (string, error) {
			text, kind, err := e.Export(l, names)
			return Function(l, number, text, kind), err
		},
	}
}

// Function returns the function of a number, which computes an expression of a kind.
func Function(l expression.Language, number int, text string, kind expression.Kind) string {
	return fmt.Sprintf(map[expression.Language]string{
		expression.C:      "static void f%[1]d(const int64_t *w, int *failed) { (void)w; print_%[3]s(%[2]s, failed); }\n",
		expression.Python: "functions.append((%[3]q, lambda w: %[2]s))  # %[1]d\n",
		expression.Go:     "func f%[1]d(w []int64) any { return %[2]s }\n",
	}[l], number, text, kindNames[kind])
}

// commands are programs that compute cases. A program reads lines: the number of a function, how many names
// it reads, and a word for each. A word is an integer: of a float its bits, of a text its number. The program prints a
// line for each: an integer in decimal, the bits of a float, a text, or ! if the computation failed.
var commands = map[string]struct {
	language       expression.Language
	file           string
	before, after  string
	texts          string
	names          map[expression.Kind]string
	build          []string
	run            []string
	requiredInPath string
	first          int // computes only so many cases, because it takes long; 0: all
}{
	"C": {
		language: expression.C, file: "program.c", before: beforeC, after: afterC, names: namesC, texts: textsC, requiredInPath: "gcc",
		build: []string{"gcc", "-Wall", "-Wextra", "-Werror", "-std=c99", "-pedantic", "-fsanitize=undefined", "-fno-sanitize-recover=all", "-o", "program", "program.c", "-lm"},
		run:   []string{"./program"},
	},
	"C++": {
		language: expression.C, file: "program.cpp", before: beforeC, after: afterC, names: namesC, texts: textsC, requiredInPath: "g++",
		build: []string{"g++", "-Wall", "-Wextra", "-Werror", "-std=c++17", "-pedantic", "-o", "program", "program.cpp"},
		run:   []string{"./program"}, first: 200, // the text is that of C
	},
	"Python": {
		language: expression.Python, file: "program.py", before: "import struct, sys\nfunctions = []\n", after: afterPython,
		texts: "texts = [%s]\n",
		names: map[expression.Kind]string{expression.Int: "w[%d]", expression.Float: "real(w[%d])", expression.Bool: "(w[%d] != 0)", expression.String: "texts[w[%d]]"},
		run:   []string{"python3", "program.py"}, requiredInPath: "python3",
	},
	"Go": {
		language: expression.Go, file: "main.go", before: "package main\nimport (\"bufio\"; \"cmp\"; \"fmt\"; \"math\"; \"math/big\"; \"os\"; \"slices\"; \"strings\")\nvar functions []func(w []int64) any\n", after: afterGo,
		texts: "var texts = []string{%s}\n",
		names: map[expression.Kind]string{expression.Int: "w[%d]", expression.Float: "math.Float64frombits(uint64(w[%d]))", expression.Bool: "(w[%d] != 0)", expression.String: "texts[w[%d]]"},
		build: []string{"go", "build", "-gcflags=-N -l", "-o", "program", "main.go"},
		run:   []string{"./program"}, requiredInPath: "go",
	},
}

const (
	textsC = `static const char *const texts[] = {%s};
static const char *text(const int64_t *w, int i) { return texts[w[i]]; }
static char *launched;
static size_t launched_bytes;
static void launched_add(const char *format, long long v) {
    launched = (char *)realloc(launched, launched_bytes + 64);
    if (launched == NULL) abort();
    launched_bytes += (size_t)snprintf(launched + launched_bytes, 64, format, v);
}
static void launched_list(const size_t *list, int dimensions) {
    int i;
    launched_add("[", 0);
    for (i = 0; i < dimensions; i++) launched_add(i > 0 ? " %%lld" : "%%lld", (long long)list[i]);
    launched_add("] ", 0);
}
static int add_launch(void *data, const nd_kernel_launch *l) {
    const nd_range *r = &l->range;
    const char *c;
    int i;
    size_t k;
    (void)data;
    launched_add("%%lld", l->kernel);
    for (c = l->name; *c != 0; c++) launched_add("%%c", *c);
    launched_list(r->global, r->dimensions);
    launched_list(r->local, r->local[0] != 0 ? r->dimensions : 0);
    launched_list(r->offset, r->offset[0] || r->offset[1] || r->offset[2] ? r->dimensions : 0);
    for (i = 0; i < l->count; i++) {
        const nd_argument *a = &l->arguments[i];
        for (c = a->name; *c != 0; c++) launched_add("%%c", *c);
        if (a->buffer >= 0 && a->bytes != sizeof(cl_mem)) return -1;
        if (a->buffer >= 0) launched_add("=%%lld ", *(const char *const *)a->value - (const char *)0);
        else if (a->value == NULL) launched_add("=%%lld bytes ", (long long)a->bytes);
        else {
            launched_add("=x", 0);
            for (k = 0; k < a->bytes; k++) launched_add("%%02llx", ((const unsigned char *)a->value)[k]);
            launched_add(" ", 0);
        }
    }
    launched_add("; ", 0);
    return 0;
}
static void print_launches(const cl_mem *buffers, int count, int status) {
    int i;
    if (status != 0) for (i = 0; i < count; i++) if (buffers[i] != (cl_mem)(size_t)i) puts("the buffers have changed");
    if (status != 0 && launched_bytes > 0) puts("a launch was made");
    launched_add("", 0);
    for (i = 0; i < count; i++) launched_add("%%lld ", (const char *)buffers[i] - (const char *)0);
    if (status != 0) puts("!");
    else puts(launched);
    launched_bytes = 0;
}
`

	beforeC = `#include <stdio.h>
#include <stdlib.h>
#include <inttypes.h>
#include <string.h>
typedef void *cl_mem;
static int64_t whole(const int64_t *w, int i) { return w[i]; }
static int truth(const int64_t *w, int i) { return w[i] != 0; }
static double real(const int64_t *w, int i) { double f; memcpy(&f, &w[i], sizeof f); return f; }
static void print_whole(int64_t v, int *failed) { if (*failed) puts("!"); else printf("%" PRId64 "\n", v); }
static void print_truth(int v, int *failed) { if (*failed) puts("!"); else puts(v ? "true" : "false"); }
static void print_list(const size_t *list, int dimensions) {
    int i;
    for (i = 0; i < dimensions; i++) printf("%s%llu", i > 0 ? " " : "[", (unsigned long long)list[i]);
    printf(dimensions > 0 ? "]" : "[]");
}
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
    (void)whole; (void)truth; (void)real; (void)text; (void)print_whole; (void)print_truth; (void)print_text; (void)print_list; (void)print_real; (void)add_launch; (void)print_launches;
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

def show_launches(launches, w, names):
    buffers = {name: i for i, name in enumerate(names)}
    def brackets(list):
        return "[%s] " % " ".join(map(str, list or []))
    def show_value(v):
        return v.hex().join(["x", ""]) if isinstance(v, bytes) else "%d bytes" % v.bytes if isinstance(v, LocalMemory) else str(v)
    try:
        text = "".join(str(l.kernel) + l.name + brackets(l.global_size) + brackets(l.local_size) + brackets(l.offset) +
            "".join("%s=%s " % (a.name, show_value(a.value)) for a in l.arguments) + "; " for l in launches(w, buffers))
    except ValueError:
        assert list(buffers.values()) == list(range(len(names)))
        raise
    return text + "".join("%d " % buffers[name] for name in names)

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

func showLaunches(launches func(w []int64, buffers map[string]any) ([]Launch, error), w []int64, names ...string) any {
	buffers := map[string]any{}
	for i, name := range names {
		buffers[name] = i
	}
	all, err := launches(w, buffers)
	var b strings.Builder
	for _, l := range all {
		fmt.Fprint(&b, l.Kernel, l.Name, l.Global, " ", l.Local, " ", l.Offset, " ")
		for _, a := range l.Arguments {
			switch v := a.Value.(type) {
			case int:
				fmt.Fprintf(&b, "%s=%d ", a.Name, v)
			case []byte:
				fmt.Fprintf(&b, "%s=x%x ", a.Name, v)
			case LocalMemory:
				fmt.Fprintf(&b, "%s=%d bytes ", a.Name, v)
			}
		}
		b.WriteString("; ")
	}
	for i, name := range names {
		if err != nil && buffers[name] != i {
			return "the buffers have changed"
		}
		fmt.Fprint(&b, buffers[name], " ")
	}
	if err != nil {
		panic(err)
	}
	return b.String()
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
	namesC    = map[expression.Kind]string{expression.Int: "whole(w, %d)", expression.Float: "real(w, %d)", expression.Bool: "truth(w, %d)", expression.String: "text(w, %d)"}
	kindNames = map[expression.Kind]string{expression.Int: "whole", expression.Float: "real", expression.Bool: "truth", expression.String: "text"}
)

// names returns the names that the case reads, with the fields of records, and their kinds.
func (c *Case) names() (names []string, kinds []expression.Kind) {
	for _, name := range c.Names {
		all := []string{name}
		if record, ok := c.Environments[0][name].(map[string]any); ok {
			all = nil
			for _, field := range slices.Sorted(maps.Keys(record)) {
				all = append(all, name+"."+field)
			}
		}
		for _, name := range all {
			if k, ok := expression.KindOf(lookup(c.Environments[0], name)); ok {
				names, kinds = append(names, name), append(kinds, k)
			}
		}
	}
	return names, kinds
}

// text is the function of the case.
func (c *Case) text(l expression.Language, number int, formats map[expression.Kind]string) (string, error) {
	names, kinds := c.names()
	identifiers := map[string]string{}
	for i, name := range names {
		identifiers[name] = fmt.Sprintf(formats[kinds[i]], i)
	}
	return c.Text(l, number, identifiers)
}

// A line is one computation: the input of a program, the result of ndtune and the words of a message.
type line struct{ input, want, about string }

// Refused is the reason why the case cannot be exported; nil if it can.
func (c *Case) Refused() error {
	_, err := c.text(expression.C, 0, namesC)
	return err
}

// Compare computes cases in every language and compares the results with those of ndtune.
func Compare(t *testing.T, cases []Case) {
	t.Helper()
	var lines []line
	var ends []int // of the lines of each case
	var texts []string
	for number, c := range cases {
		names, kinds := c.names()
		for _, environment := range c.Environments {
			input := fmt.Sprint(number, " ", len(names))
			for i, name := range names {
				v := lookup(environment, name)
				if k, _ := expression.KindOf(v); k != kinds[i] {
					t.Fatalf("%s: %s is %v, not %s", c.About, name, v, kinds[i])
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
			lines = append(lines, line{input, c.Want(environment), fmt.Sprintf("%s\nwith %v", c.About, environment)})
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
			got, ok := run(t, name, cases, lines, texts)
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
			t.Logf("%s: %d values of %d cases, %d differ", name, len(lines), len(cases), wrong)
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

// Require skips a test that needs a missing command. It fails the test if NDTUNE_REQUIRE_COMPILERS names the command.
func Require(t *testing.T, command string) {
	t.Helper()
	if missing, isRequired := lookUp(command); isRequired {
		t.Fatal(missing)
	} else if missing != nil {
		t.Skip(missing)
	}
}

// lookUp returns an error if a command is missing, and whether NDTUNE_REQUIRE_COMPILERS names it.
func lookUp(command string) (missing error, isRequired bool) {
	if _, err := exec.LookPath(command); err != nil {
		if slices.Contains(strings.Split(os.Getenv("NDTUNE_REQUIRE_COMPILERS"), ","), command) {
			return fmt.Errorf("%w, and NDTUNE_REQUIRE_COMPILERS names it", err), true
		}
		return err, false
	}
	return nil, false
}

// run returns the lines that a program prints; false where its compiler is missing or it fails.
func run(t *testing.T, name string, cases []Case, lines []line, texts []string) (got []string, ok bool) {
	c := commands[name]
	if missing, isRequired := lookUp(c.requiredInPath); isRequired {
		t.Error(missing)
		return nil, false
	} else if missing != nil {
		t.Logf("%s is not tested: %v", name, missing)
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
		text, err := e.text(c.language, number, c.names)
		if err != nil {
			t.Error(err)
			return nil, false
		}
		b.WriteString(text)
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
	execute := func(input []byte, command []string) (string, bool) {
		var out, wrong bytes.Buffer
		x := exec.CommandContext(t.Context(), command[0], command[1:]...)
		x.Dir, x.Stdin, x.Stdout, x.Stderr = folder, bytes.NewReader(input), &out, &wrong
		x.Env = append(os.Environ(), "GOFLAGS=", "GO111MODULE=off")
		if err := x.Run(); err != nil {
			t.Errorf("%s: %v\n%.3000s", strings.Join(command, " "), err, wrong.String())
			return "", false
		}
		return out.String(), true
	}
	if c.build != nil {
		if _, ok := execute(nil, c.build); !ok {
			return nil, false
		}
	}
	var input bytes.Buffer
	for _, l := range lines {
		fmt.Fprintln(&input, l.input)
	}
	out, ok := execute(input.Bytes(), c.run)
	return strings.Split(strings.TrimSuffix(out, "\n"), "\n"), ok
}
