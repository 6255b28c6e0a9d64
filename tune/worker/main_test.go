package worker

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/loop"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// startVariable lets a worker of the tests end before it has begun: see endAtStart.
const startVariable = "NDTUNE_TEST_START"

// TestMain lets the test binary be its own worker.
func TestMain(m *testing.M) {
	if os.Getenv(environment) != "" {
		endAtStart(os.Getenv(startVariable))
	}
	Register("doubling", makeDoubling)
	Register("not the same", func(input string) (definition.Definition, error) {
		return makeDoubling(fmt.Sprint(os.Getpid(), input))
	})
	Register("broken", func(string) (definition.Definition, error) { return definition.Definition{}, fmt.Errorf("it rains") })
	Main()
	if standin.OnSystem() {
		os.Setenv("POCL_DEVICES", "pthread pthread") // the two that share a search
	}
	standin.Use("standin-cpu", "standin-cpu", "standin-gpu", "standin-gpu", "nvidia-h200-cuda")
	os.Exit(m.Run())
}

func endAtStart(how string) {
	switch how {
	case "exit":
		fmt.Fprintln(os.Stderr, "no licence found")
		os.Exit(3)
	case "kill":
		if p, err := os.FindProcess(os.Getpid()); err == nil {
			_ = p.Kill()
		}
		select {}
	case "babble":
		fmt.Println("Hello, I am the driver, and I speak where I should not.")
	}
}

// testDevice is the device that tests run on: NDTUNE_TEST_DEVICE as a selector, else the first CPU.
func testDevice(t testing.TB) device.Listed {
	t.Helper()
	return selectDevice(t, cmp.Or(os.Getenv("NDTUNE_TEST_DEVICE"), "cpu"))
}

// TestDevice is for the tests in worker_test, which import packages above this one.
var TestDevice = testDevice

// deviceFor is the device for an arrangement: of the stand-in's, one for which a pool chooses the arrangement itself.
func deviceFor(t testing.TB, a arrangement) device.Listed {
	t.Helper()
	switch {
	case a == onCUDA:
		return selectDevice(t, "cuda")
	case a == builders && !standin.OnSystem():
		return selectDevice(t, "gpu")
	}
	return testDevice(t)
}

func selectDevice(t testing.TB, selector string) device.Listed {
	t.Helper()
	all, err := device.List()
	if err == nil {
		var l device.Listed
		if l, err = device.Select(all, selector); err == nil {
			return l
		}
	}
	if os.Getenv("NDTUNE_REQUIRE_OPENCL") != "" || !standin.OnSystem() {
		t.Fatal(err)
	}
	t.Skip(err)
	return device.Listed{}
}

func testIdentity(t testing.TB) hardware.Device {
	t.Helper()
	identity, err := device.Describe(testDevice(t).Device)
	if err != nil {
		t.Fatal(err)
	}
	return identity
}

// needPoCL skips a test on other drivers of this system: what its kernels do there is not known.
func needPoCL(t testing.TB) {
	t.Helper()
	if d := testIdentity(t); standin.OnSystem() && (d.Platform != "Portable Computing Language" || d.Type != "cpu") {
		t.Skipf("what this kernel does is known of PoCL on a CPU only, not of %s", d.Name)
	}
}

func mustProblem(t testing.TB, d definition.Definition) *problem.Problem {
	t.Helper()
	p, err := problem.New(d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// An arrangement is how a pool divides the work.
type arrangement string

const (
	whole    arrangement = "whole"    // every worker evaluates, as on a CPU
	builders arrangement = "builders" // some build, one evaluates, as on a GPU
	waiting  arrangement = "waiting"  // as whole, where workers cannot be made to stand still
	onCUDA   arrangement = "CUDA"     // as builders, with the kernel in CUDA C
)

var arrangements = []arrangement{whole, builders, waiting}

// withCUDA returns arrangements, on the stand-in with that for kernels of inBoth.
func withCUDA(all ...arrangement) []arrangement {
	if standin.OnSystem() {
		return all
	}
	return append(slices.Clone(all), onCUDA)
}

// inBoth returns a kernel in both languages: CUDA C is made of OpenCL C by words.
func inBoth(name, openCL string) definition.Kernel {
	words := strings.NewReplacer("__kernel", `extern "C" __global__`, "__global ", "", "ulong", "unsigned long long", "get_global_id(0)", "(blockIdx.x * blockDim.x + threadIdx.x)")
	return definition.Kernel{Name: name, Source: openCL, CUDA: &definition.KernelText{Source: words.Replace(openCL)}}
}

// in returns a problem in the language of a device.
func in(t testing.TB, l device.Listed, p *problem.Problem) *problem.Problem {
	t.Helper()
	p, err := p.In(device.LanguageOf(*l.Identity))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A testPool is a pool whose processes can be told from all others.
type testPool struct {
	*Pool
	mark   string
	output *lines // what its workers print
	notes  []string
	heard  func(event)     // is told of every event before the pool is, one at a time
	killed map[*child]bool // what these still say after their death does not reach the pool

	untapped chan struct{}
}

// tap passes the events of workers on.
func (p *testPool) tap() {
	events := make(chan event)
	p.events = events
	go func() {
		for {
			select {
			case e := <-p.host.Events:
				if p.killed[e.Child] && e.End == nil {
					continue
				}
				if p.heard != nil {
					p.heard(e)
				}
				select {
				case events <- e:
				case <-p.untapped:
					return
				}
			case <-p.untapped:
				return
			}
		}
	}()
}

var marks struct {
	sync.Mutex
	n int
}

const markVariable = "NDTUNE_TEST_MARK"

func nextMark() string {
	marks.Lock()
	defer marks.Unlock()
	marks.n++
	return fmt.Sprintf("%s=%d-%d", markVariable, os.Getpid(), marks.n)
}

// newTestPool is Open, but for the arrangement, and before the first worker is started.
func newTestPool(t testing.TB, a arrangement, p *problem.Problem, o Options, devices ...device.Listed) *testPool {
	t.Helper()
	if len(devices) == 0 {
		devices = []device.Listed{deviceFor(t, a)}
	}
	pool := &testPool{mark: nextMark(), output: &lines{}, killed: map[*child]bool{}, untapped: make(chan struct{})}
	if o.Output == nil {
		o.Output = pool.output
	}
	if o.Note == nil {
		o.Note = func(text string) { pool.notes = append(pool.notes, text) }
	}
	pool.Pool = newPool(devices, in(t, devices[0], p), o)
	pool.host.Environment = []string{pool.mark}
	builds := a == builders || a == onCUDA
	if !standin.OnSystem() && pool.noBuilders == builds {
		t.Fatalf("%s: the pool has chosen another arrangement", a)
	}
	pool.noBuilders, pool.freezes = !builds, a != waiting
	pool.unsafe = builds // so that builders build: on the stand-in no build takes any time
	pool.tap()
	if err := pool.prepare(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		pool.Close()
		close(pool.untapped)
		checkGone(t, pool.mark)
	})
	return pool
}

// openTestPool is newTestPool with its first worker.
func openTestPool(t testing.TB, a arrangement, p *problem.Problem, o Options, devices ...device.Listed) *testPool {
	t.Helper()
	pool := newTestPool(t, a, p, o, devices...)
	if err := pool.openFirst(context.Background()); err != nil {
		t.Fatal(err)
	}
	return pool
}

// run searches all of the pool's space.
func (p *testPool) run(t testing.TB, o loop.Options) *tune.Outcome {
	t.Helper()
	outcome, err := loop.Run(context.Background(), p.problem, p, o)
	if err != nil {
		t.Fatalf("%v\n%s", err, p.output)
	}
	return outcome
}

// lines is a writer that keeps what it gets.
type lines struct {
	mutex sync.Mutex
	b     bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.b.Write(b)
}

func (l *lines) String() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.b.String()
}

func (l *lines) count(what string) int { return strings.Count(l.String(), what) }

func configurationOf(t testing.TB, p *problem.Problem, values map[string]space.Value) space.Configuration {
	t.Helper()
	c, err := p.Parameters().ConfigureFirst(values)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func wantStatus(t testing.TB, what string, r tune.Result, status tune.Status, reason string) {
	t.Helper()
	if r.Status != status || !strings.Contains(r.Reason, reason) {
		t.Errorf("%s: %s %q, want %s with %q", what, r.Status, r.Reason, status, reason)
	}
}

func wantCorrect(t testing.TB, what string, r tune.Result) {
	t.Helper()
	if r.Status != tune.Correct || !r.Verified || len(r.Times)-r.Repeated != definition.DefaultLaunches || r.Stats().Min <= 0 {
		t.Errorf("%s: %s %q, verified %v, times %v", what, r.Status, r.Reason, r.Verified, r.Times)
	}
}

// doublingLength is the number of elements of the doubling problem.
const doublingLength = 1000

// makeDoubling makes a problem whose right output a function computes, which tells that it
// does.
func makeDoubling(input string) (definition.Definition, error) {
	x := make([]float32, doublingLength)
	for i := range x {
		x[i] = float32(i)
	}
	return definition.Definition{
		Kernel: definition.Kernel{Name: "doubling", Source: `
__kernel void doubling(__global float *y, __global const float *x) {
    int i = get_global_id(0);
    if (i < 1000) y[i] = 2 * x[i];
}
// standin: doubling is scale(y, x, 2) over 1000; doubling takes 1000000
// ` + input},
		ProblemSize: []definition.Expr{"1000"},
		Arguments:   []definition.Argument{{Name: "y", Type: "float32", Size: "1000", Output: true}, {Name: "x", Data: x}},
		Parameters: []space.Parameter{
			{Name: "block_size_x", Values: []space.Value{8, 16, 32, 64}},
			{Name: "also", Values: []space.Value{0, 1}},
		},
		Verify: &definition.Verification{Reference: func(in map[string]*array.Array) (map[string]*array.Array, error) {
			fmt.Fprintln(os.Stderr, "the reference is made")
			y := make([]float32, in["x"].Len())
			for i := range y {
				y[i] = float32(2 * in["x"].Float(i))
			}
			return map[string]*array.Array{"y": array.Of(y)}, nil
		}},
	}, nil
}

func doubling(t testing.TB) *problem.Problem {
	t.Helper()
	d, err := makeDoubling("")
	if err != nil {
		t.Fatal(err)
	}
	return mustProblem(t, d)
}

// tiny has a kernel that takes no time, in n configurations. PoCL has built none of them
// unless under this name. Each configuration takes longer than the one before, and on each
// device longer than on the one before.
func tiny(t testing.TB, n int, name string) *problem.Problem {
	t.Helper()
	var values []space.Value
	for i := range n {
		values = append(values, i)
	}
	return mustProblem(t, definition.Definition{
		Kernel: inBoth("tiny", `
__kernel void tiny(__global float *y) { y[get_global_id(0)] = get_global_id(0) + 0 * i; }
// standin: tiny is index(y, 1, 0); tiny takes 2000 + 10 * i + device
// `+name),
		ProblemSize: []definition.Expr{"4"}, BlockSize: [3]definition.Expr{"4"},
		Arguments:  []definition.Argument{{Name: "y", Type: "float32", Size: "4", Output: true}},
		Parameters: []space.Parameter{{Name: "i", Values: values}},
		Verify:     &definition.Verification{Expected: map[string]any{"y": []float32{0, 1, 2, 3}}},
	})
}
