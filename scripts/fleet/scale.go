//go:build linux

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/ndtune/ndtune/scripts/harness"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/fleet"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/loop"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/worker"
)

// defaultRecorded is a recorded space of 4362 configurations.
const defaultRecorded = harness.Root + "/tune/record/testdata/convolution_A100.json.gz"

const (
	agentsInOne  = 125 // process
	scaleMachine = "recorded"
)

// recordedDevice is the device of a recorded space.
var recordedDevice = hardware.Device{Name: "recorded", Vendor: "V", Platform: "P", Driver: "1", Type: "gpu", Version: "OpenCL 3.0", ComputeUnits: 1}

// scale measures a fleet of agents with recorded spaces, whose evaluations take no time; with a strategy, they are paced, and each
// device gets so many that it works for some ten seconds.
func (p *proof) scale(ctx context.Context, path string, numbers []int, strategy string) error {
	if path == "" {
		path = defaultRecorded
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "agents\tconfigurations\ts\tper second\tsearch MiB\tserver MiB\tagents MiB\tsearch CPU s\tserver CPU s\tagents CPU s\t")
	for _, n := range numbers {
		if len(p.only) > 0 && !slices.Contains(p.only, strconv.Itoa(n)) {
			continue
		}
		if err := p.scaleTo(ctx, path, n, strategy, w); err != nil {
			return err
		}
		w.Flush()
	}
	return nil
}

func (p *proof) scaleTo(ctx context.Context, path string, n int, strategy string, w *tabwriter.Writer) error {
	t, err := p.newTrial(fmt.Sprintf("scale-%s%d", strategy, n), separate, 0, "")
	if err != nil {
		return err
	}
	defer t.close(true)
	if err := t.serve(); err != nil {
		return err
	}
	me, err := os.Executable()
	if err != nil {
		return err
	}
	total, pace := p.total, "fast"
	if strategy != "" {
		total, pace = min(4000, n*pacedBuilders*30), "paced"
	}
	for left := n; left > 0; left -= agentsInOne {
		a, err := harness.Launch(t.folder, fmt.Sprintf("agents%d", left), nil, me, "host-agents", t.url(nil), path, strconv.Itoa(min(left, agentsInOne)), pace)
		if err != nil {
			return err
		}
		t.agents = append(t.agents, a)
	}
	c, err := fleet.Connect(ctx, t.url(nil), "scale", nil)
	if err != nil {
		return err
	}
	defer c.Close()
	for {
		all, err := c.Devices(ctx)
		if err == nil && len(all) >= n {
			break
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		time.Sleep(200 * time.Millisecond)
	}
	var out bytes.Buffer
	search := exec.CommandContext(ctx, me, "host-search", t.url(nil), path, strconv.Itoa(total), strategy)
	search.Stdout, search.Stderr = &out, os.Stderr
	if err := search.Run(); err != nil {
		return err
	}
	var o scaleOutcome
	if err := json.Unmarshal(out.Bytes(), &o); err != nil {
		return err
	}
	server := use(t.servers[0].Process.Pid)
	var agents usage
	for _, a := range t.agents {
		u := use(a.Process.Pid)
		agents.memory += u.memory
		agents.seconds += u.seconds
	}
	fmt.Fprintf(w, "%d\t%d\t%.1f\t%.0f\t%.0f\t%.0f\t%.0f\t%.1f\t%.1f\t%.1f\t\n", n, o.Configurations, o.Seconds, float64(o.Configurations)/o.Seconds,
		o.Memory, server.memory, agents.memory, o.CPU, server.seconds, agents.seconds)
	return nil
}

// usage is the largest resident memory of a process in MiB, and its CPU time.
type usage struct{ memory, seconds float64 }

func use(process int) (u usage) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", process))
	for line := range strings.Lines(string(status)) {
		var kib float64
		if _, err := fmt.Sscanf(line, "VmHWM: %f kB", &kib); err == nil {
			u.memory = kib / 1024
		}
	}
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	if _, fields, ok := strings.Cut(string(stat), ") "); ok {
		if f := strings.Fields(fields); len(f) > 12 {
			for _, ticks := range f[11:13] { // hundredths of seconds in user mode and in the kernel
				n, _ := strconv.ParseFloat(ticks, 64)
				u.seconds += n / 100
			}
		}
	}
	return u
}

// A recorded evaluator has the results of a recorded space. If it is paced, it takes the time that a pool with some builders takes.
type recorded struct {
	results map[string]tune.Result
	paced   bool
}

const (
	pacedBuilders = 4 // of a device
	pacedBuild    = 300 * time.Millisecond
	pacedLaunches = 20 * time.Millisecond
)

func (r *recorded) Device() hardware.Device { return recordedDevice }
func (r *recorded) Close()                  {}

func (r *recorded) Capacity() int {
	if r.paced {
		return 2 * pacedBuilders // another one waits for each
	}
	return 2
}

func (r *recorded) Evaluate(ctx context.Context, in <-chan space.Configuration, out chan<- tune.Result) error {
	if r.paced {
		return r.pacedly(ctx, in, out)
	}
	return tune.EvaluateEach(ctx, in, out, func(c space.Configuration) (tune.Result, error) {
		result := r.results[c.Key()]
		result.Configuration = c
		return result, nil
	})
}

func (r *recorded) pacedly(ctx context.Context, in <-chan space.Configuration, out chan<- tune.Result) error {
	var card sync.Mutex
	var all sync.WaitGroup
	for range pacedBuilders {
		all.Go(func() {
			for c := range in {
				time.Sleep(pacedBuild)
				card.Lock()
				time.Sleep(pacedLaunches)
				card.Unlock()
				result := r.results[c.Key()]
				result.Configuration = c
				select {
				case out <- result:
				case <-ctx.Done():
					return
				}
			}
		})
	}
	all.Wait()
	return ctx.Err()
}

func (r *recorded) Cards(context.Context) ([]string, error) { return []string{""}, nil }

func (r *recorded) Observe(tune.Result) {}

func (r *recorded) Probe(ctx context.Context, c space.Configuration, _ tune.Retest) (tune.Result, error) {
	return tune.EvaluateOne(ctx, r, c)
}

func (r *recorded) Remeasure(_ context.Context, _ string, all []space.Configuration, _ int, _ bool) (turns []tune.Turns, err error) {
	for _, c := range all {
		turns = append(turns, tune.Turns{Times: r.results[c.Key()].Times})
	}
	return turns, nil
}

func readRecorded(path string) (*record.Record, *recorded, error) {
	r, err := record.Read(path)
	if err != nil {
		return nil, nil, err
	}
	e := &recorded{results: map[string]tune.Result{}}
	for _, result := range r.Results {
		e.results[result.Configuration.Key()] = result
	}
	return r, e, nil
}

// hostAgents runs agents until it is interrupted.
func hostAgents(ctx context.Context, url, path string, n int, paced bool) error {
	_, e, err := readRecorded(path)
	if err != nil {
		return err
	}
	e.paced = paced
	var all sync.WaitGroup
	for i := range n {
		c, err := fleet.Connect(ctx, url, "agent", nil)
		if err != nil {
			return err
		}
		defer c.Close()
		a := &fleet.Agent{Machine: scaleMachine, Tool: "proof", Devices: []fleet.Device{{
			Selector: fmt.Sprintf("%d:%d", os.Getpid(), i), Identity: recordedDevice,
			Open: func(context.Context, *problem.Problem, worker.Options) (fleet.Opened, error) { return e, nil },
		}}}
		all.Go(func() { _ = a.Run(ctx, c) })
	}
	all.Wait()
	return nil
}

type scaleOutcome struct {
	Configurations       int
	Seconds, Memory, CPU float64
}

// hostSearch searches the recorded space again and again, or so many of it by a strategy, and prints the outcome.
func hostSearch(ctx context.Context, url, path string, total int, strategy string) error {
	r, _, err := readRecorded(path)
	if err != nil {
		return err
	}
	p, err := problem.New(definition.Definition{Kernel: definition.Kernel{Name: r.Header.Kernel, Source: " "}, ProblemSize: []definition.Expr{"1"}, Parameters: r.Header.Parameters})
	if err != nil {
		return err
	}
	s, err := r.Space(ctx)
	if err != nil {
		return err
	}
	c, err := fleet.Connect(ctx, url, "search", nil)
	if err != nil {
		return err
	}
	defer c.Close()
	e, err := fleet.Open(ctx, c, p, recordedDevice, fleet.Options{Note: func(text string) { fmt.Fprintln(os.Stderr, text) }})
	if err != nil {
		return err
	}
	defer e.Close()
	var all scaleOutcome
	began := time.Now()
	for all.Configurations < total {
		o := loop.Options{Space: s, Finalists: -1}
		if strategy != "" {
			o.MaxEvaluations = total
			o.Strategy = func(s *space.Space) (search.Strategy, error) {
				return search.New(strategy, s, search.Options{Seed: 1, Budget: total})
			}
		}
		outcome, err := loop.Run(ctx, p, e, o)
		if err != nil {
			return err
		}
		seen := map[string]bool{}
		for _, result := range outcome.Results {
			seen[result.Configuration.Key()] = true
		}
		if want := min(s.Len(), cmp.Or(o.MaxEvaluations, s.Len())); len(seen) != want || len(outcome.Results) != want {
			return fmt.Errorf("%d results of %d configurations; want %d (%s)", len(outcome.Results), len(seen), want, outcome.Stop)
		}
		all.Configurations += len(seen)
	}
	all.Seconds = time.Since(began).Seconds()
	u := use(os.Getpid())
	all.Memory, all.CPU = u.memory, u.seconds
	return json.NewEncoder(os.Stdout).Encode(all)
}
