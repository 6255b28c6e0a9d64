//go:build linux

package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ndtune/ndtune/scripts/harness"
	"github.com/ndtune/ndtune/tune/record"
)

// The kernel of the trials: the time grows with rounds, and tag makes other kernels that take as long. The best
// configuration has one round.
const (
	trialSource = `kernel void spin(global float *out, global const float *a)
{
    const int i = get_global_id(0);
    float x = a[i];
    for (int k = 0; k < rounds * 2000; k++)
        x = x * 0.9999f + 0.0001f;
    out[i] = x + tag;
}
`
	trialSpec = `kernel: {name: spin, file: spin.cl}
constants: {n: 256}
problem_size: n
arguments:
  - {name: out, type: float32, size: n, output: true}
  - {name: a,   type: float32, size: n, fill: random}
parameters:
  block_size_x: [64]
  rounds: [1, 2, 3, 4, 5]
  tag: [0, 1, 2, 3, 4, 5]
`
	trialSize = 30
)

// A trial is one search on a fleet of its own.
type trial struct {
	*proof
	*rand.Rand
	folder, kind string
	spec         string
	search       *harness.Program
	servers      []*server
	disk         *harness.Disk // of the server; nil: it has none of its own
	agents       []*harness.Program
	started      int    // agents
	near, far    *proxy // of the search and of the agents; nil: they connect to the server
	log          string

	counts  map[string]int // by column
	remarks []string       // what went wrong
}

// newTrial starts servers and agents.
func (p *proof) newTrial(name, kind string, seed uint64, spec string) (*trial, error) {
	t := &trial{proof: p, Rand: rand.New(rand.NewPCG(p.seed, seed)), folder: filepath.Join(p.folder, name), kind: kind, spec: spec, counts: map[string]int{}}
	t.log = filepath.Join(t.folder, "log.jsonl")
	return t, harness.WriteFiles(t.folder, map[string]string{"spin.cl": trialSource, "spin.yaml": trialSpec})
}

// serve starts the servers.
func (t *trial) serve() (err error) {
	t.servers, err = t.proof.servers(t.folder, t.kind)
	return err
}

func (t *trial) environment() []string {
	return []string{"XDG_STATE_HOME=" + t.folder, "POCL_CACHE_DIR=" + filepath.Join(t.proof.folder, "pocl"), "NDTUNE_FLEET="}
}

// threads bounds the threads of PoCL, of versions before and after 4.
func (p *proof) threads() []string {
	if p.cores == 0 {
		return nil
	}
	return []string{fmt.Sprintf("POCL_MAX_PTHREAD_COUNT=%d", p.cores), fmt.Sprintf("POCL_CPU_MAX_CU_COUNT=%d", p.cores)}
}

// selected returns the options that select the device.
func (p *proof) selected() []string {
	if p.device == "" {
		return nil
	}
	return []string{"--device", p.device}
}

// confined returns the beginning of a command that runs on cores of its own, if the agents have such.
func (p *proof) confined(i int) []string {
	if p.cores == 0 {
		return nil
	}
	return []string{"taskset", "-c", fmt.Sprintf("%d-%d", i*p.cores, (i+1)*p.cores-1)}
}

// url returns the address of the fleet: all servers, the first of them any one.
func (t *trial) url(through *proxy) string {
	if through != nil {
		return "nats://" + address(through.port)
	}
	var all []string
	for _, i := range t.Perm(len(t.servers)) {
		all = append(all, "nats://"+address(t.servers[i].port))
	}
	return strings.Join(all, ",")
}

// agent starts an agent.
func (t *trial) agent(path string) error {
	command := append(t.confined(t.started), path, "agent", "--fleet", t.url(t.far), "--workers", "1")
	command = append(command, t.selected()...)
	a, err := harness.Launch(t.folder, fmt.Sprintf("agent%d", t.started), t.environment(), command...)
	t.started++
	if err == nil {
		t.agents = append(t.agents, a)
	}
	return err
}

// begin starts the search, or goes on with it.
func (t *trial) begin(more ...string) (err error) {
	command := append([]string{t.ndtune, "tune", t.spec, "--fleet", t.url(t.near), "--log", t.log}, more...)
	t.search, err = harness.Launch(t.folder, "search", t.environment(), append(command, t.selected()...)...)
	return err
}

// results returns the number of results in the log, and of these the different ones and those that failed. The number is
// -1 if the log has no header yet.
func (t *trial) results() (n, different, failed int) {
	data, err := os.ReadFile(t.log)
	if err != nil || len(data) == 0 {
		return -1, 0, 0
	}
	seen := map[string]bool{}
	for _, r := range harness.Results(data) {
		n++
		seen[string(r.Configuration)] = true
		if r.Status != "correct" {
			failed++
		}
	}
	return n, len(seen), failed
}

// reached waits until the log has a number of results. It is false if the search ends before.
func (t *trial) reached(n int) bool {
	for end := time.Now().Add(t.wait); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if have, _, _ := t.results(); have >= n {
			return !t.search.Over()
		}
		if t.search.Over() {
			return false
		}
	}
	return false
}

// moment waits for a random moment of the search and counts a fault there.
func (t *trial) moment() bool {
	good := t.reached(t.IntN(trialSize))
	t.pause(0, 50*time.Millisecond)
	if good = good && !t.search.Over(); good {
		t.counts[faulted]++
	}
	return good
}

func (t *trial) pause(from, to time.Duration) {
	time.Sleep(from + time.Duration(t.Int64N(int64(to-from))))
}

// The columns of the table.
const (
	runs     = "runs"
	faulted  = "faults"     // that happened while the search ran
	lost     = "lost"       // results
	twice    = "twice"      // results
	failed   = "failed"     // results
	hung     = "hung"       // programs, or ended with an error
	wrong    = "wrong best" // record
	restarts = "restarts"   // of servers, which a fault made necessary
)

// wrongs are the columns of what must not happen.
var wrongs = []string{lost, twice, failed, hung, wrong}

// good reports whether nothing went wrong.
func (t *trial) good() bool {
	return !slices.ContainsFunc(wrongs, func(column string) bool { return t.counts[column] != 0 })
}

// judge waits for the end of the search and counts.
func (t *trial) judge(size int, right func(*record.Record) error) {
	t.counts[runs]++
	if !t.search.Within(t.wait) {
		t.wrong(hung, "the search did not end")
		t.search.Signal(syscall.SIGQUIT) // prints its goroutines
		t.search.Within(5 * time.Second)
	} else if err := t.search.Failure(); err != nil {
		t.wrong(hung, "the search ended with %v", err)
	}
	for _, a := range t.agents {
		a.Signal(syscall.SIGINT)
	}
	for _, a := range t.agents {
		if !a.Killed && !a.Within(20*time.Second) {
			t.wrong(hung, "%s did not end", a.Name)
			a.Signal(syscall.SIGQUIT)
			a.Within(5 * time.Second)
		}
	}
	n, different, failures := t.results()
	n = max(n, 0)
	t.counts[lost], t.counts[twice], t.counts[failed] = size-different, n-different, failures
	if different != size || n != different || failures > 0 {
		t.remark("%d results of %d configurations, %d failed", n, different, failures)
	}
	if t.good() {
		r, err := record.Read(t.log)
		if err == nil {
			err = right(r)
		}
		if err != nil {
			t.wrong(wrong, "%v", err)
		}
	}
}

// wrong counts something that went wrong.
func (t *trial) wrong(column, format string, arguments ...any) {
	t.counts[column]++
	t.remark(format, arguments...)
}

func (t *trial) remark(format string, arguments ...any) {
	t.remarks = append(t.remarks, fmt.Sprintf(format, arguments...))
}

// close ends all programs.
func (t *trial) close(keep bool) error {
	for _, a := range append(t.agents, t.search) {
		if a != nil && !a.Over() {
			a.SignalAll(syscall.SIGKILL)
			<-a.Ended
		}
	}
	for _, s := range t.servers {
		if s.Program != nil {
			s.Signal(syscall.SIGINT)
		}
	}
	var all error
	for _, s := range t.servers {
		if s.Program != nil && !s.Within(20*time.Second) {
			s.Kill()
			all = errors.Join(all, fmt.Errorf("%s did not end", s.Name))
		}
	}
	if t.disk != nil {
		t.disk.Close()
	}
	for _, p := range []*proxy{t.near, t.far} {
		if p != nil {
			p.listener.Close()
			p.refuse()
		}
	}
	if keep {
		return all
	}
	return errors.Join(all, os.RemoveAll(t.folder))
}
