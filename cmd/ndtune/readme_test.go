package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadme tunes the kernel of the README with its specification, both as they stand
// there, in the command that stands there.
func TestReadme(t *testing.T) {
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

// TestWisdomPrograms builds the Go programs of docs/wisdom.md as they stand there, and runs each twice.
func TestWisdomPrograms(t *testing.T) {
	needDevice(t)
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "wisdom.md"))
	if err != nil {
		t.Fatal(err)
	}
	ends := []string{"1000 + 1000 = 2000\n", "every element is 60 and 60\n"}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(text, -1)
	if len(blocks) != len(ends) {
		t.Fatalf("%d programs, want %d", len(blocks), len(ends))
	}
	for i, block := range blocks {
		folder := specFolder(t)
		source, program := filepath.Join(folder, "main.go"), filepath.Join(folder, "program")
		if err := os.WriteFile(source, block[1], 0o666); err != nil {
			t.Fatal(err)
		}
		if output, err := exec.Command("go", "build", "-o", program, source).CombinedOutput(); err != nil {
			t.Fatalf("program %d: %v\n%s", i, err, output)
		}
		for range 2 {
			run := exec.Command(program)
			run.Dir, run.Env = folder, programEnvironment(folder)
			if output, err := run.CombinedOutput(); err != nil || !strings.HasSuffix(string(output), ends[i]) {
				t.Errorf("program %d: %v\n%s", i, err, output)
			}
		}
	}
}
