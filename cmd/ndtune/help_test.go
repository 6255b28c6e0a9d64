package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
)

// An example is a command line of a help text.
type example struct {
	command   string // whose help text it is
	arguments []string
}

// examples are those of all help texts: the lines that begin with «ndtune» behind an
// indent, and what a shell runs as <(ndtune …), without what follows two spaces and
// without redirections.
func examples(t *testing.T) []example {
	t.Helper()
	var all []example
	visit := func(command, text string) {
		before := len(all)
		for line := range strings.Lines(text) {
			_, inner, substituted := strings.Cut(line, "<(")
			if substituted {
				line = "   " + strings.TrimSuffix(strings.TrimSpace(inner), ")")
			}
			line, found := strings.CutPrefix(line, "   ndtune ")
			if !found {
				continue
			}
			line, _, _ = strings.Cut(line, "  ")
			line, _, _ = strings.Cut(line, " >")
			all = append(all, example{command, strings.Fields(line)})
		}
		if len(all) == before {
			t.Errorf("%s: the help shows no example", command)
		}
	}
	app := newApp()
	visit("ndtune", app.Description)
	walkCommands(app.Commands, "ndtune", func(path string, c *cli.Command) { visit(path, c.Description) })
	return all
}

// walkCommands calls f for each command with its whole name.
func walkCommands(commands []*cli.Command, path string, f func(path string, c *cli.Command)) {
	for _, c := range commands {
		f(path+" "+c.Name, c)
		walkCommands(c.Subcommands, path+" "+c.Name, f)
	}
}

// TestExamplesParse reads the examples of all help texts as the program does, but for the
// files and devices that they name.
func TestExamplesParse(t *testing.T) {
	for _, e := range examples(t) {
		app := newApp()
		ran := false
		walkCommands(app.Commands, "ndtune", func(_ string, c *cli.Command) {
			if len(c.Subcommands) == 0 {
				c.Action = func(*cli.Context) error { ran = true; return nil }
			}
		})
		args := flagsFirst(app, append([]string{"ndtune"}, e.arguments...))
		if err := app.Run(args); err != nil || !ran {
			t.Errorf("%s --help: ndtune %s: %v", e.command, strings.Join(e.arguments, " "), err)
		}
	}
}

// TestExamplesRun runs the examples, on small problems, a few configurations and the tests'
// device. The specifications that they name are testdata/specs/kernel.yaml, and the records
// that they read a small cache of Kernel Tuner. Scripts run those that are not among them: compare
// needs several devices, devices --peak takes some seconds, init needs kernels, check needs Oclgrind, capture cliloader, wisdom and export a
// record of the specification, and priors other records.
func TestExamplesRun(t *testing.T) {
	if testing.Short() {
		t.Skip("scripts run the same commands: not with -short")
	}
	d := needDevice(t)
	seen := map[string]bool{}
	for _, e := range examples(t) {
		line := strings.Join(e.arguments, " ")
		elsewhere := slices.ContainsFunc([]string{"--fleet", "--peak", "--prior"}, func(flag string) bool { return slices.Contains(e.arguments, flag) })
		if seen[line] || elsewhere || slices.Contains([]string{"compare", "init", "check", "wisdom", "export", "fleet", "agent", "capture"}, e.arguments[0]) {
			continue
		}
		seen[line] = true
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			folder := specFolder(t)
			if err := os.Link(filepath.Join(folder, "kernel.yaml"), filepath.Join(folder, "my_kernel.yaml")); err != nil {
				t.Fatal(err)
			}
			for _, name := range recordsOf(e.arguments) {
				record, err := os.ReadFile(filepath.Join("..", "..", "tune", "record", "testdata", "small_cache.json"))
				if err == nil {
					err = os.WriteFile(filepath.Join(folder, name), record, 0o666)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			run := func(arguments ...string) {
				c := exec.Command("ndtune", small(arguments, d.Selector)...)
				c.Dir, c.Env = folder, programEnvironment(folder)
				if out, err := c.CombinedOutput(); err != nil {
					t.Errorf("%s: %v\n%s", c, err, out)
				}
			}
			if i := slices.Index(e.arguments, "--tuned"); i >= 0 {
				run(e.arguments[0], "tune", "--log", e.arguments[i+1])
			}
			run(e.arguments...)
			for i, argument := range e.arguments {
				if slices.Contains([]string{"-o", "--log"}, argument) && !isWritten(folder, e.arguments[i+1]) {
					t.Errorf("it did not write %s", e.arguments[i+1])
				}
			}
		})
	}
}

// recordsOf are the records that an example reads.
func recordsOf(arguments []string) []string {
	switch arguments[0] {
	case "convert":
		i := slices.IndexFunc(arguments[1:], func(a string) bool { return !strings.HasPrefix(a, "-") })
		return arguments[1+i : 2+i]
	case "simulate", "report":
		if i := slices.IndexFunc(arguments, func(a string) bool { return strings.HasPrefix(a, "-") }); i > 0 {
			arguments = arguments[:i]
		}
		return arguments[1:]
	}
	return nil
}

// isWritten reports whether a file is there, by its name or with the names of kernels in it.
func isWritten(folder, name string) bool {
	stem, extension, _ := strings.Cut(name, ".")
	for _, pattern := range []string{name, stem + ".*." + extension} {
		if found, err := filepath.Glob(filepath.Join(folder, pattern)); err == nil && len(found) > 0 {
			return true
		}
	}
	return false
}

// small changes an example so that it is done soon, and on the tests' device.
func small(arguments []string, device string) []string {
	changed := slices.Clone(arguments)
	command, words := commandOf(newApp(), append([]string{"ndtune"}, arguments...))
	if words == 1 {
		return changed
	}
	add := func(flag string, values ...string) {
		if flags.Named(command.Flags, flag) != nil {
			changed = append(append(changed, "--"+flag), values...)
		}
	}
	for i, argument := range changed {
		if argument == "tile_size_x,tile_size_y" { // which the record of the tests does not have
			changed[i] = "x,f"
		}
	}
	add("device", device)
	for _, size := range []string{"nx", "ny", "size"} {
		add(size, "64")
	}
	for _, size := range []string{"m", "n", "k"} { // of one kernel only
		if i := slices.Index(changed, "-"+size); i >= 0 {
			changed[i+1] = "64"
		}
	}
	add("sizes", "8,16")
	add("steps", "2,3")
	add("max-evals", "1")
	if strings.HasPrefix(strings.Join(arguments, " "), "matmul bench") && !slices.Contains(arguments, "--kernel") {
		add("kernel", "naive")
	}
	return changed
}
