package main

import (
	"cmp"
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
structs and indices from the source, and writes a specification. Comments that begin with
DECIDE say what ndtune had to guess: sizes, outputs, values of scalars, parameters. The output is
verified by that of the kernel itself in its default configuration, which is the weakest reference.

   ndtune init kernel.cl                           # a file with one kernel; writes kernel.yaml
   ndtune init kernels.cl --kernel reduce          # a file with several
   ndtune init kernel.cl -D REAL=float -I include -cl-std=CL3.0   # with the options of the program's own build
   ndtune init kernel.cl -D 'SQUARE(x)=((x) * (x))'
   ndtune init common.cl kernel.cl -o kernel.yaml  # a source in several files, in this order

The source is built in another process, so that a compiler that crashes does not end ndtune.
Macros that the source needs and nobody defines become parameters or sizes if their names say so.
Of others only you know the value: the file has DECIDE in its place, and is refused until you write it.`,
		Flags: []cli.Flag{
			deviceFlag(""),
			&cli.StringFlag{Name: "kernel", Aliases: []string{"k"}, Category: categorySpec, Usage: "`NAME` of the kernel, if the source has several"},
			&cli.StringSliceFlag{Name: "define", Aliases: []string{"D"}, Category: categorySpec, Usage: "define a macro, `NAME=VALUE`, NAME or NAME(x)=VALUE; may be repeated"},
			&cli.StringSliceFlag{Name: "include", Aliases: []string{"I"}, TakesFile: true, Category: categorySpec, Usage: "look for included files in `FOLDER`; may be repeated"},
			&cli.StringSliceFlag{Name: "build-option", Category: categorySpec, Usage: "pass `OPTION` to the compiler; may be repeated. Those that begin with -cl- need no flag"},
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
	measureTypes(c, listed, u)
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
		if !assigned {
			value = "1"
		}
		switch {
		case macroCall.MatchString(name):
			u.Defines = append(u.Defines, fmt.Sprintf("#define %s %s", name, value))
			continue
		case !macroName.MatchString(name):
			return nil, wrong("-D %s: want NAME=VALUE", text)
		}
		u.Given = append(u.Given, clc.Macro{Name: name, Text: value, Guarded: true})
	}
	u.Options = append(u.Options, c.StringSlice("build-option")...)
	if len(u.Defines) > 0 {
		u.Text = strings.Join(u.Defines, "\n") + "\n"
	}
	for _, path := range paths {
		text, err := clc.ResolveIncludes(files.ReadFile, path, c.StringSlice("include"))
		if err != nil {
			return nil, &usageError{err}
		}
		if clc.IsSPIRV(text) {
			return nil, wrong("%s is a SPIR-V module, which does not describe its arguments; write the specification by hand", path)
		}
		u.Text += fmt.Sprintf("#line 1 \"%s\"\n%s\n", filepath.ToSlash(path), text)
	}
	for _, m := range clc.Tested(u.Text) {
		if !slices.ContainsFunc(u.Given, func(g clc.Macro) bool { return g.Name == m.Name }) {
			u.Missing = append(u.Missing, m)
		}
	}
	return u, nil
}

var (
	macroName = regexp.MustCompile(`^[A-Za-z_]\w*$`)
	macroCall = regexp.MustCompile(`^[A-Za-z_]\w*\([\w\s,.]*\)$`)
)

// undeclared are the messages of compilers about identifiers that a source does not define.
var undeclared = regexp.MustCompile(`use of undeclared (?:identifier|label) '(\w+)'|unknown type name '(\w+)'|identifier "(\w+)" is undefined|implicit declaration of function '(\w+)'`)

// errorLine is the line of a log with the first error.
var errorLine = regexp.MustCompile(`(?m)^.*\berror\b.*$`)

// maxMissing bounds the builds: compilers report some twenty errors at once.
const maxMissing = 8

// buildUntuned builds the source, with values for the macros that it needs, and notes these.
func buildUntuned(c *cli.Context, d device.Listed, u *spec.Untuned) ([]device.Signature, error) {
	sources := strings.Join(u.Sources, ", ")
	var unknown []string // names that nobody defines, with their places
	for round := 0; ; round++ {
		kernels, err := signatures(c, d, u, "")
		var failed *device.SourceError
		if !errors.As(err, &failed) {
			return kernels, err
		}
		if failed.Hint != "" {
			return nil, wrong("%s: %w\n(%s)", sources, failed, failed.Hint)
		}
		var faults []string
		before := len(u.Missing)
		for _, found := range undeclared.FindAllStringSubmatch(failed.Log, -1) {
			name := strings.Join(found[1:], "")
			if slices.ContainsFunc(slices.Concat(u.Given, u.Missing), func(m clc.Macro) bool { return m.Name == name }) {
				continue
			}
			at, called, _ := clc.First(u.Text, name)
			isType := found[2] != "" || clc.IsType(u.Text, name)
			if fault := nameFault(u.Text, name, at, called && !isType); fault != "" {
				faults = append(faults, fault)
				continue
			}
			unknown = append(unknown, fmt.Sprintf("%s (%s)", name, at))
			u.Missing = append(u.Missing, spec.MissingMacro(name, isType))
		}
		switch {
		case len(faults) > 0:
			slices.Sort(faults)
			return nil, wrong("%s: the source does not compile:\n%s", sources, strings.Join(slices.Compact(faults), "\n"))
		case len(u.Missing) > before && round < maxMissing:
		case len(unknown) > 0:
			return nil, wrong("%s: nobody defines %s; give them with -D, or the files that define them.\nWith values in their place the compiler says:\n%s",
				sources, strings.Join(unknown, ", "), cmp.Or(errorLine.FindString(failed.Log), firstLine(failed.Log)))
		default:
			return nil, wrong("%s: %w", sources, failed)
		}
	}
}

// nameFault says why a source that does not define a name cannot do with a number in its place; "" if it can.
func nameFault(text, name string, at clc.Place, called bool) string {
	var offers []string
	for _, offer := range clc.Offers(text, name) {
		if strings.HasPrefix(offer.Macro, "cl_") {
			offers = append(offers, fmt.Sprintf("%s defines it for devices with %s, which this device lacks", offer.At, offer.Macro))
		} else {
			offers = append(offers, fmt.Sprintf("%s offers %s: -D %s", offer.At, offer.Macro, offer.Macro))
		}
	}
	switch {
	case len(offers) > 0:
		return fmt.Sprintf("%s is not defined; %s", name, strings.Join(offers, "; "))
	case called:
		return fmt.Sprintf("%s: neither the source nor OpenCL C defines the function %s; give the file that does, or -D '%s(x)=…'", at, name, name)
	}
	return ""
}

// signatures builds the source, with further code at its end, and returns the declarations of its kernels.
func signatures(c *cli.Context, d device.Listed, u *spec.Untuned, code string) ([]device.Signature, error) {
	var options, prologue strings.Builder
	for _, option := range u.Options {
		if folder, ok := strings.CutPrefix(option, "-I"); ok && strings.Contains(folder, " ") {
			option = `-I"` + folder + `"` // some drivers take the quotes for a part of the name
		}
		options.WriteString(" " + option)
	}
	var names []string
	for _, m := range slices.Concat(u.Given, u.Missing) {
		names = append(names, m.Name)
		fmt.Fprintf(&prologue, "#define %s %s\n", m.Name, m.Text)
	}
	text, _ := clc.Override(u.Text, names, nil)
	return worker.Signatures(c.Context, d, prologue.String()+text+code, options.String(), c.Duration("build-timeout"))
}

// measureTypes notes the sizes of types that only the compiler knows: those of structs, of unions, and of types that macros
// make. It builds kernels whose required work-groups are the digits of the sizes, so that nothing must be launched. A
// compiler that does not take them leaves the sizes unknown.
func measureTypes(c *cli.Context, d device.Listed, u *spec.Untuned) {
	divisors := []int{1, 256, 256 * 256} // every device has work-groups of 256
	types := u.Opaque()
	if len(types) == 0 {
		return
	}
	var code strings.Builder
	for i, t := range types {
		for digit, divisor := range divisors {
			fmt.Fprintf(&code, "\n__kernel __attribute__((reqd_work_group_size(sizeof(%s) / %d %% 256 + 1, 1, 1))) void ndtune_size_%d_%d() {}", t, divisor, i, digit)
		}
	}
	kernels, err := signatures(c, d, u, code.String())
	if err != nil {
		return
	}
	u.Sizes = map[string]int{}
	for _, k := range kernels {
		var i, digit int
		if n, _ := fmt.Sscanf(k.Name, "ndtune_size_%d_%d", &i, &digit); n == 2 && k.WorkGroup[0] > 0 {
			u.Sizes[types[i]] += (k.WorkGroup[0] - 1) * divisors[digit]
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
	if draft.Definition.Verify != nil {
		fmt.Fprintln(w, "The reference is the kernel itself, the weakest one: it shows only that configurations agree.")
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
