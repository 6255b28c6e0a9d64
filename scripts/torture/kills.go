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
	"strconv"
	"strings"
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

// A killing is a series of trials. A trial is one search with a log, which is begun again after each kill until it comes to its end.
type killing struct {
	wanted         int
	seed           uint64
	device, folder string
	patience       time.Duration

	program  string
	usual    time.Duration // of a search without kills
	kills    map[string]int
	trials   int
	restarts int
	wrong    map[string]int // by what went wrong
}

func (k *killing) run(ctx context.Context) (err error) {
	k.kills, k.wrong = map[string]int{}, map[string]int{}
	if k.folder == "" {
		if k.folder, err = os.MkdirTemp("", "ndtune-torture-"); err != nil {
			return err
		}
	}
	if k.folder, err = filepath.Abs(k.folder); err != nil {
		return err
	}
	k.program = filepath.Join(k.folder, "ndtune")
	build := exec.CommandContext(ctx, "go", "build", "-o", k.program, "./cmd/ndtune")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	began := time.Now()
	if err := k.trial(ctx, 0); err != nil { // without kills, for the usual time
		return err
	}
	k.usual = time.Since(began)
	fmt.Printf("a search without kills takes %.1f s\n", k.usual.Seconds())
	for n := 1; ctx.Err() == nil && k.total() < k.wanted; n++ {
		if err := k.trial(ctx, n); err != nil && ctx.Err() == nil {
			return err
		}
		if n%10 == 0 {
			fmt.Fprintf(os.Stderr, "%d kills in %d trials, %d wrong, %s\n", k.total(), n, len(k.wrong), time.Since(began).Round(time.Second))
		}
	}
	fmt.Printf("%d trials, %d restarts\n", k.trials, k.restarts)
	for _, v := range victims {
		fmt.Printf("  %-12s %5d killed\n", v, k.kills[v])
	}
	for _, what := range []string{lost, repeated, failed, hung, processes, files} {
		fmt.Printf("  %-34s %5d\n", what, k.wrong[what])
	}
	if len(k.wrong) > 0 {
		return errors.New("something went wrong: " + k.folder)
	}
	if ctx.Err() == nil {
		return os.RemoveAll(k.folder)
	}
	return ctx.Err()
}

// What can go wrong in a trial.
const (
	lost      = "results lost"
	repeated  = "results measured again"
	failed    = "configurations that failed"
	hung      = "searches that did not end"
	processes = "processes left"
	files     = "temporary files left"
)

func (k *killing) total() (n int) {
	for _, v := range k.kills {
		n += v
	}
	return n
}

// trial runs one search, with kills unless n is 0.
func (k *killing) trial(ctx context.Context, n int) error {
	random := rand.New(rand.NewPCG(k.seed, uint64(n)))
	folder := filepath.Join(k.folder, fmt.Sprintf("trial%d", n))
	temporary, log := filepath.Join(folder, "tmp"), filepath.Join(folder, "log.jsonl")
	if err := os.MkdirAll(temporary, 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{"spin.cl": source, "spin.yaml": specification} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	mark := fmt.Sprintf("NDTUNE_TORTURE=%d-%d", os.Getpid(), n)
	good := true
	wrong := func(what, detail string) {
		k.wrong[what]++
		fmt.Printf("trial %d: %s: %s (%s)\n", n, what, detail, folder)
		good = false
	}
	known := map[string]string{} // results by configuration
	for left := random.IntN(6); ; left-- {
		arguments := []string{"tune", filepath.Join(folder, "spin.yaml"), "--log", log, "-q", "--no-peak", "--workers", "2"}
		if k.device != "" {
			arguments = append(arguments, "--device", k.device)
		}
		var output bytes.Buffer
		search := exec.Command(k.program, arguments...)
		search.Stdout, search.Stderr = &output, &output
		search.Env = append(os.Environ(), mark, "TMPDIR="+temporary, "XDG_STATE_HOME="+folder, "XDG_CACHE_HOME="+folder, "POCL_CACHE_DIR="+filepath.Join(folder, "pocl"))
		search.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := search.Start(); err != nil {
			return err
		}
		done := make(chan error, 1)
		go func() { done <- search.Wait() }()
		var err error
		ended := false
		if n > 0 && left > 0 {
			select {
			case err = <-done:
				ended = true
			case <-time.After(time.Duration(random.Float64() * float64(k.usual))):
				k.kill(search.Process.Pid, mark, victims[random.IntN(len(victims))], random)
			}
		}
		if !ended {
			select {
			case err = <-done:
			case <-time.After(k.patience):
				wrong(hung, output.String())
				k.end(mark)
				err = <-done
			}
		}
		if remain := k.remaining(mark); len(remain) > 0 {
			wrong(processes, fmt.Sprint(remain))
			k.end(mark)
		}
		if e := k.compare(log, known, wrong); e != nil {
			return e
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			break
		}
		if s, ok := search.ProcessState.Sys().(syscall.WaitStatus); !ok || !s.Signaled() {
			wrong(failed, output.String())
			break
		}
		k.restarts++
	}
	k.trials++
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

// kill kills a victim with all its threads, if there is one.
func (k *killing) kill(search int, mark, victim string, random *rand.Rand) {
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
		return
	}
	if victim != "everything" {
		candidates = []int{candidates[random.IntN(len(candidates))]}
	}
	for _, pid := range candidates {
		if syscall.Kill(pid, syscall.SIGKILL) != nil {
			return // it has just ended
		}
	}
	k.kills[victim]++
}

// remaining returns the processes that are still there some time after their search.
func (k *killing) remaining(mark string) (left []int) {
	for until := time.Now().Add(k.patience); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		if left = marked(mark); len(left) == 0 {
			return nil
		}
	}
	return left
}

// end kills what a trial has left.
func (k *killing) end(mark string) {
	for _, pid := range marked(mark) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// compare compares the log with the results that are known already, and adds the new ones.
func (k *killing) compare(log string, known map[string]string, wrong func(what, detail string)) error {
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

// marked returns the processes whose environment has a mark, but for those that have ended and are waited for.
func marked(mark string) (pids []int) {
	paths, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err == nil && bytes.Contains(text, []byte(mark+"\x00")) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// nameOf returns the name of a process and its parent.
func nameOf(pid int) (name string, parent int) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(text), "(")
	i := strings.LastIndex(rest, ")")
	if i < 0 {
		return "", 0
	}
	fields := strings.Fields(rest[i+1:])
	if len(fields) > 1 {
		parent, _ = strconv.Atoi(fields[1])
	}
	return rest[:i], parent
}
