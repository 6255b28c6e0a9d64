package main

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/internal/standin"
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

// statementCounts tell when a statement of the stand-in that is counted, such as «slow hangs first 1», applies for the first time in any process.
type statementCounts struct {
	t       *testing.T
	folder  string
	written *os.File
}

func followCounts(t *testing.T, folder string) *statementCounts {
	t.Helper()
	if standin.OnSystem() {
		t.Skip("whether a real device is in a launch cannot be seen")
	}
	c := &statementCounts{t: t, folder: filepath.Join(folder, "counts")}
	err := os.Mkdir(c.folder, 0o777)
	if err != nil {
		t.Fatal(err)
	}
	watch, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	c.written = os.NewFile(uintptr(watch), "inotify")
	t.Cleanup(func() { c.written.Close() })
	if _, err := unix.InotifyAddWatch(watch, c.folder, unix.IN_MODIFY); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *statementCounts) environment() string { return standin.StateVariable + "=" + c.folder }

// next waits for the next statement that applies for the first time.
func (c *statementCounts) next() {
	c.t.Helper()
	if err := c.written.SetReadDeadline(time.Now().Add(patience)); err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.written.Read(make([]byte, unix.SizeofInotifyEvent+unix.NAME_MAX+1)); err != nil {
		c.t.Fatal("no launch:", err)
	}
}

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

// TestKilledAtRandom kills a search, or a worker of one, at random moments: twice, and fifty times with NDTUNE_LONG.
func TestKilledAtRandom(t *testing.T) {
	needDevice(t)
	times := 2
	if os.Getenv("NDTUNE_LONG") != "" {
		times = 50
	}
	for _, victim := range []struct {
		name string
		kill func(*testing.T, *rand.Rand, string)
	}{
		{"a search", killSearch}, {"a worker", killWorker}, {"a launch", killLaunch},
	} {
		for i := range times {
			t.Run(fmt.Sprintf("%s, %d", victim.name, i+1), func(t *testing.T) {
				t.Parallel()
				victim.kill(t, chance(t), specFolder(t))
			})
		}
	}
}

// killSearch: nothing runs on for longer than a second, and the search that follows
// evaluates what is not in the log, and nothing else.
func killSearch(t *testing.T, random *rand.Rand, folder string) {
	first, second := followWorkers(t, folder, "first"), followWorkers(t, folder, "second")
	arguments := slices.Concat(interruptedSearch, outputs(folder))
	s := startSearch(t, folder, []string{first.environment()}, arguments...)
	s.read(random.IntN(interruptedTotal + 2))
	pause(random, 20*time.Millisecond)
	s.signal(syscall.SIGKILL)
	killed := s.end()
	if killed.signal != syscall.SIGKILL {
		t.Logf("it was faster than the signal: status %d", killed.status)
	}
	before := keptIn(t, folder, "log.jsonl")

	resumed := startSearch(t, folder, []string{second.environment()}, arguments...).end()
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
func killWorker(t *testing.T, random *rand.Rand, folder string) {
	trace := followWorkers(t, folder, "trace")
	s := startSearch(t, folder, []string{trace.environment()}, slices.Concat(interruptedSearch, outputs(folder))...)
	s.read(random.IntN(interruptedTotal + 2))
	pause(random, 20*time.Millisecond)
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

// A search of four configurations, in whose launches a worker can be killed.
var slowSpecs = map[string]string{"slow.yaml": slowSpec + "parameters: {variant: {range: [1, 4]}}\nverify: {spec: quick.yaml}\n", "quick.yaml": slowSpec + "parameters: {variant: 1}\n"}

const slowTotal = 4

const slowSpec = `kernel: {name: slow, source: '__kernel void slow(__global float *out) { out[get_global_id(0)] = 2 + 0 * variant; } // standin: slow is fill(out, 2)'}
problem_size: 32
arguments: [{name: out, type: float32, size: 32, output: true}]
block_size: {x: 16}
`

// killLaunch kills a worker when it is in a launch, which does not end.
func killLaunch(t *testing.T, random *rand.Rand, folder string) {
	counts := followCounts(t, folder)
	for name, text := range slowSpecs {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	trace := followWorkers(t, folder, "trace")
	at := 2 + random.IntN(slowTotal-1)
	hangs := fmt.Sprintf("%s=slow hangs when variant == %d first 1", standin.FaultsVariable, at)
	s := startSearch(t, folder, []string{trace.environment(), counts.environment(), hangs}, slices.Concat([]string{"tune", "slow.yaml"}, outputs(folder))...)
	counts.next()
	line := trace.next(1)
	for line.what != "evaluate" || line.configuration != fmt.Sprint("variant=", at) {
		line = trace.next(1)
	}
	if !s.kill(line.pid) {
		t.Fatalf("worker %d is gone", line.pid)
	}
	s.end().completeOf(t, folder, 0, slowTotal)
	evaluated := evaluatedIn(trace.rest()) // after those before the kill
	if n := evaluated[fmt.Sprint("variant=", at)]; n != 1 {
		t.Errorf("the configuration of the killed worker was evaluated %d times more: %v", n, evaluated)
	}
	for configuration, n := range evaluated {
		if n > 1 {
			t.Errorf("%s was evaluated %d times", configuration, n)
		}
	}
}

// duringABuild starts a search that builds one of its configurations as a statement of the stand-in says, once. When that has begun, it
// returns the search, the worker, and the environment in which the search can go on.
func duringABuild(t *testing.T, folder, statement string) (s *runningProgram, worker int, environment []string) {
	t.Helper()
	counts, trace := followCounts(t, folder), followWorkers(t, folder, "trace")
	kernel := filepath.Join(folder, "add.cl")
	text := readFile(t, kernel) + "// standin: " + statement + " when block_size_x == 32 first 1\n"
	if err := os.WriteFile(kernel, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	environment = []string{counts.environment()}
	s = startSearch(t, folder, append(environment, trace.environment()), append([]string{"tune", "add.yaml"}, outputs(folder)...)...)
	counts.next()
	line := trace.next(1)
	for !strings.HasPrefix(line.configuration, "block_size_x=32, ") {
		line = trace.next(1)
	}
	return s, line.pid, environment
}

// TestSignalDuringABuild sends a signal to the process group of a worker in the middle of a build, or lets the worker crash there. Neither
// costs more than the worker: the configuration is built by another one.
func TestSignalDuringABuild(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			folder := specFolder(t)
			s, worker, _ := duringABuild(t, folder, "build hangs")
			if err := syscall.Kill(-worker, signal); err != nil {
				t.Error(err)
			}
			s.end().completeOf(t, folder, 0, 9)
		})
	}
	t.Run("crash", func(t *testing.T) {
		t.Parallel()
		folder := specFolder(t)
		s, _, _ := duringABuild(t, folder, "build crashes apart")
		s.end().completeOf(t, folder, 0, 9)
	})
}

// TestInterruptedWhileBuilding interrupts as a terminal does it, by a signal to the process group of the search, at the moment when a
// worker builds a kernel, which then goes on or hangs. What was being built has not failed: it is in no log.
func TestInterruptedWhileBuilding(t *testing.T) {
	for _, statement := range []string{"build waits 200", "build hangs"} {
		t.Run(statement, func(t *testing.T) {
			t.Parallel()
			folder := specFolder(t)
			s, _, environment := duringABuild(t, folder, statement)
			s.signal(syscall.SIGINT)
			ended := s.end()
			if ended.status != ui.StatusInterrupted {
				t.Errorf("exit status %d (%v)\n%s%s", ended.status, ended.signal, ended.out, ended.notes)
			}
			all := keptIn(t, folder, "log.jsonl")
			if len(all) == 0 || len(all) == 9 {
				t.Errorf("%d results are in the log: the interrupt came too early or too late for this test", len(all))
			}
			if counts := countStatuses(all); counts["correct"] != len(all) {
				t.Errorf("the interrupt counts as a failure: the log holds %v: %v", counts, failuresOf(all))
			}
			startSearch(t, folder, environment, append([]string{"tune", "add.yaml"}, outputs(folder)...)...).end().completeOf(t, folder, len(all), 9)
		})
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
	if ended := s.end(); ended.status != ui.StatusInterrupted || ended.out != "" || !strings.HasSuffix(ended.notes, "stopping (once more: at once)\n") {
		t.Errorf("%+v", ended)
	}
}

// TestInterruptedInAnEndlessLaunch interrupts when all has been measured but a kernel that
// never ends: that is given up at once, and all else is as after any other interrupt.
func TestInterruptedInAnEndlessLaunch(t *testing.T) {
	needDevice(t)
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			folder := specFolder(t)
			counts := followCounts(t, folder)
			hostile := filepath.Join(folder, "hostile.cl")
			if err := os.WriteFile(hostile, []byte(strings.Replace(readFile(t, hostile), "fault == endless;", "fault == endless first 1000;", 1)), 0o666); err != nil {
				t.Fatal(err)
			}
			s := startSearch(t, folder, []string{counts.environment()}, slices.Concat(endlessSearch, []string{"--build-timeout", "1h"}, outputs(folder))...)
			s.read(1 + endlessRight)
			counts.next()
			began := time.Now()
			s.signal(signal)
			ended := s.end()
			took := time.Since(began)
			t.Log("it ended after", took)
			if took > patience { // the time-out is an hour
				t.Errorf("it took %s to end", took)
			}
			if ended.status != ui.StatusInterrupted {
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
			resumed := startSearch(t, folder, []string{counts.environment()}, slices.Concat(endlessSearch, []string{"--build-timeout", "1s"}, outputs(folder))...).end()
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
