package capture

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/source"
)

// A Change is what another configuration of a captured launch needs of the application.
type Change struct {
	*Launch
	Launches
	Macros [][3]string // name, old value, new value
	Global []int       // nil: that of the application, as for all that is injected
	Local  []int       // nil: that of the application
}

func (c *Change) String() string {
	parts := each.Of(c.Macros, func(m [3]string) string { return fmt.Sprintf("-D %s=%s in place of %s", m[0], m[2], m[1]) })
	if c.Global != nil {
		parts = append(parts, fmt.Sprintf("the global size %s in place of %s", figure.Sizes(c.Global), figure.Sizes(c.Launches.Global)))
	}
	if c.Local != nil {
		parts = append(parts, fmt.Sprintf("the local size %s in place of %s", figure.Sizes(c.Local), c.LocalText()))
	}
	return strings.Join(parts, ", ")
}

// An Injection is what the layer puts in the place of what an application does.
type Injection struct {
	Options map[string]string // of each [Launches.Build]
	Local   []int             // of all launches without a local size that it divides; nil: none
}

// Add adds a change if nothing else changes with it in the launches of the application, or a check of the application's own judges what does.
// The error says what stands against it.
func (j *Injection) Add(c *Change, all []Launches, judged bool) error {
	options, again := j.Options[c.Build()]
	if !again {
		options = c.Launch.Options
	}
	for _, m := range c.Macros {
		is := regexp.MustCompile(`(?:^|\s)-D\s*`+m[0]+`(=\S*)?(?:\s|$)`).FindAllStringSubmatchIndex(options, -1)
		if len(is) != 1 || is[0][2] < 0 || options[is[0][2]:is[0][3]] != "="+m[1] {
			return fmt.Errorf("the application's build options do not give -D %s=%s once", m[0], m[1])
		}
		options = options[:is[0][2]] + "=" + m[2] + options[is[0][3]:]
	}
	if j.Local != nil && c.Local != nil && !slices.Equal(j.Local, c.Local) {
		return fmt.Errorf("the layer sets one local size, and another kernel gets %s", figure.Sizes(j.Local))
	}
	if !slices.ContainsFunc(all, c.Is) {
		return fmt.Errorf("the application does not launch it this time with the global size %s and the build options %s",
			figure.Sizes(c.Launches.Global), c.Options)
	}
	for _, l := range all {
		build := l.Build() == c.Build()
		own := build && l.Kernel == c.Launches.Kernel
		at := fmt.Sprintf("the global size %s and the local size %s", figure.Sizes(l.Global), l.LocalText())
		switch {
		case len(c.Macros) > 0 && own && !l.Is(c.Launches) && !judged:
			return fmt.Errorf("it is also launched with %s, where nothing is verified; --check COMMAND can judge that", at)
		case len(c.Macros) > 0 && build && !own && !judged && c.reaches(l.Kernel):
			return fmt.Errorf("the kernel %s of the same program depends on these macros, too; --check COMMAND can judge that", l.Kernel)
		case c.Local == nil:
		case own && l.Local != nil:
			return fmt.Errorf("the application launches it with %s, and the layer can only set a local size where there is none", at)
		case own && !fits(c.Local, l.Global):
			return fmt.Errorf("it is also launched with %s, which the local size %s does not divide", at, figure.Sizes(c.Local))
		case !own && l.Local == nil && fits(c.Local, l.Global) && !judged:
			return fmt.Errorf("the layer would give its local size to the kernel %s, too; --check COMMAND can judge that", l.Kernel)
		}
	}
	if len(c.Macros) > 0 {
		if j.Options == nil {
			j.Options = map[string]string{}
		}
		j.Options[c.Build()] = options
	}
	if c.Local != nil {
		j.Local = c.Local
	}
	return nil
}

// reaches reports whether a kernel of the program may depend on one of the macros.
func (c *Change) reaches(kernel string) bool {
	f := source.FindKernel(c.Source, kernel)
	return f == nil || slices.ContainsFunc(c.Macros, func(m [3]string) bool { return f.Reach[m[0]] })
}

// fits reports whether the layer gives a local size to launches with a global size and none of their own. It does not look at further
// dimensions of the local size.
func fits(local, global []int) bool {
	for i, n := range global {
		if i >= len(local) || n%local[i] != 0 {
			return false
		}
	}
	return true
}

// compilations is how often a program object can be built anew with injected options.
const compilations = 16

// MeasureWith is [Application.Measure] with an injection. It is an error if the application does not build a program whose options are
// injected.
func (a *Application) MeasureWith(j Injection) (*Profile, error) {
	with, controls := *a, append([]string{"InjectProgramSource=1"}, timing...)
	with.inject = map[string]string{}
	missing := map[string]bool{}
	for build, options := range j.Options {
		missing[build] = true
		hash, own, _ := strings.Cut(build, "_")
		for i := range compilations {
			with.inject[fmt.Sprintf("CLI_%s_%04d_%s_options.txt", hash, i, own)] = options
		}
	}
	for i, n := range j.Local {
		controls = append(controls, fmt.Sprintf("NullLocalWorkSize%c=%d", 'X'+i, n))
	}
	return with.run(func([]string) {}, func(_ *Profile, folders []string) (err error) {
		for _, folder := range folders {
			log, fault := os.ReadFile(filepath.Join(folder, logFile))
			if !errors.Is(fault, fs.ErrNotExist) { // else the process has ended at once
				err = errors.Join(err, fault)
			}
			for _, found := range injectedLine.FindAllSubmatch(log, -1) {
				delete(missing, string(found[1])+"_"+string(found[2]))
			}
		}
		for build := range missing {
			err = errors.Join(err, fmt.Errorf("the application did not build the program %s this time, so nothing was injected there", build))
		}
		return err
	}, controls...)
}

var injectedLine = regexp.MustCompile(`(?m)^Injecting options file: .*/CLI_([0-9A-F]{8})_\d+_([0-9A-F]{8})_options\.txt$`)

// worthwhile is the gain from which on a configuration is injected: less may be the scatter of times.
const worthwhile = 1.02

// Inject adds to an injection the best configuration that can be injected, after [Answer.Read]; nil: none. The error says why it is not the
// best that is known. All are the launches of the application now. Judged says that a check of its own judges what else changes.
func (a *Answer) Inject(j *Injection, p *problem.Problem, all []Launches, judged bool) (change *Change, first error) {
	launch, err := Read(filepath.Join(a.Path, LaunchFolder))
	if err != nil {
		return nil, err
	}
	if a.Gain < worthwhile {
		return nil, errors.New("no configuration is known that is better by 2 %")
	}
	for _, i := range tune.Rank(p.Objective(), a.Record.Results).Indices {
		r := &a.Record.Results[i]
		if gain, _ := r.GainOver(p.Objective(), a.own); gain < worthwhile || !r.Verified {
			continue
		}
		change, err := a.changeOf(p, r, launch)
		if err == nil {
			err = j.Add(change, all, judged)
		}
		if err == nil {
			return change, first
		}
		if first == nil {
			first = fmt.Errorf("the best configuration, %v, is not injected: %w; change the application to have %v", r.Configuration, err, change)
		}
	}
	return nil, first
}

// changeOf returns what a configuration of a captured launch changes in the application. The error says why that cannot be injected.
func (a *Answer) changeOf(p *problem.Problem, r *tune.Result, launch *Launch) (*Change, error) {
	c := &Change{Launch: launch, Launches: a.Launches}
	old, err := p.Variant(a.own.Configuration, a.Record.Header.Device)
	if err != nil {
		return c, err
	}
	v, err := p.Variant(r.Configuration, a.Record.Header.Device)
	if err != nil {
		return c, err
	}
	names, included := source.Identifiers(launch.Source), source.HasIncludes(launch.Source)
	others := len(old.Options) != len(v.Options) || old.Source != v.Source || !reflect.DeepEqual(old.Settings, v.Settings)
	for i := 0; i < len(v.Options) && !others; i++ {
		define, macro := strings.CutPrefix(v.Options[i], "-D ")
		name, value, _ := strings.Cut(define, "=")
		if _, before, _ := strings.Cut(old.Options[i], "="); macro && value != before && (names[name] || included) {
			c.Macros = append(c.Macros, [3]string{name, before, value})
		}
		others = !macro && v.Options[i] != old.Options[i]
	}
	x, y := old.Launches[0], v.Launches[0]
	if local := y.NDRange.WorkGroup(); !slices.Equal(x.NDRange.WorkGroup(), local) {
		c.Local = local
	}
	switch global := y.NDRange.Global(); {
	case !slices.Equal(global, launch.Global):
		c.Global = global
		return c, fmt.Errorf("its global size is %s, which the host computes", figure.Sizes(global))
	case a.Local != nil && len(y.NDRange.WorkGroup()) == 0:
		return c, errors.New("it needs a local size that the driver chooses, and the application gives one")
	case others:
		return c, errors.New("it needs another source, other options, or settings of the device")
	case !reflect.DeepEqual([]any{x.Scalars, x.LocalBytes, old.Elements, old.Pixels}, []any{y.Scalars, y.LocalBytes, v.Elements, v.Pixels}):
		return c, errors.New("it needs other arguments: values, sizes of buffers, or local memory")
	}
	return c, nil
}

// Against compares two runs of an application, without and with an injection. Kernels that an injection does not change show how much the runs differ anyway.
func (j Injection) Against(before, after *Profile) figure.Table {
	t := figure.Table{
		Title:  before.Program[0] + " without and with injection",
		Head:   []string{"kernel", "global size", "local size", "calls", "ms before", "ms after", "gain"},
		Number: []bool{false, false, false, true, true, true, true},
	}
	row := func(name, global, local, calls string, was, is float64) {
		t.Rows = append(t.Rows, []string{name, global, local, calls, figure.Milliseconds(was / 1e6), figure.Milliseconds(is / 1e6),
			fmt.Sprintf("%.2f×", was/max(1, is))})
	}
	type both struct {
		Launches
		local string // before
		calls [2]int
		cost  [2]float64
	}
	all, order := map[string]*both{}, []string{}
	for i, p := range []*Profile{before, after} {
		for _, l := range p.Launches {
			key := fmt.Sprint(l.Device, l.Kernel, l.Build(), l.Global, l.Offset) // an injected local size changes
			if all[key] == nil {
				all[key] = &both{local: l.LocalText()}
				order = append(order, key)
			}
			b := all[key]
			b.Launches = l
			b.calls[i], b.cost[i] = b.calls[i]+l.Calls, b.cost[i]+l.Cost
		}
	}
	least, most := 1.0, 1.0
	for i, key := range order {
		b := all[key]
		if _, changed := j.Options[b.Build()]; !changed && b.local == b.LocalText() && before.Share(b.cost[0]) > 0.01 && b.calls[0] == b.calls[1] {
			least, most = min(least, b.cost[1]/b.cost[0]), max(most, b.cost[1]/b.cost[0])
		}
		if i < maxRows {
			row(b.Kernel, figure.Sizes(b.Global), b.LocalText(), fmt.Sprint(b.calls[1]), b.cost[0], b.cost[1])
		}
		if b.calls[0] != b.calls[1] {
			t.Notes = append(t.Notes, fmt.Sprintf("NOT THE SAME WORK: %s with the global size %s was launched %d times before, and %d times with injection",
				b.Kernel, figure.Sizes(b.Global), b.calls[0], b.calls[1]))
		}
	}
	if least < 0.9 || most > 1.1 {
		t.Notes = append(t.Notes, fmt.Sprintf("Kernels that are not changed took %.2f to %.2f times as long: the device was not the same, and gains like that mean nothing.",
			least, most))
	}
	row("all kernels", "", "", "", before.Kernels(), after.Kernels())
	row("device", "", "", "", before.Kernels()+float64(before.Transfers), after.Kernels()+float64(after.Transfers))
	row("program", "", "", "", float64(before.Wall), float64(after.Wall))
	return t
}
