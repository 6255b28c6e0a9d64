package cuda_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/internal/cuda"
	"github.com/ndtune/ndtune/internal/standin"
)

// inChild is set in the processes whose driver and compiler are the stand-in. This one may have the real NVRTC.
const inChild = "NDTUNE_TEST_IN_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(inChild) != "" {
		os.Exit(standin.Main(m, "nvidia-h200-cuda"))
	}
	os.Exit(m.Run())
}

// driverTests are the tests on the stand-in, each with the statements for its driver.
var driverTests = map[string]struct {
	faults string
	test   func(*testing.T, *rig)
}{
	"device":    {"", testDevice},
	"arguments": {"", testArguments},
	"launches":  {"", testLaunches},
	"dynamic":   {"", testDynamicMemory},
	"symbols":   {"", testSymbols},
	"order":     {"device waits", testWaitLists},
	"waiting":   {"device waits", testWaiting},
	"released":  {"", testContextReleasedFirst},
	"lost":      {"", testLostDevice},
	"lazy":      {"device refuses contexts", testNoContextForBuilds},
	"together":  {"", testSideBySide},
	"compiling": {"", testCompilingForAKnownDevice},
}

func TestDriver(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(driverTests)) {
		t.Run(name, func(t *testing.T) {
			if os.Getenv(inChild) != "" {
				driverTests[name].test(t, newRig(t))
				return
			}
			t.Parallel()
			child := exec.Command(os.Args[0], "-test.run", "^TestDriver$/^"+name+"$", "-test.v")
			child.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
				return strings.HasPrefix(v, "STANDIN_") || strings.HasPrefix(v, standin.LibraryVariable+"=")
			}), inChild+"=1", standin.FaultsVariable+"="+driverTests[name].faults)
			if name == "lost" { // it can release nothing, which is no mistake
				child.Env = append(child.Env, standin.ReportVariable+"="+t.TempDir())
			}
			out, err := child.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "--- PASS: TestDriver/"+name) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func TestNoDriver(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the library that is none has this name on Linux")
	}
	for library, words := range map[string]string{"/no/such/library": "names /no/such/library", "libm.so.6": "cuInit: the library lacks"} {
		t.Setenv(cuda.DriverVariable, library)
		_, err := cuda.Open()
		if err == nil || !strings.Contains(err.Error(), words) || !strings.Contains(err.Error(), "apt install nvidia-driver") {
			t.Errorf("%s: %v", library, err)
		}
	}
}

// rig is the device with a context and a queue.
type rig struct {
	*testing.T
	device  *cl.Device
	context *cl.Context
	queue   *cl.Queue
}

func newRig(t *testing.T) *rig {
	p := must(cl.CUDA())(t)
	r := &rig{T: t, device: must(p.Devices(cl.DeviceAll))(t)[0]}
	r.context = must(cl.NewContext(r.device))(t)
	t.Cleanup(r.context.Release)
	r.queue = r.newQueue()
	return r
}

// must is for must(f())(t): it ends the test when f failed.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func (r *rig) newQueue() *cl.Queue {
	q := must(r.context.NewQueue(cl.Profiling))(r)
	r.Cleanup(q.Release)
	return q
}

func (r *rig) buffer(values ...float32) *cl.Buffer {
	r.Helper()
	b := must(r.context.NewBufferFrom(0, cl.Bytes(values)))(r)
	r.Cleanup(b.Release)
	return b
}

func (r *rig) values(b *cl.Buffer) []float32 {
	r.Helper()
	list := make([]float32, b.Size()/4)
	r.check(r.queue.Read(b, 0, cl.Bytes(list)))
	return list
}

func (r *rig) program(source string) *cl.Program {
	r.Helper()
	p := must(r.context.NewProgram(source))(r)
	r.Cleanup(p.Release)
	r.check(p.Build(""))
	return p
}

func (r *rig) kernel(p *cl.Program, name string) *cl.Kernel {
	r.Helper()
	k := must(p.NewKernel(name))(r)
	r.Cleanup(k.Release)
	return k
}

func (r *rig) check(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// launch launches a kernel, and returns the error of its call.
func (r *rig) launch(k *cl.Kernel, global, local []int) error {
	e, err := r.queue.EnqueueKernel(k, nil, global, local)
	e.Release()
	return err
}

// fails checks the status of an error, and that it says some words.
func (r *rig) fails(err error, status cl.Status, words string) {
	r.Helper()
	if !errors.Is(err, status) || !strings.Contains(err.Error(), words) {
		r.Errorf("%v, want %v with %q", err, status, words)
	}
}

func testDevice(t *testing.T, r *rig) {
	p, info := must(r.device.Platform().Info())(t), must(r.device.Info())(t)
	if p.Name != "CUDA" || p.Version != "CUDA 13.0" || info.Version != "CUDA 13.0" || info.Name != "NVIDIA H200" {
		t.Errorf("%+v %+v", p, info)
	}
	if !regexp.MustCompile(`^(CUDA 13\.0|[0-9.]+), NVRTC [0-9]+\.[0-9]+$`).MatchString(info.DriverVersion) {
		t.Errorf("driver %q", info.DriverVersion)
	}
	if info.UUID.String() != "13a0f22d-5b1e-4c07-9d3a-7e6108c4b5f9" || info.PCI.String() != "0000:00:06.0" {
		t.Errorf("%v, %v", info.UUID, info.PCI)
	}
	want := cl.NVIDIAInfo{ComputeCapabilityMajor: 9, RegistersPerBlock: 65536, WarpSize: 32}
	if info.Type != cl.DeviceGPU || *info.NVIDIA != want || info.Images != nil || info.DoubleFP == 0 || !info.HasExtension("cl_khr_fp16") {
		t.Errorf("%+v %+v", info, info.NVIDIA)
	}
	got := []int64{
		int64(info.ComputeUnits), int64(info.MaxClockMHz), int64(info.MaxWorkGroupSize), info.GlobalMemSize, info.MaxAllocSize,
		info.GlobalCacheSize, info.LocalMemSize, info.MaxConstantSize,
	}
	if !slices.Equal(got, []int64{132, 1980, 1024, 150109880320, 150109880320, 52428800, 232448, 65536}) {
		t.Error(got)
	}
	if !slices.Equal(info.MaxWorkItemSizes, []int{1024, 1024, 64}) {
		t.Error(info.MaxWorkItemSizes)
	}
	if cpus := must(r.device.Platform().Devices(cl.DeviceCPU))(t); len(cpus) != 0 {
		t.Errorf("CPUs: %v", cpus)
	}
}

const source = `
// standin: scale is scale(y, x, 2); few is fill(y, 1); few allows 256; staged is fill(y, 2); large is scale(y, weights, 3)
// standin: lost is nothing(); lost loses; slow is nothing(); slow takes 1000000000000000
// standin: greedy is nothing(); greedy fails; brief is nothing(); brief takes 20000000
__constant__ float weights[4];
extern "C" __global__ void scale(float *y, const float *x) { y[threadIdx.x] = 2 * x[threadIdx.x]; }
extern "C" __global__ void few(float *y) { y[threadIdx.x] = 1; }
extern "C" __global__ void staged(float *y, int n) { extern __shared__ float s[]; s[0] = n; y[threadIdx.x] = 2; }
extern "C" __global__ void large(float *y) { y[threadIdx.x] = 3 * weights[threadIdx.x]; }
extern "C" __global__ void lost(float *y) {}
extern "C" __global__ void slow(float *y) {}
extern "C" __global__ void greedy(float *y) {}
extern "C" __global__ void brief(float *y) {}
`

func testArguments(t *testing.T, r *rig) {
	p := r.program(source)
	if names := must(p.KernelNames())(t); !slices.Equal(names, []string{"scale", "few", "staged", "large", "lost", "slow", "greedy", "brief"}) {
		t.Error(names)
	}
	_, err := p.NewKernel("other")
	r.fails(err, cl.InvalidKernelName, "other")
	k := r.kernel(p, "staged")
	if n := must(k.NumArgs())(t); n != 3 {
		t.Errorf("%d arguments with the dynamic shared memory", n)
	}
	r.fails(k.SetArg(1, int64(1)), cl.InvalidArgSize, "8 bytes for a parameter of 4")
	r.fails(k.SetArg(3, int32(1)), cl.InvalidArgIndex, "2 parameters")
	r.fails(k.SetArg(2, int32(1)), cl.InvalidArgIndex, "")
	r.fails(k.SetArg(0, cl.LocalBytes(16)), cl.InvalidArgValue, "extern __shared__")
	static := r.kernel(r.program("// standin: f is nothing()\n__global__ void f(int *x) {}"), "f")
	r.check(static.SetArg(0, (*cl.Buffer)(nil)))
	r.check(static.SetArg(1, cl.LocalBytes(16))) // which it may leave unused
	r.check(r.launch(static, []int{1}, nil))
	r.check(k.SetArg(0, r.buffer(0)))
	r.fails(r.launch(k, []int{1}, []int{1}), cl.InvalidKernelArgs, "parameter 1 is not set")
	// A number that looks like a handle stays a number, and a null pointer is one.
	r.check(k.SetArg(1, int32(1)))
	r.check(k.SetArg(0, (*cl.Buffer)(nil)))
	binary := must(r.context.NewProgramFromBinary(must(p.Binary())(t)))(t)
	t.Cleanup(binary.Release)
	r.check(binary.Build(""))
	x, y := r.buffer(1, 2, 3, 4), r.buffer(0, 0, 0, 0)
	again := r.kernel(binary, "scale")
	r.check(again.SetArgs(y, x))
	r.check(r.launch(again, []int{4}, nil))
	if got := r.values(y); !slices.Equal(got, []float32{2, 4, 6, 8}) {
		t.Error(got)
	}
	_, err = r.context.NewProgramFromBinary([]byte("no binary"))
	r.fails(err, cl.InvalidBinary, "")
}

func testLaunches(t *testing.T, r *rig) {
	p, y := r.program(source), r.buffer(0, 0, 0, 0)
	k, greedy := r.kernel(p, "few"), r.kernel(p, "greedy")
	r.check(k.SetArg(0, y))
	r.check(greedy.SetArg(0, y))
	r.fails(r.launch(greedy, []int{4}, []int{4}), cl.OutOfResources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: too many resources requested for launch")
	if info := must(k.WorkGroupInfo())(t); info.MaxSize != 1024 {
		t.Errorf("before it is on the device: %+v", info)
	}
	for _, c := range []struct {
		global, local []int
		status        cl.Status
		words         string
	}{
		{[]int{1 << 31}, []int{1}, cl.InvalidGlobalWorkSize, "2147483648 blocks in dimension 0, where 1 to 2147483647"},
		{[]int{1, 65536}, []int{1, 1}, cl.InvalidGlobalWorkSize, "65536 blocks in dimension 1, where 1 to 65535"},
		{[]int{1, 1, 65536}, []int{1, 1, 1}, cl.InvalidGlobalWorkSize, "dimension 2"},
		{[]int{0}, []int{1}, cl.InvalidGlobalWorkSize, "0 blocks"},
		{[]int{10}, []int{4}, cl.InvalidWorkGroupSize, "[4]"},
		{[]int{512}, []int{512}, cl.InvalidWorkGroupSize, "512 threads, where at most 256"},
		{[]int{512, 2}, []int{256, 2}, cl.InvalidWorkGroupSize, "512 threads"},
	} {
		r.fails(r.launch(k, c.global, c.local), c.status, c.words)
	}
	_, err := r.queue.EnqueueKernel(k, []int{1}, []int{4}, nil)
	r.fails(err, cl.InvalidGlobalOffset, "offset")
	r.check(r.launch(k, []int{4}, []int{4}))
	if info := must(k.WorkGroupInfo())(t); info.MaxSize != 256 {
		t.Errorf("on the device: %+v", info)
	}
}

func testDynamicMemory(t *testing.T, r *rig) {
	p, y := r.program(source), r.buffer(0, 0)
	k, other := r.kernel(p, "staged"), r.kernel(p, "staged")
	for _, k := range []*cl.Kernel{k, other} {
		r.check(k.SetArgs(y, int32(2)))
	}
	r.check(k.SetArg(2, cl.LocalBytes(100<<10)))
	r.check(r.launch(k, []int{2}, []int{2}))
	// Less for another kernel of the same function takes nothing from the first.
	r.check(other.SetArg(2, cl.LocalBytes(50<<10)))
	r.check(r.launch(other, []int{2}, []int{2}))
	r.check(r.launch(k, []int{2}, []int{2}))
	r.check(k.SetArg(2, cl.LocalBytes(300<<10)))
	for range 2 {
		err := r.launch(k, []int{2}, []int{2})
		r.fails(err, cl.InvalidValue, "CUDA_ERROR_INVALID_VALUE")
		if e, ok := errors.AsType[*cl.Error](err); !ok || e.Call != "cuFuncSetAttribute" {
			t.Errorf("%v", err)
		}
	}
}

// A symbol is written before a launch, and lives as long as anybody uses it.
func testSymbols(t *testing.T, r *rig) {
	p := must(r.context.NewProgram(source))(t)
	r.check(p.Build(""))
	_, err := p.Symbol("other")
	r.fails(err, cl.InvalidKernelName, "CUDA_ERROR_NOT_FOUND")
	weights := must(p.Symbol("weights"))(t)
	if weights.Size() != 16 {
		t.Errorf("%d bytes", weights.Size())
	}
	r.check(r.queue.Write(weights, 0, cl.Bytes([]float32{1, 2, 3, 4})))
	k, y := must(p.NewKernel("large"))(t), r.buffer(0, 0, 0, 0)
	r.check(k.SetArg(0, y))
	r.check(r.launch(k, []int{4}, []int{4}))
	if got := r.values(y); !slices.Equal(got, []float32{3, 6, 9, 12}) {
		t.Error(got)
	}
	k.Release()
	p.Release()
	if got := r.values(weights); !slices.Equal(got, []float32{1, 2, 3, 4}) {
		t.Errorf("after the program: %v", got)
	}
	weights.Release()
}

// A command of one queue waits for that of another, which takes days. So its times are not known, as are those of a command that waits
// for nobody. The process ends with them, since it could release nothing before.
func testWaitLists(t *testing.T, r *rig) {
	k, x := r.kernel(r.program(source), "slow"), r.buffer(1, 2)
	r.check(k.SetArg(0, x))
	slow := must(r.queue.EnqueueKernel(k, nil, []int{2}, []int{2}))(t)
	ended := func(e *cl.Event) bool {
		_, err := e.Profile()
		return !errors.Is(err, cl.ProfilingInfoNotAvailable)
	}
	alone := must(r.newQueue().EnqueueCopy(x, r.buffer(0, 0), 0, 0, 8))(t)
	behind := must(r.newQueue().EnqueueCopy(x, r.buffer(0, 0), 0, 0, 8, nil, slow))(t)
	if ended(slow) || !ended(alone) || ended(behind) {
		fmt.Printf("the slow one has ended: %t, a copy: %t, one that waits: %t\n", ended(slow), ended(alone), ended(behind))
		os.Exit(1)
	}
	fmt.Println("--- PASS: TestDriver/order")
	os.Exit(0)
}

// What waits for a command, or for all of a queue, returns when the times of the command are known.
func testWaiting(t *testing.T, r *rig) {
	k, x := r.kernel(r.program(source), "brief"), r.buffer(1, 2)
	r.check(k.SetArg(0, x))
	for name, wait := range map[string]func(first, last *cl.Event) error{
		"first":  func(first, _ *cl.Event) error { return first.Wait() },
		"last":   func(_, last *cl.Event) error { return last.Wait() },
		"finish": func(_, _ *cl.Event) error { return r.queue.Finish() },
		"write":  func(_, _ *cl.Event) error { return r.queue.Write(x, 0, cl.Bytes([]float32{3})) },
	} {
		first := must(r.queue.EnqueueKernel(k, nil, []int{2}, []int{2}))(t)
		last := must(r.queue.EnqueueKernel(k, nil, []int{2}, []int{2}))(t)
		r.check(wait(first, last))
		if p, err := first.Profile(); err != nil || p.Duration() != 20*time.Millisecond && os.Getenv(standin.Variable) != "system" {
			t.Errorf("%s: %v, %v", name, p.Duration(), err)
		}
		if _, err := last.Profile(); err != nil && name != "first" {
			t.Errorf("%s: %v", name, err)
		}
		first.Release()
		last.Release()
	}
}

// Whatever was made in a context lives on when it is released; the context of the rig is not that of any call here.
func testContextReleasedFirst(t *testing.T, r *rig) {
	for _, make := range []func(*cl.Context) func(){
		func(c *cl.Context) func() { return must(c.NewBufferFrom(0, []byte{1}))(t).Release },
		func(c *cl.Context) func() {
			p := must(c.NewProgram(source))(t)
			r.check(p.Build(""))
			must(p.Symbol("weights"))(t).Release()
			return p.Release
		},
	} {
		c := must(cl.NewContext(r.device))(t)
		release := make(c)
		c.Release()
		release()
	}
}

// After an illegal access, nothing works in this process, in the words of CUDA.
func testLostDevice(t *testing.T, r *rig) {
	const words = "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered"
	k := r.kernel(r.program(source), "lost")
	r.check(k.SetArg(0, r.buffer(0)))
	e := must(r.queue.EnqueueKernel(k, nil, []int{1}, nil))(t)
	t.Cleanup(e.Release)
	r.fails(e.Wait(), -9999, words)
	_, err := r.context.NewBuffer(0, 16)
	r.fails(err, -9999, words)
	r.fails(r.queue.Finish(), -9999, words)
	r.fails(r.launch(k, []int{1}, nil), -9999, words)
}

// A process that compiles needs no context.
func testNoContextForBuilds(t *testing.T, r *rig) {
	p := r.program(source)
	if b := must(p.Binary())(t); !bytes.Contains(b, []byte("staged")) {
		t.Errorf("%d bytes", len(b))
	}
	k := r.kernel(p, "staged")
	must(k.WorkGroupInfo())(t)
	r.check(r.queue.Flush())
	r.check(r.queue.Finish())
	_, err := r.context.NewBuffer(0, 16)
	r.fails(err, cl.MemObjectAllocationFailure, "CUDA_ERROR_OUT_OF_MEMORY")
	r.check(k.SetArgs((*cl.Buffer)(nil), int32(1)))
	r.fails(r.launch(k, []int{1}, nil), cl.MemObjectAllocationFailure, "")
}

// Another process builds the same of what this one knows of the device, and can launch nothing.
func testCompilingForAKnownDevice(t *testing.T, r *rig) {
	info := must(r.device.Info())(t)
	there := cl.ForCompiling(r.device.Known())
	if got := must(there.Info())(t); !reflect.DeepEqual(got, info) {
		t.Errorf("described as %+v, want %+v", *got, *info)
	}
	if got, want := must(there.Platform().Info())(t), must(r.device.Platform().Info())(t); got.Version != want.Version {
		t.Errorf("version %s, want %s", got.Version, want.Version)
	}
	other := &rig{T: t, device: there, context: must(cl.NewContext(there))(t)}
	t.Cleanup(other.context.Release)
	p := other.program(source)
	if !bytes.Equal(must(p.Binary())(t), must(r.program(source).Binary())(t)) {
		t.Error("another binary")
	}
	if got, want := must(other.kernel(p, "staged").WorkGroupInfo())(t), must(r.kernel(r.program(source), "staged").WorkGroupInfo())(t); got.MaxSize != want.MaxSize {
		t.Errorf("work-groups of %d, want %d", got.MaxSize, want.MaxSize)
	}
	_, err := other.context.NewBuffer(0, 16)
	r.fails(err, cl.OutOfResources, "the library lacks this function")
}

// Goroutines share a context, a queue and a program, and release what the others use.
func testSideBySide(t *testing.T, r *rig) {
	p := must(r.context.NewProgram(source))(t)
	r.check(p.Build(""))
	var all sync.WaitGroup
	for i := range 8 {
		k, q := must(p.NewKernel("scale"))(t), r.queue
		if i%2 == 0 {
			q = must(r.context.NewQueue(0))(t)
		}
		all.Go(func() {
			defer k.Release()
			for j := range 50 {
				x, err := r.context.NewBufferFrom(0, cl.Bytes([]float32{float32(i), float32(j)}))
				if err != nil {
					t.Error(err)
					return
				}
				y := must(r.context.NewBuffer(0, 8))(t)
				if err := k.SetArgs(y, x); err != nil {
					t.Error(err)
				}
				first, err := q.EnqueueKernel(k, nil, []int{2}, []int{2})
				if err != nil {
					t.Error(err)
				}
				last, err := r.queue.EnqueueCopy(y, x, 0, 0, 8, first)
				if err != nil {
					t.Error(err)
				}
				if err := errors.Join(first.Wait(), last.Wait()); err != nil {
					t.Error(err)
				}
				got := make([]float32, 2)
				if err := r.queue.Read(x, 0, cl.Bytes(got)); err != nil || got[0] != float32(2*i) || got[1] != float32(2*j) {
					t.Errorf("%d, %d: %v, %v", i, j, got, err)
				}
				_, err = last.Profile()
				if err != nil {
					t.Error(err)
				}
				for _, o := range []interface{ Release() }{first, last, x, y} {
					o.Release()
				}
			}
			if q != r.queue {
				q.Release()
			}
		})
	}
	p.Release()
	all.Wait()
}
