package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/internal/foreign"
	"github.com/ndtune/ndtune/internal/standin"
)

// TestExportedPrograms tunes and exports the kernel of the README with the commands of docs/export.md, and runs the
// programs of docs/export. Those in C and Python load the drivers of this system: make test-long.
func TestExportedPrograms(t *testing.T) {
	if os.Getenv("NDTUNE_LONG") != "" && !standin.OnPoCL(t) {
		return
	}
	t.Setenv(standin.FaultsVariable, "saxpy is axpy(y, a, x) over n")
	d := needDevice(t)
	folder := t.TempDir()
	writeBlocks(t, folder, "README.md", map[string]string{"c": "saxpy.cl", "yaml": "saxpy.yaml"})
	docs := readFile(t, "../../docs/export.md")
	for _, pattern := range []string{`(?m)^    ndtune (tune saxpy\.yaml.*)$`, `(?m)^    ndtune (export saxpy\.yaml.*)$`} {
		command := strings.Fields(strings.Replace(regexp.MustCompile(pattern).FindStringSubmatch(docs)[1], "1000000", "100000", 1))
		if command[0] == "tune" {
			command = append(command, "--device", d.Selector, "--max-evals", "3")
		}
		runProgram(t, folder, append([]string{"ndtune"}, command...)...)
	}
	answered := regexp.MustCompile(`^the same device, nearest size: .*-D n=30000.*, global size \S+, local size \S+; the result is right\n$`)
	check := func(t *testing.T, folder string, command ...string) {
		t.Helper()
		if out := runProgram(t, folder, append(command, "30000")...); !answered.MatchString(out) {
			t.Errorf("%s printed %s", command[0], out)
		}
	}
	for from, to := range map[string]string{"saxpy.c": "saxpy.c", "saxpy_main.py": "tuned/saxpy_main.py"} {
		if err := os.WriteFile(filepath.Join(folder, to), []byte(readFile(t, "../../docs/export/"+from)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("C", func(t *testing.T) {
		needSystem(t)
		foreign.Require(t, "gcc")
		if exec.Command("gcc", "-include", "CL/cl.h", "-E", "-x", "c", os.DevNull).Run() != nil {
			t.Skip("gcc has no headers of OpenCL")
		}
		build := regexp.MustCompile(`(?m)^    \$ (gcc .*)$`).FindStringSubmatch(docs)
		runProgram(t, folder, strings.Fields(build[1])...)
		check(t, folder, "./main")
	})
	t.Run("Python", func(t *testing.T) {
		needSystem(t)
		python := pythonWithOpenCL(t)
		if python == "" {
			t.Skip("there is no PyOpenCL")
		}
		tuned := filepath.Join(folder, "tuned")
		check(t, tuned, python, "saxpy_main.py")
		// Numbers that PyOpenCL does not know are asked of the library that it has loaded.
		const program = "import pyopencl, saxpy; d = pyopencl.get_platforms()[0].get_devices()[0]; print(saxpy._query(d, 0x1002) == d.max_compute_units)"
		if out := runProgram(t, tuned, python, "-c", program); out != "True\n" {
			t.Errorf("_query and max_compute_units: %s", out)
		}
	})
}

func needSystem(t *testing.T) {
	t.Helper()
	if !standin.OnSystem() {
		t.Skip("it loads the drivers of this system: make test-long")
	}
}

// pythonWithOpenCL returns a Python that has PyOpenCL, "" if there is none and NDTUNE_REQUIRE_COMPILERS does not name it.
func pythonWithOpenCL(t *testing.T) string {
	t.Helper()
	for _, python := range []string{"python3", "/usr/bin/python3"} { // the latter is of the system, for which PyOpenCL is packaged
		if exec.Command(python, "-c", "import pyopencl").Run() == nil {
			return python
		}
	}
	if slices.Contains(strings.Split(os.Getenv("NDTUNE_REQUIRE_COMPILERS"), ","), "pyopencl") {
		t.Fatal("there is no PyOpenCL, and NDTUNE_REQUIRE_COMPILERS names it")
	}
	return ""
}

// writeBlocks writes the first block of each language of a document to a file in a folder, and returns the document.
func writeBlocks(t *testing.T, folder, document string, names map[string]string) string {
	t.Helper()
	text := readFile(t, filepath.Join("..", "..", filepath.FromSlash(document)))
	for language, name := range names {
		block := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindStringSubmatch(text)
		if block == nil {
			t.Fatalf("%s has no block of %s", document, language)
		}
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(block[1]), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return text
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// runProgram runs a command, which needs no network, and returns its output.
func runProgram(t *testing.T, folder string, command ...string) string {
	t.Helper()
	x := exec.CommandContext(t.Context(), command[0], command[1:]...)
	x.Dir = folder
	x.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(folder, "state"), "NDTUNE_NO_PEAK=1", "PYTHONDONTWRITEBYTECODE=1")
	out, err := x.Output()
	if err != nil {
		var wrong []byte
		if exit, ok := err.(*exec.ExitError); ok {
			wrong = exit.Stderr
		}
		t.Fatalf("%s: %v\n%.3000s", strings.Join(command, " "), err, wrong)
	}
	return string(out)
}

// TestExamplePrograms tunes and exports the kernels of docs/export, and builds and runs its programs, which verify
// their results. Then it exports two of the logs, and moves the folder with their
// programs to another place, where they run.
func TestExamplePrograms(t *testing.T) {
	if os.Getenv("NDTUNE_LONG") == "" {
		t.Skip("the searches take half a minute; TestExportedPrograms has a shorter path: make test-long")
	}
	if !standin.OnPoCL(t) {
		return
	}
	d := needDevice(t)
	foreign.Require(t, "gcc")
	if exec.Command("gcc", "-include", "CL/cl.h", "-E", "-x", "c", os.DevNull).Run() != nil {
		t.Skip("gcc has no headers of OpenCL")
	}
	languages := []string{"c"}
	if python := pythonWithOpenCL(t); python != "" {
		languages = append(languages, "python")
		t.Setenv("PYTHON", python)
	}
	t.Setenv("LANGUAGES", strings.Join(languages, " "))
	script, err := filepath.Abs("../../docs/export/run.sh")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	check := func(out string, names ...string) {
		t.Helper()
		if all := strings.Count(out, ": the result is right\n"); all != len(names)*len(languages) {
			t.Errorf("%d results are right", all)
		}
		for _, name := range names {
			if got := strings.Count(out, name+": the result is right\n"); got != len(languages) {
				t.Errorf("%s is right in %d of %q:\n%s", name, got, languages, out)
			}
		}
	}
	check(runProgram(t, folder, "sh", script, d.Selector, "6", "small", "logs"), "matmul", "diffusion", "sort")
	if err := os.Remove(filepath.Join(folder, "logs", "sort.jsonl")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("LOGS", "logs")
	check(runProgram(t, folder, "sh", script, "small", "built"))
	for _, rename := range [][2]string{{"built", "moved"}, {"logs", "elsewhere"}} {
		if err := os.Rename(filepath.Join(folder, rename[0]), filepath.Join(folder, rename[1])); err != nil {
			t.Fatal(err)
		}
	}
	check(runProgram(t, folder, "sh", "moved/run.sh"), "matmul", "diffusion")
}
