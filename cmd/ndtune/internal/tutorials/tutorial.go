// Package tutorials has the commands of the tutorials on diffusion and on the multiplication of matrices.
package tutorials

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/job"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/kernels"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
)

// A tutorial is the bundled kernels of one problem, in the order in which the tutorial
// develops them.
type tutorial struct {
	kernels []tutorialKernel
	sizes   []sizeFlag
	guess   map[string]int // the configuration of the first kernel that one would guess
}

// A tutorialKernel is a bundled specification.
type tutorialKernel struct {
	name      string            // the value of --kernel
	path      string            // in the bundled kernels
	set       map[string]string // constants, unless the user gives them
	apart     bool              // not among all
	otherwise string            // the kernel for devices that cannot run any configuration of it; "": an error there
}

// A sizeFlag is a flag that stands for a constant of the specifications.
type sizeFlag struct {
	name, usage string
	value       int
	follows     string // another size, whose value is the default
}

const allKernels = "all"

// Choices returns the values of --kernel.
func (t tutorial) Choices() []string {
	return append(each.Of(t.kernels, func(k tutorialKernel) string { return k.name }), allKernels)
}

// tutorialOptions are those of a command on the kernels of a tutorial.
type tutorialOptions struct {
	job.Options
	kernel string
	sizes  tutorialSizes
}

// tutorialSizes are the values of the flags that stand for constants.
type tutorialSizes struct {
	flags  []sizeFlag
	values map[string]int
	given  map[string]bool
}

// cliFlags returns the flags.
func (s *tutorialSizes) cliFlags() (all []cli.Flag) {
	for _, f := range s.flags {
		n, usage := f.value, f.usage
		if f.follows != "" {
			usage += " (default: that of --" + f.follows + ")"
		}
		all = append(all, flags.Number(&n, f.name, flags.CategorySpec, usage))
	}
	return all
}

func (s *tutorialSizes) Read(c *cli.Context) {
	s.values, s.given = map[string]int{}, map[string]bool{}
	for _, f := range s.flags {
		s.values[f.name], s.given[f.name] = c.Int(f.name), c.IsSet(f.name)
	}
}

// newOptions returns the options of the tutorial's tune command, and its flags.
func (t tutorial) newOptions(kernel string) (*tutorialOptions, []cli.Flag) {
	o := &tutorialOptions{kernel: kernel, sizes: tutorialSizes{flags: t.sizes}}
	return o, slices.Concat([]cli.Flag{
		flags.Text(&o.kernel, "kernel", flags.CategorySpec, "tune `KERNEL`: "+strings.Join(t.Choices(), ", ")),
	}, o.sizes.cliFlags(), o.Spec.Flags(), o.Options.Flags())
}

func (o *tutorialOptions) Read(c *cli.Context) error {
	o.sizes.Read(c)
	return cmp.Or(flags.NoArguments(c), o.Spec.Read(), o.ReadSearch(c))
}

// tune searches the chosen kernels one after the other, and compares them if there are several.
func (t tutorial) tune(ctx context.Context, to *ui.Console, o *tutorialOptions) error {
	chosen, err := t.chosen(o)
	if err != nil {
		return err
	}
	searches := make([]*job.Job, len(chosen))
	for i := range chosen { // all are read and checked before the first begins
		s, err := t.load(ctx, to, o, &chosen[i])
		if err != nil {
			return err
		}
		k := chosen[i]
		if searches[i], err = job.New(ctx, to, &o.Options, s, k.path); err != nil {
			return err
		}
		if j := searches[i]; len(chosen) > 1 {
			j.Plan.LogPath = ui.Labelled(j.Plan.LogPath, k.name)
			j.Outputs = each.Of(j.Outputs, func(path string) string { return ui.Labelled(path, k.name) })
		}
		if err := searches[i].CheckFiles(); err != nil {
			return err
		}
	}
	page, closePage, err := o.OpenPage(to)
	if err != nil {
		return err
	}
	defer closePage()
	var tuned []tunedKernel
	var errs []error
	for i, k := range chosen {
		s := searches[i]
		s.Page = page
		if len(chosen) > 1 {
			s.Title, s.Again = "kernel "+k.name, []string{"--kernel", k.name}
		}
		outcome, err := s.SearchAndWrite(ctx)
		errs = append(errs, err)
		if outcome == nil || errors.Is(err, context.Canceled) || outcome.Stop == tune.Environment {
			return ui.Joined(errs)
		}
		tuned = append(tuned, tunedKernel{k.name, outcome})
	}
	if len(chosen) > 1 {
		printComparison(to.Out, tuned, t.guess)
	}
	return ui.Joined(errs)
}

// load reads the specification of a kernel, or of the one that takes its place on the device.
func (t tutorial) load(ctx context.Context, to *ui.Console, o *tutorialOptions, k *tutorialKernel) (*spec.Spec, error) {
	for {
		s, err := loadBundled(ctx, k.path, &o.Spec, &o.sizes, k.set)
		if k.otherwise == "" {
			return s, err
		}
		devices, failed := job.SelectDevices(o.Device, source.OpenCL)
		if failed != nil {
			return nil, failed
		}
		if err == nil {
			_, err = s.Space(ctx, *devices[0].Identity)
		}
		var empty *space.EmptyError
		if !errors.As(err, &empty) {
			return s, err
		}
		to.Say("No configuration of the kernel %s is for this size on %s: the kernel %s takes its place.",
			k.name, devices[0].Identity.Name, k.otherwise)
		*k = t.kernels[slices.IndexFunc(t.kernels, func(other tutorialKernel) bool { return other.name == k.otherwise })]
	}
}

// chosen returns the kernels that --kernel names.
func (t tutorial) chosen(o *tutorialOptions) ([]tutorialKernel, error) {
	kernel := o.kernel
	chosen := slices.DeleteFunc(slices.Clone(t.kernels), func(k tutorialKernel) bool {
		return kernel != k.name && (kernel != allKernels || k.apart || device.NamesCUDA(o.Device) && !k.isInCUDA())
	})
	if len(chosen) == 0 {
		return nil, ui.Wrong("--kernel %s: there are %s%s", kernel, strings.Join(t.Choices(), ", "), nearest.Hint(kernel, t.Choices()))
	}
	return chosen, t.checkSizes(o, chosen)
}

// isInCUDA reports whether there is the kernel in CUDA C.
func (k tutorialKernel) isInCUDA() bool {
	s, err := spec.LoadFS(kernels.FS, k.path, spec.Options{})
	return err == nil && slices.Contains(s.Problem.Languages(), source.CUDA)
}

// checkSizes refuses a size of some kernels if all are compared, or if none of the chosen ones has it.
func (t tutorial) checkSizes(o *tutorialOptions, chosen []tutorialKernel) error {
	for _, s := range t.sizes {
		if s.follows == "" || !o.sizes.given[s.name] {
			continue
		}
		if o.kernel == allKernels {
			return ui.Wrong("--kernel %s compares kernels of one size: give %s, not %s", allKernels, flags.Dashed(s.follows), flags.Dashed(s.name))
		}
		known := false
		for _, k := range chosen {
			plain, err := spec.LoadFS(kernels.FS, k.path, spec.Options{})
			if err != nil {
				return err
			}
			known = known || hasConstant(plain, s.name)
		}
		if !known {
			return ui.Wrong("%s: the kernel %s has no such size; give %s", flags.Dashed(s.name), chosen[0].name, flags.Dashed(s.follows))
		}
	}
	return nil
}

// loadBundled reads a bundled specification with the changes and the sizes of the options, and checks its search space. The
// constants of set have other values, unless the user gives them.
func loadBundled(ctx context.Context, path string, o *job.Spec, sizes *tutorialSizes, set map[string]string) (*spec.Spec, error) {
	plain, err := spec.LoadFS(kernels.FS, path, spec.Options{})
	if err != nil {
		return nil, err
	}
	changes := o.Changes
	changes.Set = map[string]string{}
	maps.Copy(changes.Set, set)
	maps.Copy(changes.Set, o.Changes.Set)
	sizes.apply(plain, o.Changes.Set, changes.Set)
	s, err := spec.LoadFS(kernels.FS, path, changes)
	if err != nil {
		return nil, err
	}
	return s, s.CheckSpace(ctx)
}

// apply gives the constants of a specification the values of their flags. A value of --set stands unless the flag is given too.
func (s *tutorialSizes) apply(plain *spec.Spec, given, set map[string]string) {
	for _, f := range s.flags {
		name := f.name
		if f.follows != "" && !s.given[name] {
			name = f.follows
		}
		if _, stands := given[f.name]; !hasConstant(plain, f.name) || stands && !s.given[f.name] {
			continue
		}
		set[f.name] = strconv.Itoa(s.values[name])
	}
}

func hasConstant(s *spec.Spec, name string) bool {
	return slices.ContainsFunc(s.Definition.Constants, func(k definition.Constant) bool { return k.Name == name })
}

// A tunedKernel is one kernel of a tutorial with the outcome of its search.
type tunedKernel struct {
	name    string
	outcome *tune.Outcome
}

// bestTime returns the time of a step of the best configuration in milliseconds: of the final measurement
// if there was one.
func (k tunedKernel) bestTime() float64 {
	return k.outcome.Best.Figures().Time / stepsOf(k.outcome.Best)
}

// stepsOf returns the number of time steps that a launch makes: 1 for all kernels but those that have a
// parameter for it.
func stepsOf(r *tune.Result) float64 {
	if _, ok := r.Configuration.Get("time_steps"); ok {
		return float64(r.Configuration.Int("time_steps"))
	}
	return 1
}

// timeAStep returns the median time of a launch in the search, divided by its steps.
func timeAStep(r *tune.Result) float64 { return r.Time() / stepsOf(r) }

// closeToBest is the largest ratio of times, to the best, of the configurations that are listed.
const closeToBest = 1.05

// printComparison closes a tutorial: the best of each kernel, its gain over the best of the first kernel
// and over that kernel in the guessed configuration, and all configurations that come close to the fastest.
func printComparison(w io.Writer, tuned []tunedKernel, guess map[string]int) {
	first := tuned[0]
	tuned = slices.DeleteFunc(slices.Clone(tuned), func(k tunedKernel) bool { return k.outcome.Best == nil })
	if len(tuned) == 0 {
		return
	}
	title := "time"
	if slices.ContainsFunc(tuned, func(k tunedKernel) bool { return stepsOf(k.outcome.Best) > 1 }) {
		title = "time a step"
	}
	head := []string{"kernel", title}
	for _, k := range tuned {
		for _, m := range k.outcome.Best.Figures().Metrics {
			head = each.AppendNew(head, m.Name)
		}
	}
	guessed := guessedResult(first, guess)
	overGuess := fmt.Sprintf("over %s %d×%d", first.name, guess["block_size_x"], guess["block_size_y"])
	rows := [][]string{slices.Concat(head, []string{"over " + first.name, overGuess, "best configuration"})}
	for _, k := range tuned {
		best := k.outcome.Best
		metrics := each.Of(head[2:], func(name string) string {
			if v, known := score.Named(best.Figures().Metrics, name); known {
				return figure.Number(v)
			}
			return "–"
		})
		rows = append(rows, slices.Concat([]string{k.name, ui.FormatTime(k.bestTime())}, metrics,
			[]string{gain(first.outcome.Best, best), gain(guessed, best), best.Configuration.String()}))
	}
	fmt.Fprintln(w, "\ncomparison")
	figure.Columns(w, "", func(int) bool { return false }, rows...)
	printClose(w, slices.MinFunc(tuned, func(a, b tunedKernel) int { return cmp.Compare(a.bestTime(), b.bestTime()) }))
}

// gain returns the ratio of two times: those of the final measurements if both results took part in one,
// else those of the search. It is «–» if there is nothing to compare with.
func gain(over, of *tune.Result) string {
	switch {
	case over == nil:
		return "–"
	case len(over.Final) > 0 && len(of.Final) > 0:
		return ui.FormatGain(over.FinalTime() / stepsOf(over) / (of.FinalTime() / stepsOf(of)))
	}
	return ui.FormatGain(timeAStep(over) / timeAStep(of))
}

// guessedResult returns the result of a kernel in the guessed configuration; nil if it is not correct.
// Parameters without a guess may have any value: the first such result counts.
func guessedResult(k tunedKernel, guess map[string]int) *tune.Result {
	for i, r := range k.outcome.Results {
		matches := r.Status == tune.Correct
		for name, value := range guess {
			matches = matches && r.Configuration.Int(name) == value
		}
		if matches {
			return &k.outcome.Results[i]
		}
	}
	return nil
}

// printClose lists the configurations of a kernel whose time in the search is within 5 % of the shortest,
// fastest first.
func printClose(w io.Writer, k tunedKernel) {
	shortest := math.Inf(1)
	for _, r := range k.outcome.Results {
		if r.Status == tune.Correct {
			shortest = min(shortest, timeAStep(&r))
		}
	}
	close := slices.DeleteFunc(slices.Clone(k.outcome.Results), func(r tune.Result) bool {
		return r.Status != tune.Correct || timeAStep(&r) > shortest*closeToBest
	})
	slices.SortStableFunc(close, func(a, b tune.Result) int { return cmp.Compare(timeAStep(&a), timeAStep(&b)) })
	fmt.Fprintf(w, "\nwithin 5 %% of the fastest in the search of %s: %s\n", k.name, figure.Count(len(close), "configuration"))
	for _, r := range close {
		fmt.Fprintln(w, ui.FormatMeasured(r.Configuration.String(), r.Time(), r.Metrics))
	}
}

// All returns the commands of the tutorials.
func All() []*cli.Command {
	return []*cli.Command{diffusionCommand(runDiffusion), matmulCommand(runBench)}
}
