// Package check looks for faults of a kernel, in some configurations of its search space: data races, accesses out of bounds, use of
// memory that nothing has written, divergent barriers, misaligned accesses, writes to constant buffers, and outputs that differ from
// launch to launch or with the order of the work-groups.
//
// Its types: a [Check] makes a [Report], which has a [Finding] for each fault.
//
// The simulator Oclgrind sees each access of each work-item, and names its line. It is slow: constants can have other values
// there (see [Options]). NVIDIA's compute-sanitizer does so for CUDA C, on the device. A real device runs the problem as it is, between guard zones and on poisoned memory (see package device); it
// sees only traces of faults in the content of buffers, but those of its own compiler and its own hardware too.
//
// A configuration that passes has no fault that shows on this data, at this size. That is no proof.
//
// Each configuration is checked in a child process, which [Main] serves: a crash or a launch without an end costs one configuration, and
// the parent keeps what was found until then.
//
// # Reasons
//
// Each configuration is checked in a process of its own: Oclgrind takes its options from the environment, keeps state by thread, crashes
// now and then, and never forgets a message. The child gives its answers through a pipe of its own (see package process), since a
// simulated kernel may print, and what it has said is read even if it crashes.
//
// Addresses in Oclgrind's messages become arguments and indices by a small kernel, which writes the address of each buffer before the
// launch. The order of work-groups is changed in the source, where a prologue reverses the ids, since no driver has a switch for it.
package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/process"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
)

// Options of [Run]. At least one of Simulator and Device is set.
type Options struct {
	Simulator string                 // the library of [Oclgrind]; "": configurations are not simulated
	Sanitizer string                 // the program of [Sanitizer], which works on Device; "": it is not used
	Set       map[string]space.Value // constants that have other values in both

	// File is the name of the file of the kernel's source, for lines that are in no other file; "": input.cl.
	File string

	Device   string          // selector of a real device on which configurations are launched too; ""
	Identity hardware.Device // of this device
	Launches int             // on the same data on the real device; 0: DefaultLaunches

	Jobs      int           // processes at once; 0: 1
	Limit     time.Duration // for each configuration; 0: DefaultLimit
	TimeLimit time.Duration // for all; 0: none

	// Progress is called after each configuration, one call at a time; nil: nobody is told.
	Progress func(done, all, findings int)
}

// Watch finds the program that watches kernels in a language: Oclgrind, or compute-sanitizer. The error says how to get it.
func (o *Options) Watch(l source.Language) (err error) {
	if l == source.CUDA {
		o.Sanitizer, err = Sanitizer()
	} else {
		o.Simulator, err = Oclgrind()
	}
	return err
}

// The defaults.
const (
	DefaultLaunches = 4
	DefaultLimit    = time.Minute
)

// A Report is the outcome of a check.
type Report struct {
	Spec     string    `json:"specification,omitempty"`
	Kernel   string    `json:"kernel"`
	Findings []Finding `json:"findings"`
	Runs     []Check   `json:"runs"` // in the order in which they were chosen, those of the simulator or the sanitizer before those of a device
	Chosen   int       `json:"configurations"`
	Pairs    int       `json:"pairs,omitempty"`   // of values that the configurations cover
	Stopped  string    `json:"stopped,omitempty"` // why not all were checked
	Seconds  float64   `json:"seconds"`
}

// A Check is that of one configuration on the simulator or a device.
type Check struct {
	Configuration string   `json:"configuration"`
	Device        string   `json:"device"`
	Size          string   `json:"size,omitempty"` // the constants that have other values than in the specification
	Seconds       float64  `json:"seconds"`
	Findings      int      `json:"findings"`            // notes not counted
	Skipped       []string `json:"skipped,omitempty"`   // what was not looked for, and why
	Unchecked     string   `json:"unchecked,omitempty"` // why the configuration was not checked, or not to its end
}

// Faults returns the number of findings that are no notes.
func (r *Report) Faults() int {
	return each.Count(r.Findings, func(f Finding) bool { return !f.Note })
}

// Checked returns the number of checks that came to their end.
func (r *Report) Checked() int {
	return each.Count(r.Runs, func(c Check) bool { return c.Unchecked == "" })
}

// Clean reports whether something was checked and no fault was found.
func (r *Report) Clean() bool { return r.Checked() > 0 && r.Faults() == 0 }

// A checker is the state of Run.
type checker struct {
	Options
	problem *problem.Problem
	folder  string // for logs

	mutex    sync.Mutex
	device   sync.Mutex // one process at a time uses the real device
	grouping grouping
	runs     []*Check // by job; nil: it was not checked
	done     int
}

// A job is the check of a configuration in one way.
type job struct {
	configuration space.Configuration
	way           way
}

// A way is one to check a configuration.
type way int

const (
	simulated way = iota // in Oclgrind
	sanitized            // under compute-sanitizer
	rehearsed            // on a device
)

// Run checks configurations of a problem. If the context ends, it returns what was found until then. The error says that nothing can be
// checked at all.
func Run(ctx context.Context, p *problem.Problem, configurations []space.Configuration, o Options) (*Report, error) {
	began := time.Now()
	if _, err := p.Portable(); err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "ndtune-check-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	o.Launches, o.Limit, o.Jobs = cmp.Or(o.Launches, DefaultLaunches), cmp.Or(o.Limit, DefaultLimit), max(1, o.Jobs)
	k := &checker{Options: o, problem: p, folder: folder}
	var jobs []job
	for w, wanted := range []bool{simulated: o.Simulator != "", sanitized: o.Sanitizer != "", rehearsed: o.Device != ""} {
		for _, c := range configurations {
			if wanted {
				jobs = append(jobs, job{c, way(w)})
			}
		}
	}
	limited, cancel := ctx, context.CancelFunc(func() {})
	if o.TimeLimit > 0 {
		limited, cancel = context.WithTimeout(ctx, o.TimeLimit)
	}
	defer cancel()
	err = k.all(limited, jobs)
	r := &Report{
		Kernel: p.KernelName(), Findings: k.grouping.sorted(), Runs: []Check{}, Chosen: len(configurations), Seconds: time.Since(began).Seconds(),
	}
	for _, c := range k.runs {
		if c != nil {
			r.Runs = append(r.Runs, *c)
		}
	}
	switch {
	case ctx.Err() != nil:
		r.Stopped, err = "interrupted", nil
	case limited.Err() != nil:
		r.Stopped, err = fmt.Sprintf("the time limit of %s", o.TimeLimit), nil
	}
	return r, err
}

// all does the jobs, some at once, until the context ends.
func (k *checker) all(ctx context.Context, jobs []job) error {
	k.runs = make([]*Check, len(jobs))
	var begun atomic.Int64
	var group sync.WaitGroup
	errs := make([]error, k.Jobs)
	for n := range errs {
		group.Go(func() {
			for errs[n] == nil && ctx.Err() == nil {
				i := int(begun.Add(1)) - 1
				if i >= len(jobs) {
					return
				}
				errs[n] = k.one(ctx, i, len(jobs), jobs[i])
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// one does a job, and keeps what it finds even if it does not come to its end.
func (k *checker) one(ctx context.Context, i, all int, j job) error {
	began := time.Now()
	c := &Check{Configuration: j.configuration.String(), Device: "Oclgrind"}
	var found []Finding
	var of size
	var err error
	if j.way == simulated {
		found, of, err = k.simulate(ctx, i, j.configuration, c)
	} else {
		check := k.rehearse
		if c.Device = k.Identity.Name; j.way == sanitized {
			check, c.Device = k.sanitize, sanitizer
		}
		k.device.Lock()
		found, of, err = check(ctx, j.configuration, c)
		k.device.Unlock()
	}
	c.Seconds = time.Since(began).Seconds()
	interrupted := ctx.Err() != nil && (err != nil || c.Unchecked != "")
	if err != nil && !interrupted {
		return err
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	causes := map[string]bool{}
	for _, f := range found {
		k.grouping.add(f, c.Configuration, of)
		if !f.Note {
			causes[f.cause()] = true
		}
	}
	c.Findings = len(causes)
	if interrupted && len(found) == 0 {
		return nil
	}
	if interrupted {
		c.Unchecked = "interrupted"
	}
	k.runs[i] = c
	k.done++
	if k.Progress != nil {
		k.Progress(k.done, all, len(k.grouping.all))
	}
	return nil
}

// rehearse checks a configuration on the real device.
func (k *checker) rehearse(ctx context.Context, c space.Configuration, into *Check) (found []Finding, of size, err error) {
	p, _, err := made(ctx, narrowed(k.problem.Definition(), c), nil, k.Identity)
	if err != nil {
		into.Unchecked = err.Error()
		return nil, of, ctx.Err()
	}
	t := work{Device: k.Device, Launches: k.Launches, Tolerance: k.tolerance(c, k.Identity)}
	if t.Problem, err = p.Encode(); err != nil {
		return nil, of, err
	}
	at, err := runChild(ctx, t, nil, k.Limit, into)
	if err != nil {
		return nil, of, err
	}
	of = at.size()
	if at.Done != nil {
		return k.faults(at.Done.Faults, p, k.Identity.Name), of, nil
	}
	crash := ""
	if at.Failure != nil && at.Failure.Status == tune.Runtime && at.Ready != nil {
		crash = "the launch failed: " + at.Failure.Reason
	}
	if into.Unchecked == "" {
		into.Unchecked = unfinished(k.Identity.Name, k.Limit, at.ended, "")
		if ended, is := errors.AsType[*process.EndedError](at.ended); is && at.Ready != nil {
			crash = "the launch ended the process " + ended.End.Explain("")
		}
	}
	if crash != "" {
		found = append(found, Finding{Kind: Crash, Kernel: p.KernelName(), Text: crash, Device: k.Identity.Name})
	}
	return found, of, nil
}

// faults are the findings of a child that saw them in the content of buffers.
func (k *checker) faults(all []fault, p *problem.Problem, where string) (found []Finding) {
	for _, f := range all {
		finding := Finding{Kind: f.Kind, Note: f.Note, Kernel: p.KernelName(), Text: f.Text, Device: where}
		if f.Argument >= 0 {
			finding.Argument, finding.Index = p.Arguments()[f.Argument].Name, &f.Index
		}
		found = append(found, finding)
	}
	return found
}

// narrowed returns a definition with one configuration, without what only a search needs.
func narrowed(d definition.Definition, c space.Configuration) definition.Definition {
	d.Metrics, d.Roofline, d.BuildRestrictions, d.Baseline = nil, nil, nil, nil
	d.Objective, d.Measure = score.Objective{}, definition.Measure{}
	d.Parameters = slices.Clone(d.Parameters)
	for i := range d.Parameters {
		d.Parameters[i].Values = []space.Value{c.At(i)}
	}
	return d
}

// made returns the problem of a definition with other values of constants. It must have its configuration.
func made(ctx context.Context, d definition.Definition, set map[string]space.Value, on hardware.Device) (*problem.Problem, string, error) {
	var changed []string
	d.Constants = slices.Clone(d.Constants)
	for i, c := range d.Constants {
		if value, given := set[c.Name]; given && !space.SameValue(value, c.Value) {
			var err error
			if d.Constants[i], err = c.With(value); err != nil {
				return nil, "", err
			}
			changed = append(changed, c.Name+"="+space.FormatValue(value))
		}
	}
	p, err := problem.New(d)
	if err != nil {
		return nil, "", err
	}
	all, err := p.Space(ctx, on)
	if err != nil {
		return nil, "", err
	}
	if _, err := p.Variant(all.At(0), on); err != nil {
		return nil, "", err
	}
	return p, strings.Join(changed, ", "), nil
}

// cells returns the product of the problem size, or 0 if it is not fixed.
func cells(p *problem.Problem) int {
	size := p.FixedProblemSize()
	if size == nil {
		return 0
	}
	n := 1
	for _, side := range size {
		n *= side
	}
	return n
}

// SizeOf returns a function that says how large a configuration is, to compare configurations: by the work-items of a work-group,
// and by the part of the problem that a work-group takes.
func SizeOf(p *problem.Problem, d hardware.Device) func(space.Configuration) int {
	all := cells(p)
	return func(c space.Configuration) int {
		launches, err := p.Launches(c, d)
		if err != nil {
			return 0
		}
		most := 0
		for _, l := range launches {
			groups := l.NDRange.Grid[0] * l.NDRange.Grid[1] * l.NDRange.Grid[2]
			most = max(most, l.NDRange.WorkItems()+all/groups)
		}
		return most
	}
}
