package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ndtune/ndtune/internal/foreign"
	"github.com/ndtune/ndtune/internal/standin"
)

// A settingsRig runs searches that change settings of the stand-in for NVIDIA's management library, which writes each change into a
// named pipe.
type settingsRig struct {
	folder      string
	calls       *workerTrace
	environment []string
}

const tunedClock = `kernel: {name: k, source: "__kernel void k(__global int *y) { for (int i = 0; i < 100000; i++) y[get_global_id(0)] += i ^ block_size_x; } // standin: k is increment(y, 1); k takes 1e9"}
problem_size: 16
arguments: [{name: y, type: int32, size: 16, output: true}]
parameters: {block_size_x: [4, 8], clock: [345, 990, 1980], watts: [300]}
measure: {settings: {clock: clock, power_limit: watts}, launches: 3}
`

// Configurations that differ in settings alone have one program: the settings are no macros. Elsewhere, clock is that of the stand-in's device.
const noMacro = standin.FaultsVariable + `=build fails "error: a setting is a macro" when clock != 2000`

func newSettingsRig(t *testing.T) *settingsRig {
	t.Helper()
	foreign.Require(t, "gcc")
	r := &settingsRig{folder: t.TempDir()}
	library := filepath.Join(r.folder, "libnvidia-ml.so.1")
	if out, err := exec.Command("gcc", "-shared", "-fPIC", "-o", library, "../../tune/observe/testdata/nvml.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(r.folder, "k.yaml"), []byte(tunedClock), 0o666); err != nil {
		t.Fatal(err)
	}
	r.calls = followWorkers(t, r.folder, "calls")
	r.environment = []string{standInVariable + "=1", "NDTUNE_NVML_LIBRARY=" + library, "STAND_IN_CALLS=" + r.calls.path, noMacro}
	return r
}

func (r *settingsRig) start(t *testing.T, more []string, arguments ...string) *runningProgram {
	t.Helper()
	return startSearch(t, r.folder, append(more, r.environment...), arguments...)
}

// untilClock waits until a search has locked the clock at a frequency.
func (r *settingsRig) untilClock(mhz int) {
	for {
		if c := r.calls.next(1); c.what == "clock" && strings.HasPrefix(c.configuration, fmt.Sprint(mhz)+" ") {
			return
		}
	}
}

// all returns the changes until now, and the processes that made them.
func (r *settingsRig) all(t *testing.T) (changes string, processes map[int]bool) {
	t.Helper()
	if _, err := fmt.Fprintln(r.calls.pipe, "1 end 0"); err != nil {
		t.Fatal(err)
	}
	processes = map[int]bool{}
	for {
		c := r.calls.next(1)
		if c.what == "end" {
			return changes, processes
		}
		number, _, _ := strings.Cut(c.configuration, " ")
		changes += c.what + " " + number + "; "
		processes[c.pid] = true
	}
}

// left returns the number of files that say what to restore.
func (r *settingsRig) left() int {
	paths, _ := filepath.Glob(filepath.Join(r.folder, "state", "ndtune", "settings", "*.txt"))
	return len(paths)
}

const restored = "reset-clock 0; limit 700000; "

// TestSettingsOfASearch tunes the clock as a parameter. Nothing is changed without the flag, without the right, or to a value that the
// device does not permit; and all is restored.
func TestSettingsOfASearch(t *testing.T) {
	needDevice(t)
	r := newSettingsRig(t)
	for _, c := range []struct {
		name, want  string
		environment []string
		arguments   []string
	}{
		{"without the flag", "ndtune: the specification changes settings of the device (measure.settings: clock, power_limit): allow it with --allow settings; they are restored at the end", nil, []string{"tune", "k.yaml"}},
		{"a clock that is not permitted", "ndtune: k.yaml:5:21: measure.settings: clock=1000, watts=300: clock 1000 MHz: the device permits 110 clocks from 345 to 1980 MHz at a memory clock of 3201 MHz; next to this value 990 and 1005", nil,
			[]string{"tune", "k.yaml", "--allow", "settings", "-p", "clock=345,1000"}},
		{"without the right", "ndtune: measure.settings: clock: nvmlDeviceResetGpuLockedClocks: the driver lets only an administrator change this setting", []string{"STAND_IN_USER=1"}, []string{"tune", "k.yaml", "--allow", "settings"}},
		{"another device", "ndtune: measure.settings: ndtune can change settings of NVIDIA GPUs only", []string{standInVariable + "="}, []string{"run", "k.yaml", "--allow", "settings", "-p", "clock=345", "-p", "block_size_x=4"}},
	} {
		s := startSearch(t, r.folder, append(r.environment, c.environment...), c.arguments...)
		e := s.end()
		if changes, _ := r.all(t); e.status != 2 || !strings.Contains(e.notes, c.want) || changes != "" || r.left() > 0 {
			t.Errorf("%s: exit status %d, changes %q, %d files\n%s", c.name, e.status, changes, r.left(), e.notes)
		}
	}

	s := r.start(t, nil, "tune", "k.yaml", "--allow", "settings", "--log", "k.jsonl", "-o", "k.csv", "--workers", "1")
	parent := s.command.Process.Pid
	e := s.end()
	changes, processes := r.all(t)
	if e.status != 0 || !strings.HasPrefix(changes, restored) || !strings.HasSuffix(changes, restored) || r.left() > 0 || len(processes) != 1 || !processes[parent] {
		t.Errorf("exit status %d, changes %q by %v, the program is %d, %d files\n%s", e.status, changes, processes, parent, r.left(), e.notes)
	}
	for _, mhz := range []string{"345", "990", "1980"} {
		if !strings.Contains(changes, "clock "+mhz+"; ") || strings.Count(e.out, "clock="+mhz+", watts=300, time=") < 2 {
			t.Errorf("a clock of %s MHz: changes %q, results\n%s", mhz, changes, e.out)
		}
	}
	if strings.Count(changes, "limit 300000; ") != 1 {
		t.Errorf("the limit changes although it is always the same: %q", changes)
	}
	if all := keptIn(t, r.folder, "k.jsonl"); len(all) != 6 {
		t.Errorf("the log has %d configurations", len(all))
	}
	if strings.Contains(e.out, "-D clock") || !strings.Contains(e.out, "build options: -D block_size_x=") {
		t.Errorf("the build options are\n%s", e.out)
	}

	e = r.start(t, nil, "run", "k.yaml", "--allow", "settings", "--workers", "0", "-p", "clock=990", "-p", "block_size_x=4").end()
	if changes, _ := r.all(t); e.status != 0 || changes != restored+"clock 990; limit 300000; "+restored+restored {
		t.Errorf("one configuration: exit status %d, changes %q\n%s", e.status, changes, e.notes)
	}
}

// TestSettingsAfterAnEnd kills a worker while it measures, interrupts a search, lets a change fail, and kills a search.
func TestSettingsAfterAnEnd(t *testing.T) {
	needDevice(t)
	search := []string{"tune", "k.yaml", "--allow", "settings", "--workers", "1", "--strategy", "brute_force"}
	for _, c := range []struct {
		name        string
		environment []string
		end         func(*runningProgram)
		status      int
	}{
		{"a worker is killed", nil, func(s *runningProgram) {
			for _, pid := range s.workers() {
				s.kill(pid)
			}
		}, 0},
		{"Ctrl-C", nil, func(s *runningProgram) { s.signal(syscall.SIGINT) }, 130},
		{"a change fails", []string{"STAND_IN_FAILS=1980"}, func(s *runningProgram) {}, 3},
		{"the search is killed", nil, func(s *runningProgram) { _ = s.command.Process.Kill() }, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newSettingsRig(t)
			s := r.start(t, c.environment, search...)
			r.untilClock(990)
			c.end(s)
			e := s.end()
			changes, _ := r.all(t)
			if c.status >= 0 {
				if e.status != c.status || !strings.HasSuffix(changes, restored) || r.left() > 0 {
					t.Errorf("exit status %d, changes %q, %d files\n%s", e.status, changes, r.left(), e.notes)
				}
				return
			}
			if strings.Contains(changes, "reset") || r.left() != 1 {
				t.Errorf("the killed search has made the changes %q and left %d files", changes, r.left())
			}
			const smi = "nvidia-smi -i GPU-01020304-0506-0708-090a-0b0c0d0e0f10 "
			said := fmt.Sprintf("A process of ndtune, %d, was killed while it had changed clock and power_limit of ", s.command.Process.Pid)
			commands := ": an administrator restores them by " + smi + "--reset-gpu-clocks; " + smi + "--power-limit=700; then remove "
			for _, again := range []struct {
				arguments []string
				status    int
			}{{[]string{"devices"}, 0}, {search, 2}} { // another search would take the changed limit for that from before
				e = r.start(t, nil, again.arguments...).end()
				if changes, _ := r.all(t); e.status != again.status || changes != "" || r.left() != 1 || !strings.Contains(e.notes, said) || !strings.Contains(e.notes, commands) {
					t.Errorf("%v: exit status %d, changes %q, %d files\n%s%s", again.arguments, e.status, changes, r.left(), e.out, e.notes)
				}
			}
		})
	}
}

// TestSettingsOfAnAgent lets an agent change settings, which it restores as soon as it has nothing to do, though it goes on. An agent without
// the flag refuses.
func TestSettingsOfAnAgent(t *testing.T) {
	needDevice(t)
	r := newSettingsRig(t)
	url := fleetOf(t)
	agent := func(flags ...string) *runningProgram {
		a := startProgram(t, r.folder, r.environment, append([]string{"agent", "--fleet", url, "--device", needDevice(t).Selector}, flags...)...)
		a.await("^offered: ")
		return a
	}
	search := []string{"tune", "k.yaml", "--allow", "settings", "--fleet", url, "--agents", "1", "-p", "clock=345,990"}
	refuses := agent("--name", "refuses")
	e := r.start(t, nil, search...).end()
	changes, _ := r.all(t)
	if want := "changes settings of the device (clock, power_limit), and the agent was not started with --allow settings"; e.status != 3 || !strings.Contains(e.notes, want) {
		t.Errorf("exit status %d\n%s", e.status, e.notes)
	}
	a := agent("--name", "allows", "--allow", "settings")
	e = r.start(t, nil, search...).end()
	after, processes := r.all(t)
	if changes != "" || e.status != 0 || !strings.Contains(after, "clock 345; ") || !strings.Contains(after, "clock 990; ") || !strings.HasSuffix(after, restored) || len(processes) != 1 || !processes[a.command.Process.Pid] {
		t.Errorf("exit status %d; changes %q, then %q by %v\n%s", e.status, changes, after, processes, e.notes)
	}
	for _, p := range []*runningProgram{refuses, a} {
		p.signal(syscall.SIGINT)
		p.end()
	}
	if r.left() > 0 {
		t.Errorf("%d files are left", r.left())
	}
}
