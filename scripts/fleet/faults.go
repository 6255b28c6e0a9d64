//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ndtune/ndtune/scripts/harness"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/record"
)

// A fault is done to a search while it runs.
type fault struct {
	name  string
	kind  string               // of servers
	begin func(t *trial) error // before the agents start; nil: nothing
	do    func(t *trial) error // returns when nothing more happens
}

var allFaults = []fault{
	{"agents-killed", separate, nil, killAgents},
	{"agents-stopped-shortly", separate, nil, func(t *trial) error { return t.stopAgents(time.Second, 10*time.Second) }},
	{"agents-stopped-for-long", separate, nil, func(t *trial) error { return t.stopAgents(22*time.Second, 30*time.Second) }},
	{"search-killed", separate, nil, killSearch},
	{"connections-cut", separate, withProxies, cutConnections},
	{"server-killed", separate, nil, killServer},
	{"one-of-3-servers-killed", cluster, nil, killServer},
	{"disk-full", separate, nil, fillDisk},
	{"another-version", separate, nil, otherVersion},
}

// killAgents kills some agents. If none is left, another one starts.
func killAgents(t *trial) error {
	if !t.moment() {
		return nil
	}
	n := 1 + t.IntN(len(t.agents))
	for _, i := range t.Perm(len(t.agents))[:n] {
		t.agents[i].Kill()
		if t.IntN(2) == 0 {
			t.pause(0, 300*time.Millisecond)
		}
	}
	if n == len(t.agents) {
		return t.agent(t.ndtune)
	}
	return nil
}

// stopAgents stops some agents, alone or with their workers, and continues them.
func (t *trial) stopAgents(from, to time.Duration) error {
	if !t.moment() {
		return nil
	}
	some := t.agents[:1+t.IntN(len(t.agents))]
	signal := (*harness.Program).Signal
	if t.IntN(2) == 0 {
		signal = (*harness.Program).SignalAll
	}
	for _, a := range some {
		signal(a, syscall.SIGSTOP)
	}
	t.pause(from, to)
	for _, a := range some {
		a.SignalAll(syscall.SIGCONT)
	}
	return nil
}

// killSearch kills the search up to three times, and goes on with it.
func killSearch(t *trial) error {
	for range 1 + t.IntN(3) {
		if t.IntN(10) == 0 { // perhaps before it has begun
			t.pause(0, 500*time.Millisecond)
			t.counts[faulted]++
		} else if !t.moment() {
			return nil
		}
		t.search.Kill()
		t.pause(0, 2*time.Second)
		if err := t.begin("--iterations", "3"); err != nil {
			return err
		}
	}
	return nil
}

func withProxies(t *trial) (err error) {
	to := address(t.servers[0].port)
	if t.near, err = newProxy(to); err == nil {
		t.far, err = newProxy(to)
	}
	return err
}

// cutConnections cuts the connections of the search, of the agents, or of both, once or twice.
func cutConnections(t *trial) error {
	for range 1 + t.IntN(2) {
		if !t.moment() {
			return nil
		}
		some := [][]*proxy{{t.near}, {t.far}, {t.near, t.far}}[t.IntN(3)]
		hold := t.IntN(3) == 0
		for _, p := range some {
			if hold {
				p.hold()
			} else {
				p.refuse()
			}
		}
		t.pause(500*time.Millisecond, 8*time.Second)
		for _, p := range some {
			if hold && t.IntN(2) == 0 {
				p.refuse()
			}
			p.mend()
		}
	}
	return nil
}

// killServer kills a server, and starts it again. Of a cluster, every third one stays away until the search has ended.
func killServer(t *trial) error {
	if !t.moment() {
		return nil
	}
	s := t.servers[t.IntN(len(t.servers))]
	s.Kill()
	if t.kind == cluster && t.IntN(3) == 0 {
		return nil
	}
	t.pause(0, 8*time.Second)
	return s.start()
}

// fillDisk fills the disk under the store of the server for some seconds. A server that does not go on by itself is
// started again.
func fillDisk(t *trial) error {
	if !t.moment() {
		return nil
	}
	s := t.servers[0]
	if err := t.disk.Fill(); err != nil {
		return err
	}
	t.pause(time.Second, 6*time.Second)
	if err := t.disk.MakeRoom(); err != nil {
		return err
	}
	select {
	case <-t.search.Ended:
		return nil
	case <-s.Ended:
	case <-time.After(10 * time.Second):
		s.End(20 * time.Second)
	}
	t.counts[restarts]++
	return s.start()
}

// otherVersion starts agents of another version.
func otherVersion(t *trial) error {
	for range 1 + t.IntN(2) {
		if !t.moment() {
			return nil
		}
		if err := t.agent(t.other); err != nil {
			return err
		}
	}
	return nil
}

// inSmallDisk moves the store of the server to a disk of 160 MiB.
func (t *trial) inSmallDisk() error {
	store := filepath.Join(t.folder, "store")
	var err error
	if t.disk, err = harness.NewDisk(t.folder, store, 160); err != nil {
		return err
	}
	s := &server{port: port()}
	s.start = func() (err error) {
		command := append(t.disk.Enter(), t.nats, "-a", "127.0.0.1", "-p", fmt.Sprint(s.port), "-js", "-sd", store)
		if s.Program, err = harness.Launch(t.folder, "server", nil, command...); err != nil {
			return err
		}
		return s.await()
	}
	t.servers = []*server{s}
	return s.start()
}

// try makes one run.
func (p *proof) try(f fault, run int) (counts map[string]int, err error) {
	index := slices.IndexFunc(allFaults, func(o fault) bool { return o.name == f.name })
	t, err := p.newTrial(fmt.Sprintf("%s-%d", f.name, run), f.kind, uint64(index*10000+run), "spin.yaml")
	keep := true
	defer func() {
		if ended := t.close(keep); err == nil {
			err = ended
		}
		for _, r := range t.remarks {
			fmt.Printf("%s %s: %s: %s\n", time.Now().Format(time.TimeOnly), f.name, t.folder, r)
		}
	}()
	serve := t.serve
	if f.name == "disk-full" {
		serve = t.inSmallDisk
	}
	steps := []func() error{serve, func() error {
		if f.begin == nil {
			return nil
		}
		return f.begin(t)
	}}
	for range 3 {
		steps = append(steps, func() error { return t.agent(p.ndtune) })
	}
	steps = append(steps, t.awaitAgents, func() error { return t.begin("--iterations", "3") }, func() error { return f.do(t) })
	for _, step := range steps {
		if err == nil {
			err = step()
		}
	}
	if err != nil {
		return nil, err
	}
	t.judge(trialSize, oneRound)
	keep = !t.good()
	return t.counts, nil
}

// awaitAgents waits until the agents have connected.
func (t *trial) awaitAgents() error {
	for range 600 {
		missing := false
		for _, a := range t.agents {
			if a.Over() {
				return fmt.Errorf("%s has ended: see %s", a.Name, t.folder)
			}
			missing = missing || !strings.Contains(a.Output(), "offered:")
		}
		if data, err := exec.Command(t.ndtune, "fleet", "show", "--fleet", t.url(t.near), "--json").Output(); !missing && err == nil && strings.Contains(string(data), "machine") {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("the agents do not come")
}

// oneRound checks that the best configuration is one of the fastest.
func oneRound(r *record.Record) error {
	best := tune.Best(r.Header.Objective, r.Results)
	if best == nil || best.Configuration.Int("rounds") != 1 {
		return fmt.Errorf("the best is %+v", best)
	}
	return nil
}

// faults makes all runs of all faults.
func (p *proof) faults(ctx context.Context) (good bool, err error) {
	if err := p.warm(ctx); err != nil {
		return false, err
	}
	table := &harness.Table{Columns: []string{runs, faulted, lost, twice, failed, hung, wrong, restarts}}
	var some []fault
	for _, f := range allFaults {
		if len(p.only) == 0 || slices.Contains(p.only, f.name) {
			some = append(some, f)
			table.Add(f.name, runs, 0)
		}
	}
	err = harness.Each(ctx, p.atOnce, p.runs*len(some), func(i int) error {
		f, run := some[(i-1)%len(some)], (i-1)/len(some)
		counts, err := p.try(f, run)
		if err != nil {
			fmt.Printf("%s-%d: %v\n", f.name, run, err)
			counts = map[string]int{runs: 1, hung: 1}
		}
		for column, n := range counts {
			table.Add(f.name, column, n)
		}
		return nil
	})
	good = err == nil && ctx.Err() == nil && table.Sum(wrongs...) == 0
	return good, errors.Join(err, table.Print(os.Stdout))
}

// warm fills the driver's cache, so that builds cost little.
func (p *proof) warm(ctx context.Context) error {
	t, err := p.newTrial("warm", "", 0, "spin.yaml")
	if err != nil {
		return err
	}
	defer os.RemoveAll(t.folder)
	c := exec.CommandContext(ctx, p.ndtune, append([]string{"tune", "spin.yaml", "--log", "log.jsonl", "-q"}, p.selected()...)...)
	c.Dir, c.Env = t.folder, append(os.Environ(), t.environment()...)
	c.Stderr = os.Stderr
	return c.Run()
}
