package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune/clc"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/spec"
	"github.com/ndtune/ndtune/tune/worker"
)

func initCommand() *cli.Command {
	return &cli.Command{
		Name:      "init",
		Usage:     "write a first specification for a kernel",
		ArgsUsage: "KERNEL.cl...",
		Description: `Builds the source, reads the arguments of the kernel from the built program and the macros,
structs and indices from the source, and writes a specification that runs. Comments that begin
with DECIDE say what ndtune had to guess: sizes, outputs, values of scalars, parameters. The
output is verified by that of the kernel itself in its default configuration.

   ndtune init kernel.cl                           # a file with one kernel; writes kernel.yaml
   ndtune init kernels.cl --kernel reduce          # a file with several
   ndtune init kernel.cl -D REAL=float -I include  # with the options of the program's own build
   ndtune init common.cl kernel.cl -o kernel.yaml  # a source in several files, in this order

The source is built in another process, so that a compiler that crashes does not end ndtune.
Macros that the source needs and nobody defines get a value, and a comment.`,
		Flags: []cli.Flag{
			deviceFlag(""),
			&cli.StringFlag{Name: "kernel", Aliases: []string{"k"}, Category: categorySpec, Usage: "`NAME` of the kernel, if the source has several"},
			&cli.StringSliceFlag{Name: "define", Aliases: []string{"D"}, Category: categorySpec, Usage: "define a macro, `NAME=VALUE` or NAME; may be repeated"},
			&cli.StringSliceFlag{Name: "include", Aliases: []string{"I"}, TakesFile: true, Category: categorySpec, Usage: "look for included files in `FOLDER`; may be repeated"},
			&cli.DurationFlag{Name: "build-timeout", Value: worker.DefaultBuildTimeout, Category: categoryEvaluation, Usage: "give up if the build takes longer than `DURATION`"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, TakesFile: true, Category: categoryOutput, Usage: "write the specification to `FILE` (default: KERNEL.yaml beside the last source)"},
			&cli.BoolFlag{Name: "force", Aliases: []string{"f"}, Category: categoryOutput, Usage: "replace the file if it exists"},
		},
		Action: initSpec,
	}
}

func initSpec(c *cli.Context) error {
	paths, err := pathArguments(c, "the source of a kernel")
	if err != nil {
		return err
	}
	out, last := c.String("output"), paths[len(paths)-1]
	if out == "" {
		out = strings.TrimSuffix(last, filepath.Ext(last)) + ".yaml"
	}
	if err := checkFolder(out); err != nil {
		return wrong("write to %s: %w", out, err)
	}
	if _, err := os.Stat(out); err == nil && !c.Bool("force") {
		return wrong("%s exists already; --force replaces it, -o writes to another file", out)
	}
	u, err := readUntuned(c, paths)
	if err != nil {
		return err
	}
	listed, err := selectDevice(c)
	if err != nil {
		return err
	}
	kernels, err := buildUntuned(c, listed, u)
	if err != nil {
		return err
	}
	if u.Kernel, err = chooseKernel(c.String("kernel"), kernels); err != nil {
		return err
	}
	draft := spec.Propose(*u, out)
	if err := draft.Write(out); err != nil {
		return err
	}
	return reportDraft(c, out, draft)
}

// readUntuned reads the source and the macros of the command line.
func readUntuned(c *cli.Context, paths []string) (*spec.Untuned, error) {
	u := &spec.Untuned{Sources: paths}
	for _, folder := range c.StringSlice("include") {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return nil, wrong("-I: there is no folder %s", folder)
		}
		absolute, err := filepath.Abs(folder)
		if err != nil {
			return nil, err
		}
		u.Options = append(u.Options, "-I"+absolute)
	}
	for _, text := range c.StringSlice("define") {
		name, value, assigned := strings.Cut(text, "=")
		if !macroName.MatchString(name) {
			return nil, wrong("-D %s: want NAME=VALUE", text)
		}
		if !assigned {
			value = "1"
		}
		u.Given = append(u.Given, clc.Macro{Name: name, Text: value, Guarded: true})
	}
	for _, path := range paths {
		text, err := clc.ResolveIncludes(files.ReadFile, path, c.StringSlice("include"))
		if err != nil {
			return nil, &usageError{err}
		}
		if clc.IsSPIRV(text) {
			return nil, wrong("%s is a SPIR-V module, which does not describe its arguments; write the specification by hand", path)
		}
		if len(paths) > 1 {
			text = fmt.Sprintf("#line 1 \"%s\"\n%s\n", filepath.ToSlash(path), text)
		}
		u.Text += text
	}
	for _, m := range clc.Tested(u.Text) {
		if !slices.ContainsFunc(u.Given, func(g clc.Macro) bool { return g.Name == m.Name }) {
			u.Missing = append(u.Missing, m)
		}
	}
	return u, nil
}

var macroName = regexp.MustCompile(`^[A-Za-z_]\w*$`)

// undeclared are the messages of compilers about identifiers that a source does not define.
var undeclared = regexp.MustCompile(`use of undeclared (?:identifier|label) '(\w+)'|unknown type name '(\w+)'|identifier "(\w+)" is undefined`)

// maxMissing bounds the builds: compilers report some twenty errors at once.
const maxMissing = 8

// buildUntuned builds the source, with values for the macros that it needs, and notes these.
func buildUntuned(c *cli.Context, d device.Listed, u *spec.Untuned) ([]device.Signature, error) {
	var options string
	for _, option := range u.Options {
		options += ` -I"` + strings.TrimPrefix(option, "-I") + `"`
	}
	for round := 0; ; round++ {
		var prologue strings.Builder
		var names []string
		for _, m := range slices.Concat(u.Given, u.Missing) {
			names = append(names, m.Name)
			fmt.Fprintf(&prologue, "#define %s %s\n", m.Name, m.Text)
		}
		text, _ := clc.Override(u.Text, names, nil)
		kernels, err := worker.Signatures(c.Context, d, prologue.String()+"#line 1\n"+text, options, c.Duration("build-timeout"))
		var failed *device.SourceError
		if !errors.As(err, &failed) {
			return kernels, err
		}
		before := len(u.Missing)
		for _, found := range undeclared.FindAllStringSubmatch(failed.Log, -1) {
			name := found[1] + found[2] + found[3]
			if !slices.Contains(names, name) {
				names = append(names, name)
				u.Missing = append(u.Missing, spec.MissingMacro(name, found[2] != "" || clc.IsType(u.Text, name)))
			}
		}
		if len(u.Missing) == before || round == maxMissing {
			hint := ""
			if before > 0 {
				hint = fmt.Sprintf("\n(nobody defines %s; give them with -D)", joinTexts(", ", func(m clc.Macro) string { return m.Name }, u.Missing...))
			}
			return nil, wrong("%s: %w%s", strings.Join(u.Sources, ", "), failed, hint)
		}
	}
}

// chooseKernel returns the kernel of a name, or the only one.
func chooseKernel(name string, kernels []device.Signature) (device.Signature, error) {
	var names []string
	for _, k := range kernels {
		names = append(names, k.Name)
	}
	i := slices.Index(names, name)
	switch {
	case len(kernels) == 0:
		return device.Signature{}, wrong("the source has no kernel")
	case name == "" && len(kernels) == 1:
		return kernels[0], nil
	case name == "":
		return device.Signature{}, wrong("the source has several kernels; choose one with --kernel: %s", strings.Join(names, ", "))
	case i < 0:
		return device.Signature{}, wrong("the source has no kernel named %s%s; it has %s", name, nearest.Hint(name, names), strings.Join(names, ", "))
	}
	return kernels[i], nil
}

// reportDraft says what was written, whether it can be read, and what to type next.
func reportDraft(c *cli.Context, out string, draft *spec.Draft) error {
	decisions := 0
	for _, lines := range draft.Remarks {
		for _, line := range lines {
			if strings.HasPrefix(line, "DECIDE") {
				decisions++
			}
		}
	}
	w := c.App.Writer
	fmt.Fprintf(w, "%s: a specification of the kernel %s, with %s to check (DECIDE)\n", out, draft.Definition.Kernel.Name, figure.Count(decisions, "decision"))
	if _, err := spec.Load(out, spec.Options{}); err != nil {
		fmt.Fprintf(w, "It cannot be used yet:\n%v\n", err)
		return nil
	}
	name := out
	if strings.ContainsAny(name, " '") {
		name = "'" + name + "'"
	}
	var values string
	for _, p := range draft.Definition.Parameters {
		values += fmt.Sprintf(" -p %s=%v", p.Name, draft.Defaults[p.Name])
	}
	fmt.Fprintf(w, "\nNext:\n  ndtune run %s%s    # one configuration\n  ndtune tune %s --max-evals 10    # a short search\n  ndtune tune %s\n", name, values, name, name)
	return nil
}
