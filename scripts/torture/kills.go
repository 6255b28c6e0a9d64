//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/ndtune/ndtune/scripts/harness"
)

// The kernel of the trials: every configuration is another program, which takes the compiler about a tenth of a second.
// The statements are for the stand-in driver of tests, here as for hostile kernels.
const (
	source = `// standin: spin is fill(out, tag); build waits 100
kernel void spin(global float *out, global const float *a)
{
    const int i = get_global_id(0);
    float x = a[i];
    for (int k = 0; k < rounds * 1000; k++)
        x = x * 0.9999f + 0.0001f;
    out[i] = x + tag;
}
`
	specification = `kernel: {name: spin, file: spin.cl}
constants: {n: 256}
problem_size: n
arguments:
  - {name: out, type: float32, size: n, output: true}
  - {name: a,   type: float32, size: n, fill: random}
parameters:
  block_size_x: [64]
  rounds: [1, 2]
  tag: [0, 1, 2, 3]
verify: {spec: spin.yaml, parameters: {block_size_x: 64, rounds: 1, tag: 0}, atol: 10}
`
	configurations = 8
)

// spin has the files of the trials.
var spin = map[string]string{"spin.cl": source, "spin.yaml": specification}

// The victims of a kill.
var victims = []string{"search", "worker", "compiler", "everything"}

// Kills are done in trials. A trial is one search with a log, which is begun again after each kill until it comes to its end.
func (t *torture) kills(ctx context.Context, wanted int) error {
	t.count(unharmed, 0)
	for _, v := range victims {
		t.count(killOf+v, 0)
	}
	done := func() (n int) {
		for _, v := range victims {
			n += t.Of(killOf+v, tried)
		}
		return n
	}
	began := time.Now()
	var mutex sync.Mutex
	var usual time.Duration // of a search without kills, while all lanes are busy: the mean of the lanes
	if err := harness.Lanes(t.lanes, func(lane int) error {
		alone := time.Now()
		err := t.trial(ctx, fmt.Sprintf("unharmed%d", lane), nil, 0)
		mutex.Lock()
		defer mutex.Unlock()
		usual += time.Since(alone) / time.Duration(t.lanes)
		return err
	}); err != nil {
		return err
	}
	if t.Of(unharmed, survived) < t.Of(unharmed, tried) && ctx.Err() == nil {
		return errors.New("searches without kills went wrong: nobody is killed")
	}
	fmt.Printf("a search without kills takes %.1f s, with %d at a time\n", usual.Seconds(), t.lanes)
	begun := 0
	err := harness.Lanes(t.lanes, func(int) error {
		for ctx.Err() == nil && done() < wanted {
			mutex.Lock()
			begun++
			n := begun
			mutex.Unlock()
			if err := t.trial(ctx, fmt.Sprintf("trial%d", n), rand.New(rand.NewPCG(t.seed, uint64(n))), usual); err != nil {
				return err
			}
			if n%10 == 0 {
				fmt.Fprintf(os.Stderr, "%d kills in %d trials, %s\n", done(), n, time.Since(began).Round(time.Second))
			}
		}
		return nil
	})
	if n := done(); err == nil && n < wanted {
		err = fmt.Errorf("%d of %d kills in %s", n, wanted, time.Since(began).Round(time.Second))
	}
	return err
}

// The rows of the table.
const (
	unharmed = "searches to their end"
	killOf   = "kill of "
)

// trial runs one search, with kills at random moments of the usual time; with none if random is nil. When the context ends, the trial is cut
// short: what it has done is checked all the same.
func (t *torture) trial(ctx context.Context, name string, random *rand.Rand, usual time.Duration) error {
	s, err := t.subject(name, unharmed, spin)
	if err != nil {
		return err
	}
	kills := 0
	if random != nil {
		kills = random.IntN(6)
	}
	for ; ; kills-- {
		r, err := s.start(nil)
		if err != nil {
			return err
		}
		var moment <-chan time.Time
		if kills > 0 {
			moment = time.After(time.Duration(random.Float64() * float64(usual)))
		}
		failure := s.end(ctx, r, moment, func() {
			if v := victims[random.IntN(len(victims))]; kill(r, v, random) {
				t.count(killOf+v, 1)
				s.harmed = t.harmer(killOf+v, name) // a harm counts against the latest kill
			}
		})
		if err := s.compare(s.log, correct); err != nil {
			return err
		}
		if failure == nil {
			break
		}
		if ctx.Err() != nil {
			return s.close(ctx)
		}
		if w, ok := r.ProcessState.Sys().(syscall.WaitStatus); !ok || !w.Signaled() {
			s.wrong(failed, r.Output())
			break
		}
	}
	t.count(unharmed, 1)
	if len(s.known) != configurations && s.good {
		s.wrong(lost, fmt.Sprintf("%d of %d results", len(s.known), configurations))
	}
	return s.close(ctx)
}

// kill kills a victim with all its threads. It is false if there is none.
func kill(r *harness.Program, victim string, random *rand.Rand) bool {
	search := r.Process.Pid
	var candidates []int
	for _, pid := range r.Family() {
		name, parent := nameOf(pid)
		switch victim {
		case "search":
			if pid == search {
				candidates = append(candidates, pid)
			}
		case "worker":
			if parent == search {
				candidates = append(candidates, pid)
			}
		case "compiler":
			if pid != search && name != "ndtune" {
				candidates = append(candidates, pid)
			}
		default:
			candidates = append(candidates, pid)
		}
	}
	if len(candidates) == 0 {
		return false
	}
	if victim != "everything" {
		candidates = []int{candidates[random.IntN(len(candidates))]}
	}
	hit := false
	for _, pid := range candidates { // of which some may just have ended
		hit = syscall.Kill(pid, syscall.SIGKILL) == nil || hit
	}
	return hit
}
