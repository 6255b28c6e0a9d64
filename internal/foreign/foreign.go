// Package foreign tests the rules that ndtune exports: it builds and runs programs in C, C++ and Python, and compares
// their results with those of ndtune. A language whose compiler is missing is left out, which is an error if
// NDTUNE_REQUIRE_COMPILERS names it: «gcc,g++,python3».
package foreign

import (
	"bytes"
	_ "embed"
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

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune/export"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/problem"
)

// A Case is a computation that was exported, in environments that hold values for its names.
type Case struct {
	About        string
	Names        []string
	Environments []map[string]any
	Want         func(environment map[string]any) string // the line that programs print
	Problem      *problem.Problem                        // of the rules; nil: of an expression alone

	// Add adds the rules of the case, and returns how they are computed.
	Add func(r *export.Rules) (How, error)

	rules *export.Rules
	how   How
}

// A How says what a program computes, and prints.
type How byte

// The hows. All but these are a rule, the first one, with a value of the kind.
const (
	Range    How = 'r' // the launch of the first step
	Launches How = 'l' // all launches
	Bytes    How = 's' // the sizes of the buffers
)

var values = map[expression.Kind]How{expression.Int: 'i', expression.Float: 'f', expression.Bool: 'b', expression.String: 't'}

// Failed is the line of a computation that failed.
const Failed = "!"

// Of returns the case of an expression.
func Of(e *expression.Expression, environments []map[string]any) Case {
	return Case{
		About: e.String(), Names: e.Names(), Environments: environments,
		Want: func(environment map[string]any) string { return result(e, environment) },
		Add: func(r *export.Rules) (How, error) {
			_, kind, err := r.Expression("value", e)
			return values[kind], err
		},
	}
}

// A language is one in which a program computes cases. A program reads lines: the number of a case, how it is computed, how
// many names it reads, and for each the letter of its kind and an integer: of a float its bits, of a text its number. The
// program prints a line for each: an integer in decimal, the bits of a float, a text, or ! if the computation failed.
type language struct {
	*export.Language
	file           string
	before, after  string // of the tables
	texts, cases   string // formats of lists
	one            string // format of a case with a number
	build, run     []string
	requiredInPath string
	first          int // computes only so many cases, because it takes long; 0: all
}

//go:embed programs/compare.c
var programC string

//go:embed programs/compare.py
var programPython string

const (
	beforeC = "#include <stdio.h>\n#include <stdlib.h>\n#include <inttypes.h>\ntypedef void *cl_mem;\n"
	textsC  = "static const char *const texts[] = {%s};\n"
	casesC  = "static const nd_rules *const cases[] = {%s};\n"
)

var languages = map[string]language{
	"C": {
		Language: export.C, requiredInPath: "gcc",
		file: "program.c", before: beforeC, after: programC, texts: textsC, cases: casesC, one: "&c%d_rules",
		build: []string{"gcc", "-Wall", "-Wextra", "-Werror", "-std=c99", "-pedantic", "-fsanitize=undefined",
			"-fno-sanitize-recover=all", "-o", "program", "program.c", "-lm"},
		run: []string{"./program"},
	},
	"C++": {
		Language: export.C, requiredInPath: "g++",
		file: "program.cpp", before: beforeC, after: programC, texts: textsC, cases: casesC, one: "&c%d_rules",
		build: []string{"g++", "-Wall", "-Wextra", "-Werror", "-std=c++17", "-pedantic", "-o", "program", "program.cpp"},
		run:   []string{"./program"}, first: 200, // the text is that of C
	},
	"Python": {
		Language: export.Python, file: "program.py", after: programPython,
		texts: "texts = [%s]\n", cases: "cases = [%s]\n", one: "c%d_rules",
		run: []string{"python3", "program.py"}, requiredInPath: "python3",
	},
}

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

// prepare makes the rules of the case.
func (c *Case) prepare() (err error) {
	names, _ := c.names()
	c.rules = export.NewRules(c.Problem, names)
	c.how, err = c.Add(c.rules)
	return err
}

// A line is one computation: the input of a program, the result of ndtune and the words of a message.
type line struct{ input, want, about string }

// Refused is the reason why the case cannot be exported; nil if it can.
func (c *Case) Refused() error { return c.prepare() }

// Compare computes cases in every language and compares the results with those of ndtune.
func Compare(t *testing.T, cases []Case) {
	t.Helper()
	var lines []line
	var ends []int // of the lines of each case
	var texts []string
	for number := range cases {
		c := &cases[number]
		if err := c.prepare(); err != nil {
			t.Fatal(err)
		}
		names, kinds := c.names()
		for _, environment := range c.Environments {
			input := fmt.Sprintf("%d %c %d", number, c.how, len(names))
			for i, name := range names {
				v := lookup(environment, name)
				if k, _ := expression.KindOf(v); k != kinds[i] {
					t.Fatalf("%s: %s is %v, not %s", c.About, name, v, kinds[i])
				}
				text, ok := v.(string)
				if ok {
					texts = each.AppendNew(texts, text)
					v = slices.Index(texts, text)
				}
				input += fmt.Sprintf(" %c%d", values[kinds[i]], int64(expression.Raw(v)))
			}
			lines = append(lines, line{input, c.Want(environment), fmt.Sprintf("%s\nwith %v", c.About, environment)})
		}
		ends = append(ends, len(lines))
	}
	var all sync.WaitGroup
	for name, l := range languages {
		cases, lines := cases, lines
		if l.first > 0 && l.first < len(cases) {
			cases, lines = cases[:l.first], lines[:ends[l.first-1]]
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
	c := languages[name]
	if missing, isRequired := lookUp(c.requiredInPath); isRequired {
		t.Error(missing)
		return nil, false
	} else if missing != nil {
		t.Logf("%s is not tested: %v", name, missing)
		return nil, false
	}
	var b strings.Builder
	b.WriteString(c.before)
	b.WriteString(c.Evaluator())
	quoted := []string{`""`}
	for i, text := range texts {
		quoted = slices.Insert(quoted, i, fmt.Sprintf("%+q", text))
	}
	fmt.Fprintf(&b, c.texts, strings.Join(quoted, ", "))
	var all []string
	for number, e := range cases {
		text, err := c.Tables(e.rules, fmt.Sprint("c", number))
		if err != nil {
			t.Error(err)
			return nil, false
		}
		b.WriteString(text)
		all = append(all, fmt.Sprintf(c.one, number))
	}
	fmt.Fprintf(&b, c.cases, strings.Join(all, ", "))
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
