//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

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
	search       *program
	servers      []*server
	disk         *program // that keeps the disk of the server; nil: it has none of its own
	agents       []*program
	started      int    // agents
	near, far    *proxy // of the search and of the agents; nil: they connect to the server
	log          string

	faults   int      // that happened while the search ran
	restarts int      // of servers, which a fault made necessary
	remarks  []string // what went wrong
}

// newTrial starts servers and agents.
func (p *proof) newTrial(name, kind string, seed uint64, spec string) (*trial, error) {
	t := &trial{proof: p, Rand: rand.New(rand.NewPCG(p.seed, seed)), folder: filepath.Join(p.folder, name), kind: kind, spec: spec}
	t.log = filepath.Join(t.folder, "log.jsonl")
	if err := os.MkdirAll(t.folder, 0o755); err != nil {
		return t, err
	}
	for name, text := range map[string]string{"spin.cl": trialSource, "spin.yaml": trialSpec} {
		if err := os.WriteFile(filepath.Join(t.folder, name), []byte(text), 0o644); err != nil {
			return t, err
		}
	}
	return t, nil
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
	a, err := launch(t.folder, fmt.Sprintf("agent%d", t.started), command[0], t.environment(), command[1:]...)
	t.started++
	if err == nil {
		t.agents = append(t.agents, a)
	}
	return err
}

// begin starts the search, or goes on with it.
func (t *trial) begin(more ...string) (err error) {
	more = append(more, t.selected()...)
	t.search, err = launch(t.folder, "search", t.ndtune, t.environment(), append([]string{"tune", t.spec, "--fleet", t.url(t.near), "--log", t.log}, more...)...)
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
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var line struct {
			Kind, Status  string
			Configuration json.RawMessage
		}
		if json.Unmarshal(lines.Bytes(), &line) != nil || line.Kind != "result" {
			continue
		}
		n++
		seen[string(line.Configuration)] = true
		if line.Status != "correct" {
			failed++
		}
	}
	return n, len(seen), failed
}

// reached waits until the log has a number of results. It is false if the search ends before.
func (t *trial) reached(n int) bool {
	for end := time.Now().Add(t.wait); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if have, _, _ := t.results(); have >= n {
			return !t.search.over()
		}
		if t.search.over() {
			return false
		}
	}
	return false
}

// moment waits for a random moment of the search and counts a fault there.
func (t *trial) moment() bool {
	good := t.reached(t.IntN(trialSize))
	t.pause(0, 50*time.Millisecond)
	if good = good && !t.search.over(); good {
		t.faults++
	}
	return good
}

func (t *trial) pause(from, to time.Duration) {
	time.Sleep(from + time.Duration(t.Int64N(int64(to-from))))
}

// verdict is the count of what went wrong.
type verdict struct{ runs, faults, lost, twice, failed, hung, wrong, restarts int }

func (v *verdict) add(o verdict) {
	v.runs += o.runs
	v.faults += o.faults
	v.lost += o.lost
	v.twice += o.twice
	v.failed += o.failed
	v.hung += o.hung
	v.wrong += o.wrong
	v.restarts += o.restarts
}

func (v *verdict) good() bool { return v.lost+v.twice+v.failed+v.hung+v.wrong == 0 }

// judge waits for the end of the search and counts.
func (t *trial) judge(size int, right func(*record.Record) error) verdict {
	v := verdict{runs: 1, faults: t.faults}
	if !t.search.within(t.wait) {
		v.hung++
		t.remark("the search did not end")
		t.search.signal(syscall.SIGQUIT) // prints its goroutines
		t.search.within(5 * time.Second)
	} else if t.search.status() != 0 {
		v.hung++
		t.remark("the search ended with status %d", t.search.status())
	}
	for _, a := range t.agents {
		a.signal(syscall.SIGINT)
	}
	for _, a := range t.agents {
		if !a.killed && !a.within(20*time.Second) {
			v.hung++
			t.remark("%s did not end", a.name)
			a.signal(syscall.SIGQUIT)
			a.within(5 * time.Second)
		}
	}
	n, different, failed := t.results()
	n = max(n, 0)
	v.lost, v.twice, v.failed, v.restarts = size-different, n-different, failed, t.restarts
	if v.lost+v.twice+v.failed > 0 {
		t.remark("%d results of %d configurations, %d failed", n, different, failed)
	}
	if v.good() {
		r, err := record.Read(t.log)
		if err == nil {
			err = right(r)
		}
		if err != nil {
			v.wrong++
			t.remark("%v", err)
		}
	}
	return v
}

func (t *trial) remark(format string, arguments ...any) {
	t.remarks = append(t.remarks, fmt.Sprintf(format, arguments...))
}

// close ends all programs.
func (t *trial) close(keep bool) error {
	for _, a := range append(t.agents, t.search) {
		if a != nil && !a.over() {
			a.family(syscall.SIGKILL)
			<-a.ended
		}
	}
	for _, s := range t.servers {
		if s.program != nil {
			s.signal(syscall.SIGINT)
		}
	}
	var all error
	for _, s := range t.servers {
		if s.program != nil && !s.within(20*time.Second) {
			s.kill()
			all = errors.Join(all, fmt.Errorf("%s did not end", s.name))
		}
	}
	if t.disk != nil {
		t.disk.kill()
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
