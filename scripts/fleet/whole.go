//go:build linux

package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/ndtune/ndtune/scripts/harness"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
)

const (
	wholeSize  = 225
	mostAgents = 8
)

// whole searches 225 configurations of the tiled diffusion kernel on this machine, then on fleets, and compares the best
// configurations.
func (p *proof) whole(ctx context.Context) (good bool, err error) {
	if err := p.confine(); err != nil {
		return false, err
	}
	path, err := filepath.Abs(filepath.Join(harness.Root, "kernels/diffusion/diffuse_tiled.yaml"))
	if err != nil {
		return false, err
	}
	alone := filepath.Join(p.folder, "alone.jsonl")
	c := exec.CommandContext(ctx, p.ndtune, append([]string{"tune", path, "--set", "nx=512", "--set", "ny=512", "--log", alone, "-q"}, p.selected()...)...)
	c.Env = append(os.Environ(), "XDG_STATE_HOME="+p.folder, "POCL_CACHE_DIR="+filepath.Join(p.folder, "pocl"))
	if out, err := c.CombinedOutput(); err != nil {
		return false, fmt.Errorf("%w\n%s", err, out)
	}
	here, err := record.Read(alone)
	if err != nil {
		return false, err
	}
	best := tune.Best(here.Header.Objective, here.Results)
	fmt.Printf("on this machine alone: %s\n", best.Configuration)
	again, err := newAgain(path, p.device)
	if err != nil {
		return false, err
	}
	defer again.close()
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "server\tagents\ts\tlost\ttwice\tfailed\thung\tbest\tto the best alone\tscatter\tsame\t")
	good = true
	for _, kind := range []string{separate, cluster} {
		for _, agents := range []int{2, 4, mostAgents} {
			if len(p.only) > 0 && !slices.Contains(p.only, kind) {
				continue
			}
			t, err := p.newTrial(fmt.Sprintf("whole-%s-%d", kind, agents), kind, uint64(agents), path)
			if err != nil {
				return false, err
			}
			began := time.Now()
			found, err := t.wholeSearch(agents)
			took := time.Since(began)
			if ended := t.close(!t.good()); err == nil {
				err = ended
			}
			if err != nil {
				return false, err
			}
			for _, r := range t.remarks {
				fmt.Printf("%s: %s\n", t.folder, r)
			}
			text, ratio, scatter := "", math.NaN(), math.NaN()
			if found != nil {
				if ratio, scatter, err = again.compare(ctx, found.Configuration, best.Configuration); err != nil {
					return false, err
				}
				text = found.Configuration.String()
			}
			same := ratio-1 <= scatter
			good = good && t.good() && same
			fmt.Fprintf(w, "%s\t%d\t%.0f\t%d\t%d\t%d\t%d\t%s\t%.3f\t%.3f\t%v\t\n", kind, agents, took.Seconds(),
				t.counts[lost], t.counts[twice], t.counts[failed], t.counts[hung], strings.ReplaceAll(text, "_size", ""), ratio, scatter, same)
		}
	}
	return good, w.Flush()
}

// confine begins this process again on the cores after those of the agents, if the agents have cores of their own. It is a
// process of its own because the C library of the driver reads the environment of its beginning.
func (p *proof) confine() error {
	const done = "NDTUNE_PROOF_CONFINED"
	if p.cores == 0 || os.Getenv(done) != "" {
		return nil
	}
	me, err := os.Executable()
	if err != nil {
		return err
	}
	command := append(append(p.confined(mostAgents), me), os.Args[1:]...)
	path, err := exec.LookPath(command[0])
	if err != nil {
		return err
	}
	return syscall.Exec(path, command, append(append(os.Environ(), p.threads()...), done+"=1"))
}

// wholeSearch makes a search without a fault.
func (t *trial) wholeSearch(agents int) (best *tune.Result, err error) {
	if err := t.serve(); err != nil {
		return nil, err
	}
	for range agents {
		if err := t.agent(t.ndtune); err != nil {
			return nil, err
		}
	}
	if err := t.awaitAgents(); err != nil {
		return nil, err
	}
	if err := t.begin("--set", "nx=512", "--set", "ny=512"); err != nil {
		return nil, err
	}
	t.judge(wholeSize, func(r *record.Record) error {
		best = tune.Best(r.Header.Objective, r.Results)
		return nil
	})
	return best, nil
}

// An again measures two configurations again in turn, in this process.
type again struct {
	spec      *spec.Spec
	evaluator *device.Evaluator
}

func newAgain(path, selector string) (*again, error) {
	s, err := spec.Load(path, spec.Options{Set: map[string]string{"nx": "512", "ny": "512"}})
	if err != nil {
		return nil, err
	}
	all, err := device.List(s.Problem.Language())
	if err != nil {
		return nil, err
	}
	one, err := device.Select(all, selector)
	if err != nil {
		return nil, err
	}
	e, err := device.Open(one.Device, s.Problem, device.Options{})
	return &again{s, e}, err
}

func (a *again) close() { a.evaluator.Close() }

// compare returns how many times as long a configuration takes as another, by the medians of a hundred rounds in turn, and
// the scatter of these: the larger of the two relative distances between the quartiles.
func (a *again) compare(ctx context.Context, one, other space.Configuration) (ratio, scatter float64, err error) {
	var both []space.Configuration
	for _, c := range []space.Configuration{one, other} {
		values := map[string]space.Value{}
		for i := range c.Len() {
			values[c.Parameters().At(i).Name] = c.At(i)
		}
		mine, err := a.spec.Problem.Parameters().Configure(values)
		if err != nil {
			return 0, 0, err
		}
		both = append(both, mine)
	}
	turns, _, err := tune.RemeasureOnOne(ctx, a.evaluator, both, 101)
	if err != nil {
		return 0, 0, err
	}
	var middle []float64
	for _, both := range turns {
		t := both.Times
		slices.Sort(t)
		if len(t) == 0 {
			return math.Inf(1), 0, nil
		}
		middle = append(middle, t[len(t)/2])
		scatter = max(scatter, (t[3*len(t)/4]-t[len(t)/4])/t[len(t)/2])
	}
	return middle[0] / middle[1], scatter, nil
}
