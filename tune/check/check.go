// Package check looks for faults of a kernel, in some configurations of its search space: data races, accesses out of bounds, use of memory
// that nothing has written, divergent barriers, misaligned accesses, writes to constant buffers, and outputs that differ from
// launch to launch or with the order of the work-groups.
//
// The simulator Oclgrind sees each access of each work-item, and names its line. It is slow: problems shrink for it (see [Shrinker]). A
// real device runs the problem as it is, between guard zones and on poisoned memory (see package device); it sees only traces of faults in the
// content of buffers, but those of its own compiler and its own hardware too.
//
// A configuration that passes has no fault that shows on this data, at this size. That is no proof.
//
// Each configuration is checked in a child process, which [Main] serves: a crash or a launch without an end costs one configuration, and what was
// found until then is kept.
package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/process"
	"github.com/ndtune/ndtune/tune/space"
)

// Options of [Run]. At least one of Simulator and Device is set.
type Options struct {
	Simulator string                 // the library of [Oclgrind]; "": configurations are not simulated
	Set       map[string]space.Value // constants for the simulation; nil: they shrink by rule

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

// The defaults.
const (
	DefaultLaunches = 4
	DefaultLimit    = time.Minute
)

// SimulatedDevice returns the device that Oclgrind simulates, for the search space of a kernel if no other device is known.
func SimulatedDevice() hardware.Device {
	return hardware.Device{
		Name: "Oclgrind Simulator", Platform: "Oclgrind", Type: "cpu", MaxWorkGroupSize: 4096, MaxWorkItemSizes: []int{4096, 4096, 4096},
		LocalMemory: 1 << 20, GlobalMemory: 1 << 32, ComputeUnits: 1,
	}
}

// A Report is the outcome of a check.
type Report struct {
	Spec     string    `json:"specification,omitempty"`
	Kernel   string    `json:"kernel"`
	Findings []Finding `json:"findings"`
	Runs     []Check   `json:"runs"` // in the order in which they were chosen, those of the simulator before those of a device
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
	n := 0
	for _, f := range r.Findings {
		if !f.Note {
			n++
		}
	}
	return n
}

// Checked returns the number of checks that came to their end.
func (r *Report) Checked() int {
	n := 0
	for _, c := range r.Runs {
		if c.Unchecked == "" {
			n++
		}
	}
	return n
}

// Clean reports whether something was checked and no fault was found.
func (r *Report) Clean() bool { return r.Checked() > 0 && r.Faults() == 0 }

// A checker is the state of Run.
type checker struct {
	Options
	problem  *problem.Problem
	shrinker Shrinker
	folder   string // for logs

	mutex    sync.Mutex
	device   sync.Mutex // one process at a time uses the real device
	grouping grouping
	runs     []*Check // by job; nil: it was not checked
	done     int
}

// A job is the check of a configuration in one of two ways.
type job struct {
	configuration space.Configuration
	simulate      bool
}

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
	k := &checker{Options: o, problem: p, shrinker: Shrinker{p.Definition(), o.Set}, folder: folder}
	var jobs []job
	for _, simulate := range []bool{true, false} {
		if simulate && o.Simulator == "" || !simulate && o.Device == "" {
			continue
		}
		for _, c := range configurations {
			jobs = append(jobs, job{c, simulate})
		}
	}
	limited, cancel := ctx, context.CancelFunc(func() {})
	if o.TimeLimit > 0 {
		limited, cancel = context.WithTimeout(ctx, o.TimeLimit)
	}
	defer cancel()
	err = k.all(limited, jobs)
	r := &Report{Kernel: p.KernelName(), Findings: k.grouping.sorted(), Runs: []Check{}, Chosen: len(configurations), Seconds: time.Since(began).Seconds()}
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

// all does the jobs, some at once.
func (k *checker) all(ctx context.Context, jobs []job) error {
	k.runs = make([]*Check, len(jobs))
	next := make(chan int)
	var group sync.WaitGroup
	errs := make([]error, k.Jobs)
	for n := range k.Jobs {
		group.Go(func() {
			for i := range next {
				if errs[n] == nil {
					errs[n] = k.one(ctx, i, len(jobs), jobs[i])
				}
			}
		})
	}
	for i := range jobs {
		if ctx.Err() != nil {
			break
		}
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
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
	if j.simulate {
		found, of, err = k.simulate(ctx, i, j.configuration, c)
	} else {
		c.Device = k.Identity.Name
		k.device.Lock()
		found, of, err = k.rehearse(ctx, j.configuration, c)
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

// maxThorough is the largest problem size that is simulated thoroughly.
const maxThorough = 128 * 128

// simulate checks a configuration in Oclgrind: thoroughly, or fast if that takes too long.
func (k *checker) simulate(ctx context.Context, i int, c space.Configuration, into *Check) (found []Finding, of size, err error) {
	on := k.Identity
	if k.Device == "" {
		on = SimulatedDevice()
	}
	p, shrunk, err := k.shrinker.Problem(ctx, c, on)
	if err != nil {
		into.Unchecked = err.Error()
		return nil, of, ctx.Err()
	}
	into.Size = shrunk
	t := task{Log: filepath.Join(k.folder, fmt.Sprintf("%d.log", i)), Tolerance: k.tolerance(c, on)}
	if t.Problem, err = p.Encode(); err != nil {
		return nil, of, err
	}
	hasImages := slices.ContainsFunc(p.Arguments(), func(a problem.ArgumentInfo) bool { return a.Kind == problem.ImageArgument })
	limit := k.Limit / 2
	why := ""
	switch {
	case hasImages:
		why = "uninitialised memory: Oclgrind does not know the content of images"
	case cells(p) > maxThorough:
		why = fmt.Sprintf("uninitialised memory: a problem size of more than %d takes too long", maxThorough)
	}
	if why != "" {
		t.Mode, limit = fast, k.Limit
	}
	s, err := k.launch(ctx, t, p, limit, into)
	if err == nil && t.Mode == thorough && len(s.found) == 0 && errors.Is(s.ended, process.ErrLate) {
		why = fmt.Sprintf("uninitialised memory: it takes more than %s", limit)
		t.Mode = fast
		s, err = k.launch(ctx, t, p, limit, into)
	}
	if err != nil {
		return nil, of, err
	}
	if s.done != nil && len(s.found) == 0 { // the order says little beside other faults
		t.Mode = reordered
		var order Check
		again, err := k.launch(ctx, t, p, limit, &order)
		if err != nil {
			return nil, of, err
		}
		s.found = again.found
		into.Skipped = append(into.Skipped, order.Skipped...)
		if again.done == nil {
			if ctx.Err() != nil {
				return nil, of, ctx.Err()
			}
			into.Skipped = append(into.Skipped, "the order of work-groups: "+cmp.Or(order.Unchecked, unfinished("Oclgrind", limit, again.ended, again.fatal)))
		}
	}
	if s.done == nil && into.Unchecked == "" {
		into.Unchecked = unfinished("Oclgrind", k.Limit, s.ended, s.fatal)
	}
	if why != "" && into.Unchecked == "" {
		into.Skipped = append(into.Skipped, why)
	}
	return s.found, s.of, nil
}

// A simulated launch in Oclgrind.
type simulated struct {
	found []Finding
	of    size
	done  *done  // nil: it did not come to its end
	ended error  // of the child; nil: by itself
	fatal string // the error by which Oclgrind gave up
}

// launch runs a task in Oclgrind and reads what it says.
func (k *checker) launch(ctx context.Context, t task, p *problem.Problem, limit time.Duration, into *Check) (s simulated, err error) {
	at, err := runChild(ctx, t, simulator(k.Simulator, t), limit, into)
	if err != nil {
		return s, err
	}
	s.ended = at.ended
	r := reader{problem: p, file: k.File}
	if at.ready != nil {
		r.source, r.addresses, s.of = newSourceText(at.ready.Source), at.ready.Addresses, at.ready.Size
	}
	if s.done = at.done; s.done != nil {
		s.found = k.faults(s.done.Faults, p, "Oclgrind")
	}
	log, err := os.Open(t.Log)
	if errors.Is(err, os.ErrNotExist) { // Oclgrind has nothing to say
		return s, nil
	}
	if err != nil {
		return s, err
	}
	defer os.Remove(t.Log)
	defer log.Close()
	messages, fatal := ReadMessages(log)
	s.fatal = fatal
	for _, m := range messages {
		if m.Kind != "" {
			s.found = append(s.found, r.finding(m))
		}
	}
	return s, nil
}

// tolerance returns the tolerance of the problem for a configuration, or the default one if outputs are not verified.
func (k *checker) tolerance(c space.Configuration, on hardware.Device) problem.Tolerance {
	if v, err := k.problem.Variant(c, on); err == nil && k.problem.Verified() {
		return v.Tolerance
	}
	return problem.Tolerance{Default: true}
}

// unfinished says why a child did not come to its end.
func unfinished(where string, limit time.Duration, ended error, fatal string) string {
	switch {
	case errors.Is(ended, process.ErrLate):
		return fmt.Sprintf("%s did not finish within %s", where, limit)
	case fatal != "":
		return where + " gave up: " + fatal
	case ended != nil:
		return where + " crashed: " + ended.Error()
	}
	return where + " ended early"
}

// rehearse checks a configuration on the real device.
func (k *checker) rehearse(ctx context.Context, c space.Configuration, into *Check) (found []Finding, of size, err error) {
	d := k.problem.Definition()
	d.Metrics, d.Roofline, d.BuildRestrictions, d.Baseline = nil, nil, nil, nil
	d.Objective, d.Measure = problem.Objective{}, problem.Measure{}
	d.Parameters = append([]space.Parameter{}, d.Parameters...)
	for i := range d.Parameters {
		d.Parameters[i].Values = []space.Value{c.At(i)}
	}
	p, _, err := made(ctx, d, nil, k.Identity)
	if err != nil {
		into.Unchecked = err.Error()
		return nil, of, ctx.Err()
	}
	t := task{Device: k.Device, Launches: k.Launches, Tolerance: k.tolerance(c, k.Identity)}
	if t.Problem, err = p.Encode(); err != nil {
		return nil, of, err
	}
	at, err := runChild(ctx, t, nil, k.Limit, into)
	if err != nil {
		return nil, of, err
	}
	if at.ready != nil {
		of = at.ready.Size
	}
	if at.done != nil {
		return k.faults(at.done.Faults, p, k.Identity.Name), of, nil
	}
	crash := ""
	if at.failure != nil && at.failure.Status == tune.Runtime && at.ready != nil {
		crash = "the launch failed: " + at.failure.Reason
	}
	if into.Unchecked == "" {
		into.Unchecked = unfinished(k.Identity.Name, k.Limit, at.ended, "")
		var ended *process.EndedError
		if errors.As(at.ended, &ended) && at.ready != nil {
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
