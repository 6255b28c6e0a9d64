package worker

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/loop"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// hostileSource fills y, and does something else besides. Each mode has a scratch buffer of
// its own size, so that the buffer is released when another configuration follows, and a
// counter that a launch finds as the launch before has left it, but that a configuration
// finds at 0. Those that corrupt the heap are slow, and so are not measured at the end.
const hostileSource = `
// standin: hostile is index(y, 1, 0); hostile takes mode == fastest ? 10000 : mode == corrupts_heap || mode == corrupts_it_too ? 400000 : 100000
// standin: build waits 25; build hangs when mode == hangs_building
// standin: hostile hangs when mode == loops || mode == loops_later && launch > 1
// standin: hostile crashes apart when mode == wild_store; hostile traps when mode == traps
// standin: hostile spoils when mode == corrupts_heap || mode == corrupts_it_too; hostile prints "@long@" when mode == prints
// standin: hostile loses when mode == loses
#if mode == hangs_building
#include <@fifo@>
#endif

__kernel
__attribute__((reqd_work_group_size(mode == requires_another_group ? 7 : 64, 1, 1)))
void hostile(__global float *y, volatile __global int *counter, __global ulong *scratch) {
    int i = get_global_id(0);
#if mode == loops
    if (i == 0) while (counter[0] >= 0) ;
#endif
#if mode == loops_later
    if (i == 0 && counter[0]++ > 0) while (counter[0] > 0) ;
#endif
#if mode == wild_store
    if (i == 0) *(volatile __global int *)0x10 = 1;
#endif
#if mode == traps
    if (i == 0) __builtin_trap();
#endif
#if mode == corrupts_heap || mode == corrupts_it_too
    if (i == 0) scratch[-1] |= 2; // glibc takes it for a mapping of its own when it frees it, and aborts
#endif
#if mode == prints
    if (i == 0) for (int n = 0; n < printed_lines; n++) printf("%04d @long@\n", n);
#endif
    const int rounds = mode == fastest ? 1000 : mode == corrupts_heap || mode == corrupts_it_too ? 40000 : 10000;
    float sum = 0;
    for (int n = 0; n < rounds; n++) sum += counter[1]; // is 0
    y[i] = i + sum;
}
`

// The modes, in the order in which they are evaluated: innocents among the others.
const (
	fastest      = 9   // an innocent one
	printedLines = 400 // on PoCL, a launch: more than a pipe holds
	printedLine  = 200 // characters
)

var hostileModes = []string{
	"", "corrupts_heap", "", "", "", "hangs_building", "loops", "", "wild_store", "", // the last is the fastest
	"prints", "loops_later", "", "traps", "", "requires_another_group", "", "corrupts_it_too", "", "loses", "", "", "", "",
}

// hostile has some of the modes, or all.
func hostile(t testing.TB, modes ...int) *problem.Problem {
	t.Helper()
	fifo := filepath.Join(t.TempDir(), "nobody-writes.h")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	source := strings.NewReplacer("@fifo@", fifo, "@long@", strings.Repeat("x", printedLine-5)).Replace(hostileSource)
	const n = 256
	y := make([]float32, n)
	for i := range y {
		y[i] = float32(i)
	}
	d := definition.Definition{
		Kernel:      inBoth("hostile", source),
		Constants:   []definition.Constant{{Name: "fastest", Value: fastest}, {Name: "printed_lines", Value: printedLines}},
		ProblemSize: []definition.Expr{definition.Expr(fmt.Sprint(n))},
		BlockSize:   [3]definition.Expr{"64"},
		Arguments: []definition.Argument{
			{Name: "y", Type: "float32", Size: definition.Expr(fmt.Sprint(n)), Output: true},
			{Name: "counter", Type: "int32", Size: "16"},
			{Name: "scratch", Type: "uint64", Size: "4096 + 512 * mode"},
		},
		Verify: &definition.Verification{Expected: map[string]any{"y": y}},
	}
	var values []space.Value
	for i, name := range hostileModes {
		if len(modes) == 0 || slices.Contains(modes, i) {
			values = append(values, i)
		}
		if name != "" {
			d.Constants = append(d.Constants, definition.Constant{Name: name, Value: i})
		}
	}
	d.Parameters = []space.Parameter{{Name: "mode", Values: values}}
	if standin.OnSystem() { // on a busy machine, times do not say which kernels are slow
		d.Metrics = []definition.Metric{{Name: "rank", Expression: "mode == fastest ? 1 : mode == corrupts_heap || mode == corrupts_it_too ? 3 : 2"}}
		d.Objective = score.Objective{Name: "rank"}
	}
	return mustProblem(t, d)
}

// hostileTimeout is long enough for a build on a busy machine. The kernel that loops takes all of
// it.
func hostileTimeout() time.Duration {
	if standin.OnSystem() {
		return 15 * time.Second
	}
	return 2 * time.Second
}

// TestHostileKernels runs a search over kernels that do all that a kernel must not do. Workers
// that cannot be made to stand still are among them with NDTUNE_LONG=1.
func TestHostileKernels(t *testing.T) {
	needPoCL(t)
	for _, a := range withCUDA(arrangements...) {
		if a == waiting && os.Getenv("NDTUNE_LONG") == "" {
			continue
		}
		t.Run(string(a), func(t *testing.T) {
			t.Parallel()
			searchHostile(t, a, 2)
		})
	}
}

// TestHostileKernelsOnPoCL has the worst of them do what they do to a real driver.
func TestHostileKernelsOnPoCL(t *testing.T) {
	if !standin.OnPoCL(t) {
		return
	}
	needPoCL(t)
	var modes []int
	for _, name := range []string{"corrupts_heap", "prints", "loops_later", "traps"} {
		modes = append(modes, slices.Index(hostileModes, name))
	}
	searchHostile(t, whole, 1, append(modes, 2, fastest, 18)...)
}

// searchHostile searches some of the modes, or all. A single worker meets the corrupted heap of the configuration before.
func searchHostile(t *testing.T, a arrangement, workers int, modes ...int) {
	trace := filepath.Join(t.TempDir(), "trace")
	p := hostile(t, modes...)
	o := Options{Workers: workers, BuildTimeout: hostileTimeout(), KernelTimeout: 600 * time.Millisecond}
	overdue := "a launch took longer than 600ms (--kernel-timeout)"
	if a == builders || a == onCUDA || standin.OnSystem() { // PoCL prints slowly on a busy machine
		o.KernelTimeout, overdue = time.Minute, "a launch took longer than 1s: 20 times the best's time, and at least 1s"
	}
	pool := newTestPool(t, a, p, o)
	pool.unsafe = false
	pool.host.Environment = append(pool.host.Environment, traceVariable+"="+trace)
	outcome := pool.run(t, loop.Options{Finalists: 3, OnResult: func(r tune.Result, _ bool) {
		t.Logf("%2d %-22s %-11s %8.3f ms  %.300s", r.Configuration.Int("mode"), hostileModes[r.Configuration.Int("mode")], r.Status, r.Time(), r.Reason)
	}})
	if want := p.Parameters().At(0).Values; len(outcome.Results) != len(want) || outcome.Stop != tune.Exhausted {
		t.Fatalf("%d results, stopped: %s", len(outcome.Results), outcome.Stop)
	}
	for _, r := range outcome.Results {
		checkHostile(t, r, overdue)
	}
	if best := outcome.Best; best == nil || best.Configuration.Int("mode") != fastest || len(best.Final) == 0 {
		t.Errorf("the best is %+v", best)
	}
	checkSecondChances(t, trace)
	most := 1
	if standin.OnSystem() {
		most = printedLines
	}
	if n := pool.output.count(strings.Repeat("x", printedLine-5)); n < most*definition.DefaultLaunches {
		t.Errorf("%d lines of the kernel that prints were shown, want %d a launch", n, most)
	}
	for line := range strings.Lines(pool.output.String()) {
		if !strings.HasPrefix(line, "worker ") {
			t.Errorf("a line does not say whose it is: %.100s", line)
			break
		}
	}
}

func checkHostile(t *testing.T, r tune.Result, overdue string) {
	t.Helper()
	switch what := hostileModes[r.Configuration.Int("mode")]; what {
	case "", "prints":
		wantCorrect(t, what+" "+r.Configuration.Key(), r)
	case "corrupts_heap", "corrupts_it_too": // it may be found out before it has ended itself
		if r.Status != tune.Runtime {
			wantCorrect(t, what, r)
		}
	case "hangs_building":
		wantStatus(t, what, r, tune.Timeout, fmt.Sprintf("the build took longer than %s (--build-timeout)", hostileTimeout()))
	case "loops":
		want := strings.Replace(overdue, "a launch", "the first launch", 1)
		if standin.OnSystem() {
			want = fmt.Sprintf("the build and the first launch took longer than %s (--build-timeout)", hostileTimeout())
		}
		wantStatus(t, what, r, tune.Timeout, want)
	case "loops_later":
		wantStatus(t, what, r, tune.Timeout, overdue)
	case "wild_store":
		wantStatus(t, what, r, tune.Runtime, "the process ended by signal SIGSEGV (segmentation")
		wantStatus(t, what, r, tune.Runtime, "twice, in the first launch")
	case "traps":
		wantStatus(t, what, r, tune.Runtime, "the process ended by signal SIGILL (illegal instruction), twice, in the first launch")
	case "loses":
		if !standin.OnSystem() {
			wantStatus(t, what, r, tune.Runtime, "illegal ")
		}
	case "requires_another_group":
		wantStatus(t, what, r, tune.Constraints, "requires a work-group of 7×1×1")
	}
	if strings.Contains(r.Reason, "goroutine ") {
		t.Errorf("the reason holds a dump: %s", r.Reason)
	}
	if r.Status != tune.Constraints && r.Durations.Total() <= 0 {
		t.Errorf("%s took no time: %+v", r.Configuration, r.Durations)
	}
}

// checkSecondChances reads from the trace of the workers that some innocent was evaluated
// twice, in two processes, and that no kernel was that is known not to return.
func checkSecondChances(t *testing.T, trace string) {
	t.Helper()
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	processes := map[int][]int{} // by mode
	for line := range strings.Lines(string(text)) {
		var pid, mode int
		if _, err := fmt.Sscanf(line, "%d evaluate mode=%d", &pid, &mode); err == nil {
			processes[mode] = append(processes[mode], pid)
		}
	}
	victims := 0
	for mode, pids := range processes {
		if slices.Sort(pids); len(slices.Compact(slices.Clone(pids))) != len(pids) {
			t.Errorf("mode %d was evaluated twice in one process: %v", mode, pids)
		}
		switch what := hostileModes[mode]; {
		case what == "" && len(pids) == 2:
			victims++
		case what == "wild_store" || what == "traps":
			if len(pids) < 2 {
				t.Errorf("%s had %d chances", what, len(pids))
			}
		case len(pids) > 2:
			t.Errorf("mode %d (%s) was evaluated %d times", mode, what, len(pids))
		}
	}
	if victims == 0 {
		t.Errorf("the corrupted heap brought no innocent down: this tests no second chance\n%s", text)
	}
}

// TestRemeasureFindsTheGuiltyOne measures innocents again together with a kernel that spoils
// the process for whichever comes next.
func TestRemeasureFindsTheGuiltyOne(t *testing.T) {
	t.Parallel()
	needPoCL(t)
	p := hostile(t)
	pool := openTestPool(t, whole, p, Options{Workers: 1})
	var all []space.Configuration
	for _, mode := range []int{2, slices.Index(hostileModes, "corrupts_heap"), 3, slices.Index(hostileModes, "traps"), 4} {
		all = append(all, configurationOf(t, p, map[string]space.Value{"mode": mode}))
	}
	times, err := pool.Remeasure(context.Background(), "", all, 3, false)
	if err != nil || len(times) != len(all) {
		t.Fatal(times, err)
	}
	for i, want := range []int{3, 0, 3, 0, 3} {
		if len(times[i].Times) != want {
			t.Errorf("%s has the times %v, want %d", all[i], times[i], want)
		}
	}
}

// TestTheReferenceIsNotToBlame begins with kernels that destroy the heap, in processes that have
// to make the right output as well.
func TestTheReferenceIsNotToBlame(t *testing.T) {
	t.Parallel()
	needPoCL(t)
	reference := definition.Definition{
		Kernel:      definition.Kernel{Name: "right", Source: `__kernel void right(__global float *y) { y[get_global_id(0)] = 1; } // standin: right is fill(y, 1)`},
		ProblemSize: []definition.Expr{"64"}, BlockSize: [3]definition.Expr{"64"},
		Arguments:  []definition.Argument{{Name: "y", Type: "float32", Size: "64", Output: true}},
		Parameters: []space.Parameter{{Name: "only", Values: []space.Value{1}}},
	}
	p := mustProblem(t, definition.Definition{
		Kernel: definition.Kernel{Name: "destroys", Source: `
__kernel void destroys(__global float *y, volatile __global ulong *scratch) {
    int i = get_global_id(0);
    y[i] = 1;
    if (i == 0 && mode < 2) for (int n = 0; n < 8192; n++) scratch[64 + 512 + n] = 0x4141414141414141;
}
// standin: destroys is fill(y, 1); destroys spoils when mode < 2`},
		ProblemSize: []definition.Expr{"64"}, BlockSize: [3]definition.Expr{"64"},
		Arguments: []definition.Argument{
			{Name: "y", Type: "float32", Size: "64", Output: true},
			{Name: "scratch", Type: "uint64", Size: "64"},
		},
		Parameters: []space.Parameter{{Name: "mode", Values: []space.Value{0, 1, 2, 3}}},
		Verify:     &definition.Verification{Problem: &reference, Configuration: map[string]space.Value{"only": 1}},
	})
	o := openTestPool(t, whole, p, Options{Workers: 1}).run(t, loop.Options{Finalists: -1})
	for _, r := range o.Results {
		if mode := r.Configuration.At(0).(int); mode >= 2 {
			wantCorrect(t, r.Configuration.String(), r)
		} else {
			t.Log(r.Configuration, r.Status, r.Reason)
		}
	}
	if len(o.Results) != 4 {
		t.Errorf("%d results", len(o.Results))
	}
}

// TestAReferenceThatCrashesEndsTheRun with the last words of the driver, and with an advice.
func TestAReferenceThatCrashesEndsTheRun(t *testing.T) {
	t.Parallel()
	d := definition.Definition{
		Kernel:      definition.Kernel{Name: "k", Source: `__kernel void k(__global float *y) { y[get_global_id(0)] = 1; } // standin: k is fill(y, 1)`},
		ProblemSize: []definition.Expr{"64"},
		Arguments:   []definition.Argument{{Name: "y", Type: "float32", Size: "64", Output: true}},
		Parameters:  []space.Parameter{{Name: "block_size_x", Values: []space.Value{16, 32}}},
	}
	reference := d
	reference.Kernel.Source = `
// standin: k is nothing(); k complains "Assertion failed: no such register"; k crashes
__kernel void k(__global float *y) { *(volatile __global int *)0x10 = 1; }`
	d.Verify = &definition.Verification{Problem: &reference, Configuration: map[string]space.Value{"block_size_x": 16}}
	p := mustProblem(t, d)
	_, err := loop.Run(t.Context(), p, openTestPool(t, whole, p, Options{Workers: 1}), loop.Options{})
	if err == nil || !strings.Contains(err.Error(), "(try ndtune check with the specification of the reference)") || !strings.Contains(err.Error(), "; it printed last: ") ||
		!standin.OnSystem() && !strings.Contains(err.Error(), "Assertion failed: no such register") {
		t.Error(err)
	}
}
