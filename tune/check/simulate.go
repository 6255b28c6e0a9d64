package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/process"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
)

// SimulatedDevice returns the device that Oclgrind simulates, for the search space of a kernel if no other device is known.
func SimulatedDevice() hardware.Device {
	return hardware.Device{
		Name: "Oclgrind Simulator", Platform: "Oclgrind", Type: "cpu", MaxWorkGroupSize: 4096, MaxWorkItemSizes: []int{4096, 4096, 4096},
		LocalMemory: 1 << 20, GlobalMemory: 1 << 32, ComputeUnits: 1,
	}
}

// maxThorough is the largest problem size that is simulated thoroughly.
const maxThorough = 128 * 128

// smallerSize says what to do if a simulation takes too long.
const smallerSize = "--set spec.check.set.NAME=VALUE simulates a smaller size"

// Hint returns a hint if the simulation of a problem may take long, and no constant has another value in it; otherwise "".
func (o *Options) Hint(p *problem.Problem) string {
	if n := cells(p); o.Simulator != "" && o.Set == nil && n > maxThorough {
		return fmt.Sprintf("Oclgrind is slow, and the problem size is %d: %s (docs/check.md)", n, smallerSize)
	}
	return ""
}

// simulate checks a configuration in Oclgrind: thoroughly, or fast if that takes too long.
func (k *checker) simulate(ctx context.Context, i int, c space.Configuration, into *Check) (found []Finding, of size, err error) {
	on := k.Identity
	if k.Device == "" {
		on = SimulatedDevice()
	}
	narrow := narrowed(k.problem.Definition(), c)
	narrow.Verify = nil
	p, changed, err := made(ctx, narrow, k.Set, on)
	if err != nil {
		into.Unchecked = err.Error()
		return nil, of, ctx.Err()
	}
	into.Size = changed
	t := work{Log: filepath.Join(k.folder, fmt.Sprintf("%d.log", i)), Tolerance: k.tolerance(c, on)}
	if t.Problem, err = p.Encode(); err != nil {
		return nil, of, err
	}
	hasImages := slices.ContainsFunc(p.Arguments(), func(a problem.Argument) bool { return a.Kind == definition.ImageArgument })
	limit := k.Limit / 2
	why := ""
	switch {
	case hasImages:
		why = "uninitialised memory: Oclgrind does not know the content of images"
	case cells(p) > maxThorough:
		why = fmt.Sprintf("uninitialised memory: a problem size of more than %d takes too long; %s", maxThorough, smallerSize)
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
	if s.Done != nil && len(s.found) == 0 { // the order says little beside other faults
		t.Mode = reordered
		var order Check
		again, err := k.launch(ctx, t, p, limit, &order)
		if err != nil {
			return nil, of, err
		}
		s.found = again.found
		into.Skipped = append(into.Skipped, order.Skipped...)
		if again.Done == nil {
			if ctx.Err() != nil {
				return nil, of, ctx.Err()
			}
			reason := cmp.Or(order.Unchecked, unfinished("Oclgrind", limit, again.ended, again.fatal))
			into.Skipped = append(into.Skipped, "the order of work-groups: "+reason)
		}
	}
	if s.Done == nil && into.Unchecked == "" {
		into.Unchecked = unfinished("Oclgrind", k.Limit, s.ended, s.fatal)
		if errors.Is(s.ended, process.ErrLate) {
			into.Unchecked += "; " + smallerSize
		}
	}
	if why != "" && into.Unchecked == "" {
		into.Skipped = append(into.Skipped, why)
	}
	return s.found, s.size(), nil
}

// An observed launch is one in Oclgrind or under compute-sanitizer.
type observed struct {
	said
	found []Finding
	fatal string // the error by which the tool gave up
}

// launch has work done in Oclgrind, and reads what it says.
func (k *checker) launch(ctx context.Context, t work, p *problem.Problem, limit time.Duration, into *Check) (s observed, err error) {
	if s.said, err = runChild(ctx, t, simulator(k.Simulator, t), limit, into); err != nil {
		return s, err
	}
	r := reader{problem: p, file: k.File}
	if s.Ready != nil {
		r.lines, r.addresses = source.Lined(s.Ready.Source), s.Ready.Addresses
	}
	if s.Done != nil {
		s.found = k.faults(s.Done.Faults, p, "Oclgrind")
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
	messages, fatal := readMessages(log)
	s.fatal = fatal
	for _, m := range messages {
		if m.Kind != "" {
			s.found = append(s.found, r.finding(m))
		}
	}
	return s, nil
}

// tolerance returns the tolerance of the problem for a configuration, or the default one if outputs are not verified.
func (k *checker) tolerance(c space.Configuration, on hardware.Device) score.Tolerance {
	if v, err := k.problem.Variant(c, on); err == nil && k.problem.Verified() {
		return v.Tolerance
	}
	return score.Tolerance{Default: true}
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

// simulator returns the environment of a child that works in Oclgrind.
func simulator(library string, t work) []string {
	env := []string{cl.LibraryVariable + "=" + library, "OCLGRIND_NUM_THREADS=1"}
	switch t.Mode {
	case reordered:
		return append(env, oclgrindLimits...)
	case thorough:
		env = append(env, "OCLGRIND_UNINITIALIZED=1", "OCLGRIND_BUILD_OPTIONS=-cl-opt-disable")
	}
	return append(env, OclgrindEnvironment(t.Log)...)
}
