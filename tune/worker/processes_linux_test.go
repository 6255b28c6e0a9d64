package worker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/loop"
	"github.com/ndtune/ndtune/tune/space"
)

// TestBinariesAreCarried has a source that includes a file which can be read only once: it is
// a pipe. Only one worker can compile it; where the driver has no cache, the other one needs
// the binary.
func TestBinariesAreCarried(t *testing.T) {
	if !standin.OnPoCL(t) {
		return
	}
	needPoCL(t)
	for carried, timeout := range map[bool]time.Duration{true: DefaultBuildTimeout, false: 6 * time.Second} {
		if !carried && os.Getenv("NDTUNE_LONG") == "" {
			continue // it waits for the time-out
		}
		fifo := filepath.Join(t.TempDir(), "once.h")
		if err := unix.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		p := mustProblem(t, definition.Definition{
			Kernel:      definition.Kernel{Name: "k", Source: "#include <" + fifo + ">\n__kernel void k(__global int *y) { y[get_global_id(0)] = ONCE; }\n"},
			ProblemSize: []definition.Expr{"16"}, BlockSize: [3]definition.Expr{"16"},
			Arguments:  []definition.Argument{{Name: "y", Type: "int32", Size: "16", Output: true}},
			Parameters: []space.Parameter{{Name: "i", Values: []space.Value{0}}},
			Verify:     &definition.Verification{Expected: map[string]any{"y": []int32{7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7}}},
		})
		pool := newTestPool(t, builders, p, Options{Workers: 1, BuildTimeout: timeout})
		pool.carry.binaries = carried
		pool.host.Environment = append(pool.host.Environment, "POCL_KERNEL_CACHE=0")
		written := make(chan error, 1)
		go func() { written <- os.WriteFile(fifo, []byte("#define ONCE 7\n"), 0o600) }() // waits for a reader
		r := pool.run(t, loop.Options{Finalists: -1}).Results[0]
		if err := <-written; err != nil {
			t.Fatal(err)
		}
		if carried {
			wantCorrect(t, "carried", r)
		} else {
			wantStatus(t, "compiled twice", r, tune.Timeout, "the build took longer than 6s (--build-timeout)")
		}
	}
}

// TestBinariesOfCUDAAreCarried: what a builder has compiled is not compiled again, from the first configuration on.
func TestBinariesOfCUDAAreCarried(t *testing.T) {
	t.Parallel()
	if standin.OnSystem() {
		t.Skip("the stand-in tells of every build")
	}
	pool := openTestPool(t, onCUDA, tiny(t, 8, "\n// standin: build complains \"compiled anew\""), Options{Workers: 2, Iterations: 1})
	for _, r := range pool.run(t, loop.Options{Finalists: -1}).Results {
		wantStatus(t, "carried", r, tune.Correct, "")
	}
	pool.Close() // all that was printed is there
	if n := pool.output.count("compiled anew"); n != 8 {
		t.Errorf("8 configurations were compiled %d times\n%s", n, pool.output)
	}
}

// TestNoCacheIsFoundOut lets a pool find out that the driver keeps nothing: each build takes as long as the one before.
func TestNoCacheIsFoundOut(t *testing.T) {
	t.Parallel()
	needPoCL(t)
	n := carrySlow
	if standin.OnSystem() {
		n = 10 // other processes disturb some
	}
	pool := newTestPool(t, builders, tiny(t, n, "cached 0\n// standin: build waits 100"), Options{Workers: 1, Iterations: 1})
	pool.host.Environment = append(pool.host.Environment, "POCL_KERNEL_CACHE=0")
	for _, r := range pool.run(t, loop.Options{Finalists: -1}).Results {
		wantStatus(t, "not cached", r, tune.Correct, "")
	}
	if !pool.carry.binaries {
		t.Error("without a cache the pool carries no binaries")
	}
}

// TestWorkersStandStill looks at the state of a worker as the system sees it.
func TestWorkersStandStill(t *testing.T) {
	t.Parallel()
	pool := openTestPool(t, whole, faulty(t, faultNone), Options{Workers: 1})
	m := pool.members[0]
	now := time.Now()
	for range 3 {
		m.freeze(now)
		m.freeze(now)
		waitForState(t, m.child.PID(), "T")
		m.thaw(now)
		m.thaw(now)
		waitForState(t, m.child.PID(), "RSD")
	}
	if o := pool.run(t, loop.Options{}); len(o.Results) != 1 || o.Results[0].Status != tune.Correct || pool.Started() != 1 {
		t.Errorf("after it: %+v", o.Results)
	}
	m.freeze(now) // Close thaws it
}

// waitForState looks until a process is in one of some states. The system has no event for
// this but for the parent, which here is the pool.
func waitForState(t *testing.T, pid int, states string) {
	t.Helper()
	state := ""
	for deadline := time.Now().Add(watchdog); time.Now().Before(deadline); {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		if state = rest[:1]; strings.Contains(states, state) {
			return
		}
	}
	t.Errorf("the process is in state %s, want one of %s", state, states)
}

// TestWorkersEndWithTheirParent runs itself again as a parent, and kills it: its workers are
// idle, frozen, in a launch that never ends, or wait for a program of the user's, which does not look at its input.
func TestWorkersEndWithTheirParent(t *testing.T) {
	const again = "NDTUNE_TEST_PARENT"
	if what := os.Getenv(again); what != "" {
		beParent(t, what)
		return
	}
	t.Parallel()
	needPoCL(t)
	for _, what := range []string{"idle", "frozen", "looping", "judging"} {
		family := "NDTUNE_TEST_FAMILY=" + nextMark() // the pool of the parent makes a mark of its own
		command := exec.Command(os.Args[0], "-test.run=^TestWorkersEndWithTheirParent$")
		command.Env = append(os.Environ(), again+"="+what, family)
		out, err := command.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		worker := 0
		for worker == 0 && lines.Scan() {
			if number, ok := strings.CutPrefix(lines.Text(), "the worker is "); ok {
				worker, _ = strconv.Atoi(number)
			}
		}
		if worker == 0 {
			t.Fatalf("%s: the parent ended", what)
		}
		processes := 2
		if what == "judging" {
			processes = 3
		}
		pids := marked(family) // its program may start a little later, and has no environment while it does
		for deadline := time.Now().Add(watchdog); len(pids) < processes && time.Now().Before(deadline); pids = marked(family) {
			runtime.Gosched()
		}
		if len(pids) < processes {
			t.Errorf("%s: the processes are %v, want the parent and the worker %d", what, pids, worker)
		}
		_ = command.Process.Kill()
		_ = command.Wait()
		waitForEnd(t, worker)
		checkGone(t, family)
	}
}

// beParent says which process its worker is, and waits to be killed.
func beParent(t *testing.T, what string) {
	p, stage, fault := faulty(t), device.StageFirstLaunch, faultLoop
	if what == "judging" {
		d := p.Definition()
		d.Verify = &definition.Verification{Command: &definition.Command{Args: []string{"sleep", "1000"}, Timeout: time.Hour}}
		p, stage, fault = mustProblem(t, d), device.StageVerify, faultNone
	}
	pool := newTestPool(t, whole, p, Options{Workers: 1})
	number := make(chan int, 1)
	pool.heard = func(e event) {
		if s := e.Answer.Stage; s != nil && s.Stage == stage {
			number <- e.Child.PID()
		}
	}
	if err := pool.openFirst(context.Background()); err != nil {
		t.Fatal(err)
	}
	m := pool.members[0]
	switch what {
	case "frozen":
		m.freeze(time.Now())
		waitForState(t, m.child.PID(), "T")
		fallthrough
	case "idle":
		fmt.Printf("the worker is %d\n", m.child.PID())
		select {}
	}
	go func() { fmt.Printf("the worker is %d\n", <-number) }()
	c := configurationOf(t, pool.problem, map[string]space.Value{"fault": fault})
	in := make(chan space.Configuration, 1)
	in <- c
	t.Fatal(pool.Evaluate(context.Background(), in, nil))
}

// TestOutputIsShownOnlyWhereWanted has kernels print a line, with and without Output.
func TestOutputIsShownOnlyWhereWanted(t *testing.T) {
	t.Parallel()
	needPoCL(t)
	p := mustProblem(t, definition.Definition{
		Kernel: definition.Kernel{Name: "k", Source: `
__kernel void k(__global int *y) {
    y[0] = 1;
    printf("the value is %d\n", i);
    if (i == 2) *(volatile __global int *)0x10 = 1;
}
// standin: k is set(y, 0, 1); k crashes apart when i == 2
// standin: k prints "the value is 1" when i == 1; k prints "the value is 3" when i == 3`},
		ProblemSize: []definition.Expr{"1"}, BlockSize: [3]definition.Expr{"1"},
		Arguments:  []definition.Argument{{Name: "y", Type: "int32", Size: "1"}},
		Parameters: []space.Parameter{{Name: "i", Values: []space.Value{1, 2, 3}}},
	})
	for _, shown := range []bool{true, false} {
		pool := newTestPool(t, whole, p, Options{Workers: 1, Iterations: 2})
		if !shown {
			pool.host.Output = nil
		}
		o := pool.run(t, loop.Options{Finalists: -1})
		pool.Close()
		for i, want := range []int{0, 4, 0, 4} {
			if !shown {
				want = 0
			}
			if got := pool.output.count(fmt.Sprintf(": the value is %d\n", i)); got < want || (want == 0 && got > 0 && i != 2) {
				t.Errorf("shown: %v: the kernel %d is heard %d times, want %d", shown, i, got, want)
			}
		}
		for _, r := range o.Results {
			if i := r.Configuration.Int("i"); i != 2 {
				wantStatus(t, r.Configuration.Key(), r, tune.Correct, "")
			} else {
				wantStatus(t, "dies", r, tune.Runtime, "SIGSEGV")
			}
		}
	}
}

// TestCloseEndsWhatHangs closes a pool whose worker hangs although it has nothing to do.
func TestCloseEndsWhatHangs(t *testing.T) {
	t.Parallel()
	pool := openTestPool(t, whole, faulty(t, faultNone), Options{Workers: 1})
	pid := pool.members[0].child.PID()
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil { // of which the pool does not know
		t.Fatal(err)
	}
	pool.Close()
	if err := unix.Kill(pid, 0); !errors.Is(err, unix.ESRCH) {
		t.Errorf("the worker is there after Close: %v", err)
	}
}
