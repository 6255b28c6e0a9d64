package problem

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/process"
	"github.com/ndtune/ndtune/tune/space"
)

// generated returns saxpy with a source that a shell script makes in a folder with some files.
func generated(t *testing.T, script string, contents map[string]string) definition.Definition {
	t.Helper()
	folder := t.TempDir()
	contents["make.sh"] = script
	for name, content := range contents {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := saxpy()
	d.Kernel.Source = ""
	d.Kernel.Command = &definition.Command{Args: []string{"sh", "make.sh", "{x}"}, Dir: folder, Timeout: time.Minute}
	return d
}

func generate(t *testing.T, d definition.Definition, values map[string]space.Value) (*Variant, error) {
	t.Helper()
	p := mustProblem(t, d)
	v, err := p.Variant(configurationOf(t, p, values), hardware.Device{})
	if err != nil {
		t.Fatal(err)
	}
	if v.Source != "" {
		t.Errorf("Variant has made the source %q", v.Source)
	}
	generator := p.Generator()
	defer generator.Close(false)
	return v, p.Generate(t.Context(), v, generator)
}

func TestGenerateMakesTheSourceOfEachConfiguration(t *testing.T) {
	d := saxpy()
	d.Kernel.Source = ""
	d.Kernel.Func = func(c space.Configuration) (string, error) { return "// " + c.Key(), nil }
	if v, err := generate(t, d, map[string]space.Value{"unroll": 2}); err != nil || v.Source != "// 32,2" {
		t.Errorf("function: %q %v", v.Source, err)
	}
	d.Kernel.Func = func(space.Configuration) (string, error) { return "", errors.New("no template") }
	if _, err := generate(t, d, nil); err == nil || err.Error() != "make the kernel's source: no template" {
		t.Errorf("function that fails: %v", err)
	}

	const script = `while read -r line; do
  n=$((n + 1))
  quoted=$(printf %s "$line" | sed 's/"/\\"/g')
  printf '{"source": "// %s %d\\n// %s\\n#include \\"lib/a.h\\"\\n#define unroll 7\\n"}\n' "$1" $n "$quoted"
done`
	d = generated(t, script, map[string]string{"lib/a.h": "int a;\n"})
	p := mustProblem(t, d)
	generator := p.Generator()
	defer generator.Close(false)
	for n := 1; n <= 2; n++ { // the program stays
		v, err := p.Variant(configurationOf(t, p, map[string]space.Value{"unroll": 2}), hardware.Device{})
		if err == nil {
			err = p.Generate(t.Context(), v, generator)
		}
		want := fmt.Sprintf(`#line 1 "saxpy.cl"
// {x} %d
// {"configuration":{"block_size_x":32,"unroll":2},"constants":{"alpha":0.5,"n":1000},"kernel":"saxpy"}
#line 1 "lib/a.h"
int a;
#line 3 "saxpy.cl"


`, n)
		if err != nil || v.Source != want {
			t.Errorf("command: %v\n%s\nwant\n%s", err, v.Source, want)
		}
	}
	if v, err := generate(t, generated(t, `read line; echo '{"spirv": "AwIjBwA="}'`, map[string]string{}), nil); err != nil || v.Source != "\x03\x02\x23\x07\x00" {
		t.Errorf("SPIR-V: %q %v", v.Source, err)
	}
}

func TestCommandsThatMakeNoSource(t *testing.T) {
	for script, want := range map[string]string{
		"echo first >&2; echo 'error: no such tile' >&2; exit 3": "the process ended with exit status 3; it printed last: error: no such tile\nfirst\nerror: no such tile",
		`echo '{"error": "no such tile"}'`:                       "no such tile",
		`echo '{"source": " "}'`:                                 "it answered with an empty source",
		"echo '__kernel'": `it wrote on standard output, where its answer belongs, __kernel: want {"source": "…"}, {"spirv": "…"} in Base64, ` +
			`or {"error": "…"}: invalid character '_' looking for beginning of value`,
		`echo '{"text": ""}'`: `it wrote on standard output, where its answer belongs, {"text": ""}: want {"source": "…"}, {"spirv": "…"} in Base64, ` +
			`or {"error": "…"}: json: unknown field "text"`,
		"yes | tr -d '\\n'": "the process ended by signal SIGKILL (killed), after a message that makes no sense (it wrote a line of more than 16777216 bytes)",
		"kill -9 $$":        "the process ended by signal SIGKILL (killed)",
	} {
		_, err := generate(t, generated(t, script, map[string]string{}), nil)
		var unstarted *process.StartError
		if err == nil || err.Error() != "kernel.command: sh make.sh {x}: "+want || errors.As(err, &unstarted) || errors.Is(err, process.ErrLate) {
			t.Errorf("%s: %v, want %s", script, err, want)
		}
	}
	_, err := generate(t, generated(t, `echo '{"source": "#include \"h\""}'`, map[string]string{"h": `#include "h"`}), nil)
	if want := "kernel.command: saxpy.cl:1: h:1: h includes itself; give it an include guard or #pragma once"; err == nil || err.Error() != want {
		t.Errorf("an include: %v, want %s", err, want)
	}
	d := generated(t, "", map[string]string{})
	d.Kernel.Command.Args = []string{"./none"}
	var unstarted *process.StartError
	if _, err := generate(t, d, nil); !errors.As(err, &unstarted) || !strings.Contains(err.Error(), "kernel.command: ./none: start it: ") {
		t.Errorf("missing program: %v", err)
	}
	d.Kernel.Command.Args, d.Kernel.Command.Timeout = []string{"sleep", "1000"}, time.Millisecond
	if _, err := generate(t, d, nil); !errors.Is(err, process.ErrLate) || err.Error() != "kernel.command: sleep 1000: it did not answer within 1ms" {
		t.Errorf("late: %v", err)
	}
	d.Kernel.Command.Timeout = time.Hour
	p := mustProblem(t, d)
	v, err := p.Variant(configurationOf(t, p, nil), hardware.Device{})
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	generator := p.Generator()
	defer generator.Close(false)
	if err := p.Generate(ended, v, generator); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
}

func TestWrongKernels(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*definition.Kernel)
		want   string
	}{
		"empty":   {func(k *definition.Kernel) { k.Command = &definition.Command{} }, "kernel.command: the command is empty"},
		"time":    {func(k *definition.Kernel) { k.Command.Timeout = -1 }, "kernel.timeout: -1ns is no time that a command can take"},
		"twice":   {func(k *definition.Kernel) { k.Source = "x" }, "kernel: give the source once: as a file, as a text, as a command or as a function"},
		"target":  {func(k *definition.Kernel) { k.Target = "sm 90a" }, `kernel.target: "sm 90a" is no name of a target, such as sm_90a`},
		"targets": {func(k *definition.Kernel) { k.Target = "{tile}" }, `kernel.target: in "tile": nothing is named tile`},
	} {
		d := generated(t, "", map[string]string{})
		c.change(&d.Kernel)
		if _, err := New(d); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// TestDigestOfACommand: the digest covers the command with its files, and another process needs no run of
// the command to have it.
func TestDigestOfACommand(t *testing.T) {
	const counts = `echo run >> runs; echo '{"source": "source"}'`
	digest := func(script, argument string) string {
		d := generated(t, script, map[string]string{})
		d.Kernel.Command.Args[2] = argument
		return mustProblem(t, d).Digest()
	}
	first := digest(counts, "a")
	if again := digest(counts, "a"); again != first {
		t.Error("the digest depends on the folder")
	}
	if digest(`echo '{"source": "other"}'`, "a") == first || digest(counts+" ", "a") == first || digest(counts, "b") == first {
		t.Error("the digest does not depend on the source, the script and the arguments")
	}

	d := generated(t, counts, map[string]string{})
	p := mustProblem(t, d)
	portable, err := p.Portable()
	if err != nil {
		t.Fatal(err)
	}
	var sent bytes.Buffer
	var received definition.Definition
	if err := errors.Join(gob.NewEncoder(&sent).Encode(portable), gob.NewDecoder(&sent).Decode(&received)); err != nil {
		t.Fatal(err)
	}
	q := mustProblem(t, received)
	if again := p.Digest(); q.Digest() != again || p.Digest() != again {
		t.Error("the portable problem has another digest")
	}
	runs, err := os.ReadFile(filepath.Join(d.Kernel.Command.Dir, "runs"))
	if string(runs) != "run\n" {
		t.Errorf("the command ran %d times for the digest, %v; want once", strings.Count(string(runs), "\n"), err)
	}
	v, err := q.Variant(configurationOf(t, q, nil), hardware.Device{})
	if err == nil {
		generator := q.Generator()
		defer generator.Close(false)
		err = q.Generate(t.Context(), v, generator)
	}
	if err != nil || v.Source != "source" {
		t.Errorf("portable: %q %v", v.Source, err)
	}
}

// TestSPIRV: a module has no macros, and its digest is that of its bytes.
func TestSPIRV(t *testing.T) {
	d := definition.Definition{
		Kernel:      definition.Kernel{Name: "affine", File: filepath.Join("..", "device", "testdata", "affine.spv")},
		ProblemSize: []definition.Expr{"64"},
		Arguments:   []definition.Argument{{Name: "out", Type: "uint32", Size: "64", Output: true}, {Name: "x", Type: "uint32", Size: "64"}},
		Parameters:  []space.Parameter{one("block_size_x", 16), {Name: "useless", Values: []space.Value{1, 2}}},
	}
	p := mustProblem(t, d)
	v, err := p.Variant(configurationOf(t, p, nil), hardware.Device{})
	if err != nil {
		t.Fatal(err)
	}
	if options := p.BuildOptions(v.Configuration, hardware.Device{}); !v.SPIRV() || v.OptionLine() != "" || options != "" {
		t.Errorf("SPIR-V: %v, options %q and %q", v.SPIRV(), v.OptionLine(), options)
	}
	if got := strings.Join(p.Notices(), "\n"); got != "The parameter useless has no effect: neither the source nor a size, a scalar or a build option reads it. All its values make the same kernel." {
		t.Errorf("notices %s", got)
	}
	portable, err := p.Portable()
	if err != nil || mustProblem(t, portable).Digest() != p.Digest() {
		t.Errorf("portable: another digest, %v", err)
	}
	d.Kernel.BuildOptions = []string{"-DA=1"}
	if _, err := New(d); err == nil || err.Error() != "kernel.build_options: -D A has no effect on a SPIR-V module" {
		t.Errorf("a macro: %v", err)
	}
}
