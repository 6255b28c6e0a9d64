//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ndtune/ndtune/tune/record"
)

// The kernel of the trials: every configuration is another program, which takes the compiler about a tenth of a second.
const (
	source = `kernel void spin(global float *out, global const float *a)
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

// The victims of a kill.
var victims = []string{"search", "worker", "compiler", "everything"}

// Kills are done in trials. A trial is one search with a log, which is begun again after each kill until it comes to its end.
func (t *torture) kills(ctx context.Context, wanted int) error {
	t.in(unharmed, func(*row) {})
	for _, v := range victims {
		t.in("kill of "+v, func(*row) {})
	}
	done := func() (n int) {
		for _, v := range victims {
			t.in("kill of "+v, func(r *row) { n += r.tried })
		}
		return n
	}
	began := time.Now()
	var mutex sync.Mutex
	var usual time.Duration // of a search without kills, while all lanes are busy: the mean of the lanes
	if err := t.inLanes(func(lane int) error {
		alone := time.Now()
		err := t.trial(ctx, fmt.Sprintf("unharmed%d", lane), nil, 0)
		mutex.Lock()
		defer mutex.Unlock()
		usual += time.Since(alone) / time.Duration(t.lanes)
		return err
	}); err != nil {
		return err
	}
	fmt.Printf("a search without kills takes %.1f s, with %d at a time\n", usual.Seconds(), t.lanes)
	begun := 0
	err := t.inLanes(func(int) error {
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

const unharmed = "searches to their end"

// trial runs one search, with kills at random moments of the usual time; with none if random is nil. When the context ends, the trial is cut
// short: what it has done is checked all the same.
func (t *torture) trial(ctx context.Context, name string, random *rand.Rand, usual time.Duration) error {
	folder := filepath.Join(t.folder, name)
	temporary, log := filepath.Join(folder, "tmp"), filepath.Join(folder, "log.jsonl")
	if err := os.MkdirAll(temporary, 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{"spin.cl": source, "spin.yaml": specification} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	mark := fmt.Sprintf("NDTUNE_TORTURE=%d-%s", os.Getpid(), name)
	good := true
	// A harm counts against the latest kill.
	harmed := t.harmer(unharmed, name)
	wrong := func(what harm, detail string) {
		harmed(what, detail)
		good = false
	}
	known := map[string]string{} // results by configuration
	kills := 0
	if random != nil {
		kills = random.IntN(6)
	}
	for ; ; kills-- {
		arguments := []string{"tune", filepath.Join(folder, "spin.yaml"), "--log", log, "-q", "--no-peak", "--workers", "2"}
		if t.device != "" {
			arguments = append(arguments, "--device", t.device)
		}
		var output bytes.Buffer
		search := exec.Command(t.ndtune(), arguments...)
		search.Stdout, search.Stderr = &output, &output
		search.Env = append(os.Environ(), mark, "TMPDIR="+temporary, "XDG_STATE_HOME="+folder, "XDG_CACHE_HOME="+folder, "POCL_CACHE_DIR="+filepath.Join(folder, "pocl"))
		search.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := search.Start(); err != nil {
			return err
		}
		done := make(chan error, 1)
		go func() { done <- search.Wait() }()
		var moment <-chan time.Time
		if kills > 0 {
			moment = time.After(time.Duration(random.Float64() * float64(usual)))
		}
		var err error
		for late, ended := time.After(t.patience), false; !ended; {
			select {
			case err = <-done:
				ended = true
			case <-moment:
				if v := victims[random.IntN(len(victims))]; kill(search.Process.Pid, mark, v, random) {
					t.in("kill of "+v, func(r *row) { r.tried++ })
					harmed = t.harmer("kill of "+v, name)
				}
			case <-ctx.Done():
				end(mark)
				err, ended = <-done, true
			case <-late:
				wrong(hung, "after "+t.patience.String())
				end(mark)
				err, ended = <-done, true
			}
		}
		if strings.Contains(output.String(), "\ngoroutine ") {
			wrong(panicked, output.String())
		}
		if left := remaining(mark, t.patience); len(left) > 0 {
			wrong(processes, fmt.Sprint(left))
			end(mark)
		}
		if e := compare(log, known, wrong); e != nil {
			return e
		}
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			if good {
				return os.RemoveAll(folder)
			}
			return nil
		}
		if s, ok := search.ProcessState.Sys().(syscall.WaitStatus); !ok || !s.Signaled() {
			wrong(failed, output.String())
			break
		}
	}
	t.in(unharmed, func(r *row) { r.tried++ })
	if len(known) != configurations && good {
		wrong(lost, fmt.Sprintf("%d of %d results", len(known), configurations))
	}
	if left, _ := os.ReadDir(temporary); len(left) > 0 {
		wrong(files, fmt.Sprint(left))
	}
	if good {
		return os.RemoveAll(folder)
	}
	return nil
}

// kill kills a victim with all its threads. It is false if there is none.
func kill(search int, mark, victim string, random *rand.Rand) bool {
	var candidates []int
	for _, pid := range marked(mark) {
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
	for _, pid := range candidates {
		if syscall.Kill(pid, syscall.SIGKILL) != nil {
			return false // it has just ended
		}
	}
	return true
}

// compare compares the log with the results that are known already, and adds the new ones.
func compare(log string, known map[string]string, wrong func(what harm, detail string)) error {
	text, err := os.ReadFile(log)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	now := map[string]string{}
	for line := range bytes.Lines(text) {
		var entry struct {
			Kind, Status  string
			Configuration json.RawMessage
			Reason        string
		}
		if json.Unmarshal(line, &entry) != nil || entry.Kind != "result" {
			continue // a torn line, or another kind
		}
		c := string(entry.Configuration)
		if _, twice := now[c]; twice {
			wrong(repeated, c)
		}
		if entry.Status != "correct" {
			wrong(failed, c+": "+entry.Reason)
		}
		now[c] = string(line)
	}
	for c, line := range known {
		if now[c] != line {
			wrong(lost, c)
		}
	}
	for c, line := range now {
		known[c] = line
	}
	if _, err := record.Read(log); err != nil && len(now) > 0 {
		wrong(lost, err.Error())
	}
	return nil
}
