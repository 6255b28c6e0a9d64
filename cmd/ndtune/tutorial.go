package main

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/kernels"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/spec"
)

// A tutorial is the bundled kernels of one problem, in the order in which the tutorial
// develops them.
type tutorial struct {
	kernels []tutorialKernel
	sizes   []sizeFlag
	guess   map[string]int // the configuration of the first kernel that one would guess
}

// A tutorialKernel is a bundled specification. Several may share a choice of --kernel.
type tutorialKernel struct {
	name   string // in the comparison
	choice string // of --kernel
	path   string // in the bundled kernels
	apart  bool   // of another precision, or for few devices: not among all
}

// A sizeFlag is a flag that stands for a constant of the specifications.
type sizeFlag struct {
	name, usage string
	value       int
	follows     string // another size, whose value it takes where it is not given itself
}

const allKernels = "all"

// choices are what --kernel can be.
func (t tutorial) choices() []string {
	var choices []string
	for _, k := range t.kernels {
		if !slices.Contains(choices, k.choice) {
			choices = append(choices, k.choice)
		}
	}
	return append(choices, allKernels)
}

// flags are those of the tutorial's tune command.
func (t tutorial) flags(kernel string) []cli.Flag {
	flags := []cli.Flag{
		&cli.StringFlag{Name: "kernel", Value: kernel, Category: categorySpec, Usage: "which `KERNEL`: " + strings.Join(t.choices(), ", ")},
	}
	for _, s := range t.sizes {
		flag := &cli.IntFlag{Name: s.name, Value: s.value, Category: categorySpec, Usage: s.usage}
		if s.follows != "" {
			flag.DefaultText = "that of --" + s.follows
		}
		flags = append(flags, flag)
	}
	return append(append(append(flags, specFlags()...), tuneFlags()...), serveFlag())
}

// tune searches the chosen kernels one after the other, and compares them where there are
// several.
func (t tutorial) tune(c *cli.Context) error {
	chosen, err := t.chosen(c)
	if err != nil {
		return err
	}
	searches := make([]*tuning, len(chosen))
	for i, k := range chosen { // all are read and checked before the first begins
		s, err := t.load(c, k)
		if err != nil {
			return err
		}
		label := ""
		if len(chosen) > 1 {
			label = strings.ReplaceAll(k.name, " ", "-")
		}
		if searches[i], err = newTuning(c, s, k.path, label); err != nil {
			return err
		}
	}
	page, err := openPage(c)
	if err != nil {
		return err
	}
	if page != nil {
		defer page.Close()
	}
	for _, s := range searches {
		s.page, s.quick = page, searches[0].quick
	}
	if len(chosen) == 1 {
		_, err := searches[0].search()
		return err
	}
	var tuned []tunedKernel
	var errs []error
	for i, k := range chosen {
		searches[i].title = "kernel " + k.name
		searches[i].again = []string{"--kernel", k.choice}
		outcome, err := searches[i].search()
		errs = append(errs, err)
		if outcome == nil || errors.Is(err, errInterrupted) || outcome.Stop == tune.Environment {
			return joined(errs)
		}
		tuned = append(tuned, tunedKernel{k.name, searches[i].spec.Problem, outcome})
	}
	printComparison(c.App.Writer, tuned, t.guess)
	return joined(errs)
}

// joined joins the errors of several parts of a command. An interruption, and an error that was
// reported already, count only where nothing else failed: what else failed must be seen.
func joined(errs []error) error {
	var failed []error
	var interrupted, reported bool
	for _, err := range errs {
		switch {
		case err == nil:
		case errors.Is(err, errInterrupted):
			interrupted = true
		case errors.Is(err, errReported):
			reported = true
		default:
			failed = append(failed, err)
		}
	}
	switch {
	case len(failed) > 0:
		return errors.Join(failed...)
	case interrupted:
		return errInterrupted
	case reported:
		return errReported
	}
	return nil
}

// chosen are the kernels that --kernel names.
func (t tutorial) chosen(c *cli.Context) ([]tutorialKernel, error) {
	if err := noArguments(c); err != nil {
		return nil, err
	}
	kernel := c.String("kernel")
	var chosen []tutorialKernel
	for _, k := range t.kernels {
		if kernel == k.choice || (kernel == allKernels && !k.apart) {
			chosen = append(chosen, k)
		}
	}
	if kernel == allKernels {
		if err := t.oneSize(c); err != nil {
			return nil, err
		}
	}
	if err := t.knownSizes(c, chosen); err != nil {
		return nil, err
	}
	if len(chosen) == 0 {
		return nil, wrong("--kernel %s: there are %s%s", kernel, strings.Join(t.choices(), ", "), nearest.Hint(kernel, t.choices()))
	}
	return chosen, nil
}

// load reads a bundled specification with the changes that the flags make.
func (t tutorial) load(c *cli.Context, k tutorialKernel) (*spec.Spec, error) {
	options, err := specOptions(c)
	if err != nil {
		return nil, err
	}
	plain, err := spec.LoadFS(kernels.FS, k.path, spec.Options{})
	if err != nil {
		return nil, err
	}
	if err := setSizes(c, t.sizes, func(name string) bool { return hasConstant(plain, name) }, options.Set); err != nil {
		return nil, err
	}
	s, err := spec.LoadFS(kernels.FS, k.path, options)
	if err != nil {
		return nil, err
	}
	return s, s.CheckSpace(c.Context)
}

// setSizes gives the constants of a specification the values of their flags. What --set
// says of a constant stands where its flag is not given.
func setSizes(c *cli.Context, sizes []sizeFlag, isConstant func(string) bool, set map[string]string) error {
	for _, s := range sizes {
		name := s.name
		if s.follows != "" && !c.IsSet(name) {
			name = s.follows
		}
		if _, given := set[s.name]; !isConstant(s.name) || (given && !c.IsSet(s.name)) {
			continue
		}
		if c.Int(name) < 1 {
			return wrong("%s %d: want a positive number", dashed(name), c.Int(name))
		}
		set[s.name] = strconv.Itoa(c.Int(name))
	}
	return nil
}

// knownSizes refuses a size that none of the chosen kernels has.
func (t tutorial) knownSizes(c *cli.Context, chosen []tutorialKernel) error {
	for _, s := range t.sizes {
		if s.follows == "" || !c.IsSet(s.name) {
			continue
		}
		known := false
		for _, k := range chosen {
			plain, err := spec.LoadFS(kernels.FS, k.path, spec.Options{})
			if err != nil {
				return err
			}
			known = known || hasConstant(plain, s.name)
		}
		if !known && len(chosen) > 0 {
			return wrong("%s: the kernel %s has no such size; give %s", dashed(s.name), chosen[0].choice, dashed(s.follows))
		}
	}
	return nil
}

func hasConstant(s *spec.Spec, name string) bool {
	return slices.ContainsFunc(s.Definition.Constants, func(k problem.Constant) bool { return k.Name == name })
}

// oneSize refuses sizes of some kernels only where all are compared.
func (t tutorial) oneSize(c *cli.Context) error {
	for _, s := range t.sizes {
		if s.follows != "" && c.IsSet(s.name) {
			return wrong("--kernel %s compares kernels of one size: give %s, not %s", allKernels, dashed(s.follows), dashed(s.name))
		}
	}
	return nil
}
