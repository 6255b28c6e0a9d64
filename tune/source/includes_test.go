package source

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ndtune/ndtune/internal/golden"
)

// sources are the files of a case, from lines «== path».
func sources(text string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for _, part := range strings.Split(text, "== ")[1:] {
		path, content, _ := strings.Cut(part, "\n")
		fsys[path] = &fstest.MapFile{Data: []byte(content)}
	}
	return fsys
}

func resolve(fsys fstest.MapFS, dirs ...string) (string, error) {
	read := func(path string) ([]byte, error) { return fs.ReadFile(fsys, filepath.ToSlash(path)) }
	return ResolveIncludes(read, "main.cl", dirs)
}

func TestIncludes(t *testing.T) {
	golden.Check(t, "testdata/includes.txt", func(name, text string) string {
		resolved, err := resolve(sources(text), "lib")
		if err != nil {
			return "error: " + err.Error()
		}
		return resolved
	})
}

// The C preprocessor, which really includes, and Resolve agree on what the compiler
// sees and on the lines of all messages.
func TestIncludesAgainstPreprocessor(t *testing.T) {
	cpp, err := exec.LookPath("cpp")
	if err != nil {
		t.Skip("there is no C preprocessor (cpp) to compare with")
	}
	sections := func(path string) []string {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(string(content), "=== ")[1:]
	}
	for _, section := range sections("testdata/includes.txt") {
		name, rest, _ := strings.Cut(section, "\n")
		text, _, _ := strings.Cut(rest, "---\n")
		fsys := sources(text)
		resolved, err := resolve(fsys, "lib")
		if err != nil {
			continue
		}
		dir := t.TempDir()
		if err := os.CopyFS(dir, fsys); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "resolved.cl"), []byte(resolved), 0o644); err != nil {
			t.Fatal(err)
		}
		run := func(file string) string {
			cmd := exec.Command(cpp, "-x", "c", "-w", "-Ilib", file)
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			if err != nil {
				out = append(out, "\nfailed"...)
			}
			return placed(string(out))
		}
		if got, want := run("resolved.cl"), run("main.cl"); got != want {
			t.Errorf("%s: the preprocessor sees\n%s\nin place of\n%s", name, got, want)
		}
	}
}

// TestRawStrings takes the sources out of C++, on their lines.
func TestRawStrings(t *testing.T) {
	for text, want := range map[string]string{
		"R\"(\n#define A 1\nint x;\n)\"\n": "\n#define A 1\nint x;\n",
		"#include <string>\nconst char *k = R\"CLC(int a = f(\")\");\n)CLC\";\nint b; // R\"(\n": "\nint a = f(\")\");\n",
		"auto a = u8R\"(x\n)\" LR\"_(y)_\";\n\nauto b = R\"(\n#include \"a.h\"\nz)\"":            "#line 1 \"main.cl\"\nx\ny\n\n\n#line 1 \"a.h\"\nA\n#line 5 \"main.cl\"\n\nz\n",
		"char c = '\"', *s = \"R\\\"(\"; /* R\"(no)\" */ int d = 1'000;\nx = R\"(yes)\"":         "\nyes",
		// no raw string: the source is what it is
		"R\"(never closed\n": "R\"(never closed\n", "int R; // R\"(": "int R; // R\"(", "MACRO\"(x)\"": "MACRO\"(x)\"", "\"R\"(x)\"": "\"R\"(x)\"",
	} {
		fsys := fstest.MapFS{"main.cl": {Data: []byte(text)}, "a.h": {Data: []byte("A\n")}}
		if got, err := resolve(fsys); err != nil || got != want {
			t.Errorf("%q became %q, %v, want %q", text, got, err, want)
		}
	}
}

// placed is what a preprocessor printed, each line of code with its file and line.
func placed(output string) string {
	var lines []string
	file, number := "", 0
	for _, line := range strings.Split(output, "\n") {
		if rest, ok := strings.CutPrefix(line, "# "); ok {
			fmt.Sscanf(rest, "%d %q", &number, &file)
			continue
		}
		if code := strings.Join(strings.Fields(line), " "); code != "" {
			lines = append(lines, fmt.Sprintf("%s:%d: %s", filepath.Clean(file), number, code))
		}
		number++
	}
	return strings.Join(lines, "\n")
}

func TestSourceWithoutIncludesIsUntouched(t *testing.T) {
	for _, text := range []string{
		"", "x", "a\r\nb", "#include <a.h>\n", "// #include \"a.h\"\n", "/* \n#include \"a.h\"\n*/",
		"#include \"missing.h\"", "char *s = \"\n#include \\\"a.h\\\"", "#define A \\\n#include \"a.h\"\n",
		"x #include \"a.h\"\n", "#include NAME\n", "#pragma once\nx", "#include \"a.h", "/*", "\\", "#", "#include \"\"\n",
	} {
		fsys := fstest.MapFS{"main.cl": {Data: []byte(text)}, "a.h": {Data: []byte("A\n")}}
		if got, err := resolve(fsys); err != nil || got != text {
			t.Errorf("%q became %q, %v", text, got, err)
		}
	}
}

// NVRTC refuses a mark of the byte order, behind which ndtune would not see a directive either.
func TestByteOrderMark(t *testing.T) {
	files := map[string]string{"main.cu": "\ufeff#include \"a.cuh\"\n__global__ void f() {}\n", "a.cuh": "\ufeff#pragma once\nint a;\n"}
	got, err := ResolveIncludes(func(path string) ([]byte, error) { return []byte(files[path]), nil }, "main.cu", nil)
	if err != nil || strings.Contains(got, "\ufeff") || strings.Contains(got, "#include") || strings.Contains(got, "#pragma once") {
		t.Errorf("%q, %v", got, err)
	}
}

func TestIncludesAreBounded(t *testing.T) {
	fsys := fstest.MapFS{"main.cl": {Data: []byte("#include \"0.h\"\n")}}
	for i := range 40 {
		text := fmt.Sprintf("#include \"%d.h\"\n#include \"%d.h\"\n", i+1, i+1)
		fsys[fmt.Sprintf("%d.h", i)] = &fstest.MapFile{Data: []byte(text)}
	}
	fsys["40.h"] = &fstest.MapFile{Data: []byte("x\n")}
	if _, err := resolve(fsys); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("2⁴⁰ inclusions: %v", err)
	}
}

func FuzzIncludes(f *testing.F) {
	f.Add("#include \"a.h\"\nx\n", "#pragma once\n#include \"main.cl\"\n")
	f.Add("/* */ # include \"a.h\" // x \\\n y\n", "#ifndef A\n#define A\n#endif\n")
	f.Add("#if !defined(A)\n#define A\n#include \"a.h\"\n#endif", "#include \"main.cl\"\\\r\n")
	f.Fuzz(func(t *testing.T, main, included string) {
		fsys := fstest.MapFS{"main.cl": {Data: []byte(main)}, "a.h": {Data: []byte(included)}}
		resolved, err := resolve(fsys)
		if err != nil || resolved == main {
			return
		}
		if !strings.HasPrefix(resolved, "#line 1 \"main.cl\"\n") {
			t.Errorf("%q and %q gave %q", main, included, resolved)
		}
	})
}

// TestSPIRV: a module is known by its first word in either byte order, is not read as text and cannot be included.
func TestSPIRV(t *testing.T) {
	const rest = "\n#include \"a.h\"\n"
	module := string(binary.LittleEndian.AppendUint32(nil, spirvMagic)) + rest
	if other := string(binary.BigEndian.AppendUint32(nil, spirvMagic)) + rest; !IsSPIRV(module) || !IsSPIRV(other) || IsSPIRV("") || IsSPIRV(rest) {
		t.Error("a module is known by its first word")
	}
	read := func(path string) ([]byte, error) {
		return []byte(map[string]string{"a.spv": module, "a.cl": "#include \"a.spv\"\n", "a.h": "x"}[path]), nil
	}
	if got, err := ResolveIncludes(read, "a.spv", nil); err != nil || got != module {
		t.Errorf("%q %v", got, err)
	}
	if _, err := ResolveIncludes(read, "a.cl", nil); err == nil || !strings.Contains(err.Error(), `include "a.spv": it is a SPIR-V module`) {
		t.Errorf("included: %v", err)
	}
}
