package main

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A workerTrace is what the workers of a search say they begin with, as it comes.
type workerTrace struct {
	t     *testing.T
	path  string
	pipe  *os.File
	lines chan begun // closed after the last one
}

// begun is a line of it.
type begun struct {
	pid           int
	what          string // build or evaluate
	configuration string
}

// followWorkers makes a trace, a named pipe in a folder.
func followWorkers(t *testing.T, folder, name string) *workerTrace {
	t.Helper()
	trace := &workerTrace{t: t, path: filepath.Join(folder, name), lines: make(chan begun, 1000)}
	if err := unix.Mkfifo(trace.path, 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if trace.pipe, err = os.OpenFile(trace.path, os.O_RDWR, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { trace.pipe.Close() })
	go trace.follow()
	return trace
}

// follow ends at a line of no process, or with the pipe.
func (w *workerTrace) follow() {
	defer close(w.lines)
	for s := bufio.NewScanner(w.pipe); s.Scan(); {
		pid, rest, _ := strings.Cut(s.Text(), " ")
		what, configuration, _ := strings.Cut(rest, " ")
		line := begun{what: what, configuration: configuration}
		if line.pid, _ = strconv.Atoi(pid); line.pid == 0 {
			return
		}
		w.lines <- line
	}
}

func (w *workerTrace) environment() string { return "NDTUNE_WORKER_TRACE=" + w.path }

// next waits for some more lines, and gives the last of them.
func (w *workerTrace) next(lines int) begun {
	w.t.Helper()
	watchdog := time.NewTimer(patience)
	defer watchdog.Stop()
	var last begun
	for range lines {
		select {
		case last = <-w.lines:
		case <-watchdog.C:
			w.t.Fatal("the workers say nothing")
		}
	}
	return last
}

// rest are the lines that are left when all workers are gone.
func (w *workerTrace) rest() []begun {
	w.t.Helper()
	if _, err := fmt.Fprintln(w.pipe, "0 end"); err != nil {
		w.t.Fatal(err)
	}
	var all []begun
	for line := range w.lines {
		all = append(all, line)
	}
	return all
}

// evaluatedIn counts how often workers have begun to evaluate each configuration.
func evaluatedIn(lines []begun) map[string]int {
	counts := map[string]int{}
	for _, line := range lines {
		if line.what == "evaluate" {
			counts[line.configuration]++
		}
	}
	return counts
}

// workers are the processes that a search has started.
func (s *runningProgram) workers() []int {
	var all []int
	paths, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range paths {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if parentOf(pid) == s.command.Process.Pid {
			all = append(all, pid)
		}
	}
	return all
}

// statOf are the fields of a process or thread behind its name: the state, the parent, and
// so on.
func statOf(path string) []string {
	stat, _ := os.ReadFile(filepath.Join(path, "stat"))
	return strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
}

func parentOf(pid int) int {
	fields := statOf(fmt.Sprintf("/proc/%d", pid))
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(fields[1])
	return parent
}

// kill ends a worker, and reports whether it was there.
func (s *runningProgram) kill(pid int) bool {
	s.t.Helper()
	p, err := os.FindProcess(pid) // holds on to the process, whatever becomes of its number
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = p.Release() }()
	return parentOf(pid) == s.command.Process.Pid && p.Signal(syscall.SIGKILL) == nil
}

// inKernel makes a worker stand still and reports whether one of its threads is then in the
// code of a kernel: in a mapping of what PoCL has built.
func inKernel(t *testing.T, pid int) bool {
	t.Helper()
	if syscall.Kill(pid, syscall.SIGSTOP) != nil {
		return false
	}
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	maps, _ := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	for _, thread := range threads {
		for range 100_000 {
			if f := statOf(thread); len(f) == 0 || f[0] != "R" {
				break
			}
		}
		place, err := os.ReadFile(filepath.Join(thread, "syscall"))
		if err != nil && os.IsPermission(err) {
			t.Skip("where a thread is cannot be seen here:", err)
		}
		fields := strings.Fields(string(place))
		if len(fields) == 0 {
			continue
		}
		if at, err := strconv.ParseUint(fields[len(fields)-1], 0, 64); err == nil && isKernelCode(string(maps), at) {
			return true
		}
	}
	return false
}

// inLaunch tries moments until one is in a launch of a worker, which then stands still.
func (s *runningProgram) inLaunch(random *rand.Rand, pid int) {
	s.t.Helper()
	for !inKernel(s.t, pid) {
		_ = syscall.Kill(pid, syscall.SIGCONT)
		if parentOf(pid) != s.command.Process.Pid {
			s.t.Fatalf("worker %d is gone without having been in a kernel", pid)
		}
		pause(random, 20*time.Millisecond)
	}
}

// isKernelCode reports whether an address is in a library below a folder of a kernel's
// local size, as PoCL keeps them: …/slow/16-1-1-goffs0-smallgrid/slow.so.
func isKernelCode(maps string, at uint64) bool {
	for line := range strings.Lines(maps) {
		var from, to uint64
		if n, _ := fmt.Sscanf(line, "%x-%x", &from, &to); n == 2 && from <= at && at < to {
			return kernelLibrary.MatchString(line)
		}
	}
	return false
}

// kernelLibrary also matches one that another process has built meanwhile and put in its place.
var kernelLibrary = regexp.MustCompile(`/\d+-\d+-\d+[^/]*/\w+\.so( \(deleted\))?\n?$`)

// chance is what the moments of a test are drawn from.
func chance(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv("NDTUNE_TEST_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("NDTUNE_TEST_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// pause lets a random time pass, so that the moment after it is any.
func pause(random *rand.Rand, most time.Duration) {
	time.Sleep(time.Duration(random.Int64N(int64(most))))
}

// TestKilledAtRandom kills a search, or a worker of one, at random moments: twice, of which
// once nothing was built before, and fifty times with NDTUNE_LONG.
func TestKilledAtRandom(t *testing.T) {
	needDevice(t)
	times := 2
	if os.Getenv("NDTUNE_LONG") != "" {
		times = 50
	}
	for _, victim := range []struct {
		name string
		kill func(*testing.T, *rand.Rand, string, []string)
	}{
		{"a search", killSearch}, {"a worker", killWorker}, {"a launch", killLaunch},
	} {
		for i := range times {
			t.Run(fmt.Sprintf("%s, %d", victim.name, i+1), func(t *testing.T) {
				t.Parallel()
				folder := specFolder(t)
				var environment []string
				if i%3 == 0 { // nothing was built before
					environment = append(environment, "POCL_CACHE_DIR="+t.TempDir())
				}
				victim.kill(t, chance(t), folder, environment)
			})
		}
	}
}

// killSearch: nothing runs on for longer than a second, and the search that follows
// evaluates what is not in the log, and nothing else.
func killSearch(t *testing.T, random *rand.Rand, folder string, environment []string) {
	first, second := followWorkers(t, folder, "first"), followWorkers(t, folder, "second")
	arguments := slices.Concat(interruptedSearch, outputs(folder))
	s := startSearch(t, folder, append(environment, first.environment()), arguments...)
	s.read(random.IntN(interruptedTotal + 2))
	pause(random, 100*time.Millisecond)
	s.signal(syscall.SIGKILL)
	killed := s.end()
	if killed.signal != syscall.SIGKILL {
		t.Logf("it was faster than the signal: status %d", killed.status)
	}
	before := keptIn(t, folder, "log.jsonl")

	resumed := startSearch(t, folder, append(environment, second.environment()), arguments...).end()
	resumed.complete(t, folder, len(before))
	printedFirst(t, killed, resumed)
	evaluated := evaluatedIn(second.rest())
	for configuration, n := range evaluated {
		if _, ok := before[configuration]; ok || n > 1 {
			t.Errorf("%s was evaluated %d times, and is in the log: %t", configuration, n, ok)
		}
	}
	if n := len(evaluated); n+len(before) != interruptedTotal {
		t.Errorf("the log held %d, and %d were evaluated", len(before), n)
	}
}

// killWorker: the search goes on and completes, and what the worker was at is evaluated
// once more, at most.
func killWorker(t *testing.T, random *rand.Rand, folder string, environment []string) {
	trace := followWorkers(t, folder, "trace")
	s := startSearch(t, folder, append(environment, trace.environment()), slices.Concat(interruptedSearch, outputs(folder))...)
	s.read(random.IntN(interruptedTotal + 2))
	pause(random, 100*time.Millisecond)
	killed := 0
	if workers := s.workers(); len(workers) > 0 && s.kill(workers[random.IntN(len(workers))]) {
		killed = 1
	} else {
		t.Log("it had no worker, or none any more")
	}
	s.end().complete(t, folder, 0)
	evaluated := evaluatedIn(trace.rest())
	all := 0
	for _, n := range evaluated {
		all += n
	}
	if len(evaluated) != interruptedTotal || all > interruptedTotal+killed {
		t.Errorf("%d configurations were evaluated, %d times in all, and %d workers were killed: %v", len(evaluated), all, killed, evaluated)
	}
}

// The search whose launches are long enough to be killed in: 4 configurations.
const slowSearch = "slow.yaml"

var (
	slowSpecs = map[string]string{slowSearch: fmt.Sprintf(slowSpec, 3_000_000, "{range: [1, 4]}") + "verify: {spec: quick.yaml}\n", "quick.yaml": fmt.Sprintf(slowSpec, 100, "1")}
	slowTotal = 4
)

const slowSpec = `# All of out is 2 after some dozen steps.
kernel:
  name: slow
  source: |
    __kernel void slow(__global float *out, __global const float *a)
    {
        float x = a[get_global_id(0)];
        for (int k = 0; k < steps; k++) {
            x = x * 0.5f + 1.0f;
        }
        out[get_global_id(0)] = x;
    }
constants: {steps: %d}
problem_size: 32
arguments:
  - {name: out, type: float32, size: 32, output: true}
  - {name: a,   type: float32, size: 32, fill: random}
parameters: {variant: %s}
block_size: {x: 16}
`

// killLaunch kills a worker when it is in the code of a kernel.
func killLaunch(t *testing.T, random *rand.Rand, folder string, environment []string) {
	if d := needDevice(t); d.Platform != "Portable Computing Language" {
		t.Skipf("whether %s is in a kernel cannot be seen", d.Name)
	}
	for name, text := range slowSpecs {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	trace := followWorkers(t, folder, "trace")
	s := startSearch(t, folder, append(environment, trace.environment()), slices.Concat([]string{"tune", slowSearch, "--iterations", "2"}, outputs(folder))...)
	lines := 1 + random.IntN(slowTotal-1)
	at := trace.next(lines)
	pause(random, 300*time.Millisecond)
	s.inLaunch(random, at.pid)
	if !s.kill(at.pid) {
		t.Fatalf("worker %d is gone", at.pid)
	}
	s.end().completeOf(t, folder, 0, slowTotal)
	rest := trace.rest()
	if len(rest) < slowTotal-lines || len(rest) > slowTotal-lines+1 {
		t.Errorf("%d configurations were begun when worker %d was killed, and then these, of %d: %v", lines, at.pid, slowTotal, rest)
	}
	for _, line := range rest {
		if line.pid == at.pid {
			t.Log("it was at a later configuration than", at.configuration)
		}
	}
}

// TestInterruptedWhileAWorkerStarts interrupts before there is anything to measure.
func TestInterruptedWhileAWorkerStarts(t *testing.T) {
	t.Parallel()
	folder := specFolder(t)
	// A worker that opens its trace waits for somebody who reads it.
	trace := filepath.Join(folder, "trace")
	if err := unix.Mkfifo(trace, 0o600); err != nil {
		t.Fatal(err)
	}
	s := startSearch(t, folder, []string{"NDTUNE_WORKER_TRACE=" + trace}, "tune", "add.yaml")
	for began := time.Now(); len(s.workers()) == 0; {
		if time.Since(began) > patience {
			t.Fatal("no worker was started")
		}
	}
	s.signal(syscall.SIGINT)
	if ended := s.end(); ended.status != 130 || ended.out != "" || !strings.HasSuffix(ended.notes, "stopping (once more: at once)\n") {
		t.Errorf("%+v", ended)
	}
}

// TestInterruptedInAnEndlessLaunch interrupts when all has been measured but a kernel that
// never ends: that is given up at once, and all else is as after any other interrupt.
func TestInterruptedInAnEndlessLaunch(t *testing.T) {
	if d := needDevice(t); d.Platform != "Portable Computing Language" {
		t.Skipf("whether %s is in a kernel cannot be seen, and to end a kernel there may need a reset", d.Name)
	}
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			folder := specFolder(t)
			trace := followWorkers(t, folder, "trace")
			s := startSearch(t, folder, []string{trace.environment()}, slices.Concat(endlessSearch, []string{"--build-timeout", "1h"}, outputs(folder))...)
			var endless begun
			for endless.pid == 0 {
				if line := trace.next(1); strings.Contains(line.configuration, "fault=endless") {
					endless = line
				}
			}
			s.read(1 + endlessRight)
			random := chance(t)
			s.inLaunch(random, endless.pid)
			_ = syscall.Kill(endless.pid, syscall.SIGCONT)
			began := time.Now()
			s.signal(signal)
			ended := s.end()
			took := time.Since(began)
			t.Log("it ended after", took)
			if took > patience { // the time-out is an hour
				t.Errorf("it took %s to end", took)
			}
			if ended.status != statusInterrupted {
				t.Fatalf("exit status %d (%v)\n%s", ended.status, ended.signal, ended.notes)
			}
			if !strings.Contains(ended.out, "\nbest performing configuration: fault=none, ") {
				t.Errorf("no best so far:\n%s", ended.out)
			}
			if want := "Interrupted; the best so far:"; !strings.Contains(ended.notes, want) {
				t.Errorf("%q is not among:\n%s", want, ended.notes)
			}
			for _, name := range []string{"log.jsonl", "r.json", "r.csv"} {
				if all := keptIn(t, folder, name); len(all) != endlessRight || countStatuses(all)["correct"] != endlessRight {
					t.Errorf("%s holds %v", name, all)
				}
			}
			resumed := startSearch(t, folder, nil, slices.Concat(endlessSearch, []string{"--build-timeout", "1s"}, outputs(folder))...).end()
			printedFirst(t, ended, resumed)
			if all := keptIn(t, folder, "log.jsonl"); resumed.status != 0 || len(all) != endlessRight+1 || countStatuses(all)["timeout"] != 1 {
				t.Errorf("exit status %d, and the log holds %v", resumed.status, all)
			}
		})
	}
}

// A search with one configuration that never ends, and some that are right.
var endlessSearch = []string{"tune", "hostile.yaml", "-p", "fault=endless,none", "-p", "block_size_x=32", "--workers", "2"}

const endlessRight = 1
