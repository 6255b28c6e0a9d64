package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/tune/check"
)

// TestReadme tunes the kernel of the README with its specification, both as they stand
// there, in the command that stands there.
func TestReadme(t *testing.T) {
	if !standin.OnPoCL(t) {
		return
	}
	d := needDevice(t)
	folder := t.TempDir()
	text := writeBlocks(t, folder, "README.md", map[string]string{"c": "saxpy.cl", "yaml": "saxpy.yaml"})
	command := regexp.MustCompile(`(?m)^    ndtune (tune saxpy\.yaml.*)$`).FindStringSubmatch(text)
	if command == nil {
		t.Fatal("the README does not tune saxpy.yaml")
	}
	program := exec.Command("ndtune", append(strings.Fields(command[1]), "--device", d.Selector)...)
	program.Dir, program.Env = folder, programEnvironment(folder)
	output, err := program.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	for _, want := range []string{"11 configurations: 11 correct", "best performing configuration: block_size_x=", "build options: -D n=1000000 -D block_size_x="} {
		if !strings.Contains(string(output), want) {
			t.Errorf("the output has no %q:\n%s", want, output)
		}
	}
	if _, err := os.Stat(filepath.Join(folder, "saxpy.csv")); err != nil {
		t.Error(err)
	}
}

// TestReadmeWithNumPy runs the kernel of the README with the script of docs/spec.md, which computes the expected output by NumPy, and with an
// error in the kernel.
func TestReadmeWithNumPy(t *testing.T) {
	if !standin.OnPoCL(t) {
		return
	}
	d := needDevice(t)
	if exec.Command("python3", "-c", "import numpy").Run() != nil {
		t.Skip("python3 has no NumPy")
	}
	folder := t.TempDir()
	writeBlocks(t, folder, "README.md", map[string]string{"c": "saxpy.cl", "yaml": "saxpy.yaml"})
	text := writeBlocks(t, folder, "docs/spec.md", map[string]string{"python": "check.py"})
	verify := regexp.MustCompile("has `(verify: .*)` then").FindStringSubmatch(text)
	if verify == nil {
		t.Fatal("docs/spec.md has no verify.command for the kernel of the README")
	}
	spec := filepath.Join(folder, "saxpy.yaml")
	changed := regexp.MustCompile(`(?m)^verify: .*$`).ReplaceAllString(readFile(t, spec), verify[1])
	if err := os.WriteFile(spec, []byte(changed), 0o666); err != nil {
		t.Fatal(err)
	}
	for a, want := range map[string]string{"2.5": "output: verified", "2.4": "correctness: y["} {
		program := exec.Command("ndtune", "run", "saxpy.yaml", "-p", "block_size_x=32", "-p", "per_item=1", "--device", d.Selector)
		program.Dir, program.Env = folder, programEnvironment(folder)
		if err := os.WriteFile(spec, []byte(strings.Replace(changed, "value: 2.5", "value: "+a, 1)), 0o666); err != nil {
			t.Fatal(err)
		}
		if output, _ := program.CombinedOutput(); !strings.Contains(string(output), want) {
			t.Errorf("a = %s: the output has no %q:\n%s", a, want, output)
		}
	}
}

// TestWisdomProgram builds the Go program of docs/go, and runs it twice.
func TestWisdomProgram(t *testing.T) {
	needDevice(t)
	folder := specFolder(t)
	program := filepath.Join(folder, "program")
	source := filepath.Join("..", "..", "docs", "go", "sum.go")
	if output, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	for range 2 {
		run := exec.Command(program)
		run.Dir, run.Env = folder, programEnvironment(folder)
		if output, err := run.CombinedOutput(); err != nil || !strings.HasSuffix(string(output), "1000 + 1000 = 2000\n") {
			t.Errorf("%v\n%s", err, output)
		}
	}
}

// TestCheckWorkflow runs the steps of the workflow in docs/check.md that need no network, on the kernel that stands there. The check has
// the findings that the page shows.
func TestCheckWorkflow(t *testing.T) {
	if _, err := check.Oclgrind(); err != nil {
		t.Skip(err)
	}
	folder := t.TempDir()
	text := writeBlocks(t, folder, "docs/check.md", map[string]string{"c": "smooth.cl", "yaml": "smooth.yaml", "yml": "workflow.yml"})
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct{ Name, Run string }
		}
	}
	if err := yaml.Unmarshal([]byte(readFile(t, filepath.Join(folder, "workflow.yml"))), &workflow); err != nil {
		t.Fatal(err)
	}
	printed := map[string]string{}
	for _, step := range workflow.Jobs["check"].Steps {
		if step.Run == "" || step.Name == "Install" {
			continue
		}
		if _, err := exec.LookPath("jq"); err != nil && step.Name == "Lines" {
			t.Logf("%s: %v", step.Name, err)
			continue
		}
		program := exec.Command("sh", "-e", "-c", step.Run)
		program.Dir, program.Env = folder, append(programEnvironment(folder), "GITHUB_STEP_SUMMARY="+filepath.Join(folder, "summary.md"))
		output, err := program.CombinedOutput()
		if status := program.ProcessState.ExitCode(); status != map[string]int{"Check": 1}[step.Name] {
			t.Errorf("%s: status %d (%v)\n%s", step.Name, status, err, output)
		}
		printed[step.Name] = string(output)
	}
	shown := regexp.MustCompile(`(?m)^    \S.*: .*\n(?:      .*\n)+`).FindAllString(text, 2)
	for _, finding := range shown {
		if finding = strings.ReplaceAll(strings.TrimPrefix(finding, "    "), "\n    ", "\n"); !strings.Contains(printed["Check"], finding) {
			t.Errorf("the page shows\n%s\nthe check prints\n%s", finding, printed["Check"])
		}
	}
	if len(shown) != 2 || !strings.Contains(readFile(t, filepath.Join(folder, "summary.md")), "      smooth.cl:12: ") {
		t.Errorf("%d findings are shown; the file of the check lacks line 12", len(shown))
	}
	if lines, ran := printed["Lines"]; ran && !strings.Contains(lines, "::error file=smooth.cl,line=12::out of bounds: read out of bounds at in[1024]\n") {
		t.Errorf("the lines of the check are\n%s", lines)
	}
}
