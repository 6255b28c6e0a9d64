package scaffold

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/worker"
)

// A SourceError is a fault of the source, of the options of its compiler or of the choice of a kernel: the user has to change these.
type SourceError struct{ err error }

func (e *SourceError) Error() string { return e.err.Error() }
func (e *SourceError) Unwrap() error { return e.err }

func faultf(format string, args ...any) error { return &SourceError{fmt.Errorf(format, args...)} }

// A Compiler builds sources for a device in other processes, so that a compiler that crashes does not end this one.
type Compiler struct {
	Device  device.Listed
	Timeout time.Duration
}

// Build builds the source, with values for the macros that it needs and nobody defines, chooses the kernel of the name, or the
// only one, and notes all that is known of it.
func (u *Untuned) Build(ctx context.Context, c Compiler, kernel string) error {
	kernels, err := u.build(ctx, c)
	if err == nil {
		u.Kernel, err = chooseKernel(kernel, kernels)
	}
	return err
}

// undeclared are the messages of compilers about identifiers that a source does not define.
var undeclared = regexp.MustCompile(strings.Join([]string{
	`use of undeclared (?:identifier|label) '(\w+)'`, `unknown type name '(\w+)'`, `identifier "(\w+)" is undefined`,
	`implicit declaration of function '(\w+)'`,
}, "|"))

// maxMissing bounds the builds: compilers report some twenty errors at once.
const maxMissing = 8

// build builds the source, with values for the macros that it needs, and notes these.
func (u *Untuned) build(ctx context.Context, c Compiler) ([]device.Signature, error) {
	sources := strings.Join(u.Sources, ", ")
	var unknown []string // names that nobody defines, with their places
	tested := u.Missing
	single := false // one name in a build: the source itself may declare those that follow
	for round := 0; ; round++ {
		kernels, err := u.signatures(ctx, c)
		var failed *device.SourceError
		if !errors.As(err, &failed) {
			return kernels, err
		}
		if failed.Hint != "" {
			return nil, faultf("%s: %w\n(%s)", sources, failed, failed.Hint)
		}
		var faults []string
		before := len(u.Missing)
		for _, found := range undeclared.FindAllStringSubmatch(failed.Log, -1) {
			name := strings.Join(found[1:], "")
			if slices.ContainsFunc(slices.Concat(u.Given, u.Missing), func(m source.Macro) bool { return m.Name == name }) {
				continue
			}
			if single && len(u.Missing) > before {
				break
			}
			at, call, _ := source.First(u.Text, name)
			isType := found[2] != "" || source.IsType(u.Text, name)
			if isType {
				call = 0
			}
			if fault := u.nameFault(name, at, call); fault != "" {
				faults = append(faults, fault)
				continue
			}
			unknown = append(unknown, fmt.Sprintf("%s (%s)", name, at))
			u.Missing = append(u.Missing, u.missingMacro(name, isType))
		}
		switch {
		case len(faults) > 0:
			slices.Sort(faults)
			return nil, faultf("%s: the source does not compile:\n%s", sources, strings.Join(slices.Compact(faults), "\n"))
		case len(u.Missing) > before && (round < maxMissing || single && round < 8*maxMissing):
		case len(unknown) > 1 && !single:
			single, unknown, u.Missing = true, nil, slices.Clone(tested)
		case len(unknown) > 0:
			return nil, faultf("%s: nobody defines %s; give them with -D, or the files that define them.\n"+
				"With values in their place the compiler says:\n%s",
				sources, strings.Join(unknown, ", "), tune.Headline(tune.Compile, failed.Error()))
		case len(u.Missing) > 0:
			values := each.Of(u.Missing, func(m source.Macro) string { return m.Name + "=" + m.Text })
			return nil, faultf("%s: %w\n(nobody defines these macros, and ndtune put %s; give them with -D)", sources, failed, strings.Join(values, ", "))
		default:
			return nil, faultf("%s: %w", sources, failed)
		}
	}
}

// nameFault says why a source that does not define a name cannot do with a number in its place; "" if it can. A call has some
// arguments.
func (u *Untuned) nameFault(name string, at source.Place, call int) string {
	var offers []string
	for _, offer := range source.Offers(u.Text, name) {
		if strings.HasPrefix(offer.Macro, "cl_") {
			offers = append(offers, fmt.Sprintf("%s defines it for devices with %s, which this device lacks", offer.At, offer.Macro))
		} else {
			offers = append(offers, fmt.Sprintf("%s offers %s: -D %s", offer.At, offer.Macro, offer.Macro))
		}
	}
	switch {
	case len(offers) > 0:
		return fmt.Sprintf("%s is not defined; %s", name, strings.Join(offers, "; "))
	case call > 0:
		return fmt.Sprintf("%s: neither the source nor %s defines the function %s; give the file that does, or -D '%s(%s)=…'",
			at, u.Language().Name(), name, name, strings.Join(strings.Split("xyzabcdefghijklmnopqrstuvw"[:min(call, 26)], ""), ", "))
	}
	return ""
}

// signatures builds the source, and returns the declarations of its kernels.
func (u *Untuned) signatures(ctx context.Context, c Compiler) ([]device.Signature, error) {
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
	text, _ := source.Override(u.Text, names, nil)
	return worker.Signatures(ctx, c.Device, prologue.String()+text, options.String(), c.Timeout)
}

// chooseKernel returns the kernel of a name, or the only one.
func chooseKernel(name string, kernels []device.Signature) (device.Signature, error) {
	names := each.Of(kernels, func(k device.Signature) string { return k.Name })
	i := slices.Index(names, name)
	if name == "" && len(kernels) == 1 {
		i = 0
	}
	switch {
	case len(kernels) == 0:
		return device.Signature{}, faultf("the source has no kernel")
	case i >= 0 && kernels[i].Unread:
		return kernels[i], faultf("the source does not tell the arguments of the kernel %s, since macros or templates make them; "+
			"write the specification by hand", names[i])
	case i >= 0:
		return kernels[i], nil
	case name == "":
		return device.Signature{}, faultf("the source has several kernels; choose one with --kernel: %s", strings.Join(names, ", "))
	}
	hint := nearest.Hint(name, names)
	return device.Signature{}, faultf("the source has no kernel named %s%s; it has %s", name, hint, strings.Join(names, ", "))
}
