//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/record"
)

// A fault is done to a search while it runs.
type fault struct {
	name  string
	kinds []string             // of servers, in turn
	begin func(t *trial) error // before the agents start; nil: nothing
	do    func(t *trial) error // returns when nothing more happens
}

var single = []string{embedded, separate}

var allFaults = []fault{
	{"agents-killed", single, nil, killAgents},
	{"agents-stopped-shortly", single, nil, func(t *trial) error { return t.stopAgents(time.Second, 10*time.Second) }},
	{"agents-stopped-for-long", single, nil, func(t *trial) error { return t.stopAgents(22*time.Second, 30*time.Second) }},
	{"search-killed", single, nil, killSearch},
	{"connections-cut", single, withProxies, cutConnections},
	{"server-killed", single, nil, killServer},
	{"one-of-3-servers-killed", []string{cluster}, nil, killServer},
	{"disk-full", single, nil, fillDisk},
	{"another-version", single, nil, otherVersion},
}

// killAgents kills some agents. If none is left, another one starts.
func killAgents(t *trial) error {
	if !t.moment() {
		return nil
	}
	n := 1 + t.IntN(len(t.agents))
	for _, i := range t.Perm(len(t.agents))[:n] {
		t.agents[i].kill()
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
	signal := (*program).signal
	if t.IntN(2) == 0 {
		signal = (*program).family
	}
	for _, a := range some {
		signal(a, syscall.SIGSTOP)
	}
	t.pause(from, to)
	for _, a := range some {
		a.family(syscall.SIGCONT)
	}
	return nil
}

// killSearch kills the search up to three times, and goes on with it.
func killSearch(t *trial) error {
	for range 1 + t.IntN(3) {
		if t.IntN(10) == 0 { // perhaps before it has begun
			t.pause(0, 500*time.Millisecond)
			t.faults++
		} else if !t.moment() {
			return nil
		}
		t.search.kill()
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
	s.kill()
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
	filler := filepath.Join(fmt.Sprintf("/proc/%d/root", t.disk.command.Process.Pid), t.folder, "store", "filler")
	f, err := os.Create(filler)
	if err != nil {
		return err
	}
	for size := 1 << 20; size > 0; { // ever smaller pieces, until there is no room for a byte
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	f.Close()
	t.pause(time.Second, 6*time.Second)
	if err := os.Remove(filler); err != nil {
		return err
	}
	select {
	case <-t.search.ended:
		return nil
	case <-s.ended:
	case <-time.After(10 * time.Second):
		s.end(20 * time.Second)
	}
	t.restarts++
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
	if err := os.MkdirAll(store, 0o755); err != nil {
		return err
	}
	disk, err := launch(t.folder, "disk", "unshare", nil, "-rm", "sh", "-c", `mount -t tmpfs -o size=160m none "$1" && echo ready && exec sleep 3600`, "sh", store)
	if err != nil {
		return err
	}
	t.disk = disk
	for range 500 {
		if data, _ := os.ReadFile(filepath.Join(t.folder, "disk.out")); strings.Contains(string(data), "ready") {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	s := &server{port: port()}
	s.start = func() (err error) {
		arguments := []string{"--preserve-credentials", "-U", "-m", "-t", fmt.Sprint(disk.command.Process.Pid)}
		if t.kind == embedded {
			arguments = append(arguments, t.ndtune, "fleet", "serve", "--listen", address(s.port), "--store", store)
		} else {
			arguments = append(arguments, t.nats, "-a", "127.0.0.1", "-p", fmt.Sprint(s.port), "-js", "-sd", store)
		}
		if s.program, err = launch(t.folder, "server", "nsenter", nil, arguments...); err != nil {
			return err
		}
		return s.await()
	}
	t.servers = []*server{s}
	return s.start()
}

// try makes one run.
func (p *proof) try(f fault, run int) (v verdict, err error) {
	place := slices.IndexFunc(allFaults, func(o fault) bool { return o.name == f.name })
	t, err := p.newTrial(fmt.Sprintf("%s-%d", f.name, run), f.kinds[run%len(f.kinds)], uint64(place*10000+run), "spin.yaml")
	keep := true
	defer func() {
		if ended := t.close(keep); err == nil {
			err = ended
		}
		for _, r := range t.remarks {
			fmt.Printf("%s %s: %s: %s\n", time.Now().Format(time.TimeOnly), f.name, t.folder, r)
		}
	}()
	if err == nil {
		if f.name == "disk-full" {
			err = t.inSmallDisk()
		} else {
			err = t.serve()
		}
	}
	if err == nil && f.begin != nil {
		err = f.begin(t)
	}
	for i := 0; i < 3 && err == nil; i++ {
		err = t.agent(p.ndtune)
	}
	if err == nil {
		err = t.awaitAgents()
	}
	if err == nil {
		err = t.begin("--iterations", "3")
	}
	if err == nil {
		err = f.do(t)
	}
	if err != nil {
		return v, err
	}
	v = t.judge(trialSize, oneRound)
	keep = !v.good()
	return v, nil
}

// awaitAgents waits until the agents have connected.
func (t *trial) awaitAgents() error {
	for range 600 {
		missing := false
		for _, a := range t.agents {
			if a.over() {
				return fmt.Errorf("%s has ended: see %s", a.name, t.folder)
			}
			data, _ := os.ReadFile(filepath.Join(t.folder, a.name+".err"))
			missing = missing || !strings.Contains(string(data), "offered:")
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
	type task struct {
		fault
		run int
	}
	tasks := make(chan task)
	var mutex sync.Mutex
	verdicts := map[string]*verdict{}
	var all sync.WaitGroup
	var some []fault
	for _, f := range allFaults {
		if len(p.only) == 0 || slices.Contains(p.only, f.name) {
			some = append(some, f)
			verdicts[f.name] = &verdict{}
		}
	}
	for range p.atOnce {
		all.Go(func() {
			for k := range tasks {
				v, failed := p.try(k.fault, k.run)
				mutex.Lock()
				if failed != nil {
					fmt.Printf("%s-%d: %v\n", k.name, k.run, failed)
					v = verdict{runs: 1, hung: 1}
				}
				verdicts[k.name].add(v)
				mutex.Unlock()
			}
		})
	}
	for i := range p.runs {
		for _, f := range some {
			select {
			case tasks <- task{f, i}:
			case <-ctx.Done():
			}
		}
	}
	close(tasks)
	all.Wait()
	good = ctx.Err() == nil
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "fault\truns\tfaults\tlost\ttwice\tfailed\thung\twrong best\trestarts\t")
	for _, f := range allFaults {
		if v := verdicts[f.name]; v != nil {
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", f.name, v.runs, v.faults, v.lost, v.twice, v.failed, v.hung, v.wrong, v.restarts)
			good = good && v.good()
		}
	}
	return good, w.Flush()
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
