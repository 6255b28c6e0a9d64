package cl_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/internal/standin"
)

// TestMain lets a test start this binary again as a small program of its own, to see what
// another environment does.
func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		child()
		return
	}
	if onCUDA() {
		os.Exit(standin.Main(m, "standin-cpu", "nvidia-h200-cuda"))
	}
	os.Exit(standin.Main(m))
}

// onPoCL are the tests that need a compiler or what the stand-in leaves out. TestOnPoCL runs them in one process.
var onPoCL = []string{
	// kernels that it does not know, of every type of argument
	"TestDerivedAndRawArguments", "TestNullBuffer", "TestLocalMemory",
	"TestLaunchOverThreeDimensions", "TestKernelsSideBySide",
	// the log of a compiler, programs from binaries, the loader
	"TestBuildFailure", "TestBinaryRoundTrip", "TestNoPlatform",
	// samplers, images
	"TestReleaseTwice", "TestReleaseConcurrently",
	"TestSupportedImageFormats", "TestImage2D", "TestImage3D",
	"TestImagesAndSamplersInKernels", "TestImageRanges", "TestImageOfABuffer",
}

// longOnPoCL is those for make test-long, which runs all tests of this package on PoCL.
var longOnPoCL = []string{"TestEveryArgumentType"}

func TestOnPoCL(t *testing.T) {
	if standin.OnSystem() || onCUDA() {
		t.Skip("all tests run on the system's drivers, or on CUDA")
	}
	if left := standin.RunOnPoCL(t, onPoCL...); len(left) > 0 {
		t.Errorf("not passed on PoCL: %v", left)
	}
}

// onCUDA reports whether these tests run on the platform CUDA.
func onCUDA() bool { return os.Getenv("NDTUNE_TEST_PLATFORM") == "cuda" }

// testsOnCUDA are the tests that run on the platform CUDA as well: by TestOnCUDA on the stand-in, and by
// NDTUNE_TEST_PLATFORM=cuda NDTUNE_TEST_OPENCL=system on a card.
var testsOnCUDA = []string{
	"TestRefusedArguments",
	"TestBufferRoundTrip", "TestBufferRanges", "TestSubBuffer", "TestCopy",
	"TestContextReleasedFirst",
	"TestProfile", "TestProfileNotAvailable", "TestFlushAndFinish", "TestOutOfOrder", "TestFailedCommand",
	"TestNumArgs", "TestWorkGroupInfo", "TestBadLaunches",
	"TestBuildOptions", "TestKernelNames", "TestBinaryRoundTrip", "TestUnbuiltProgram",
	"TestReleaseTwice", "TestReleaseConcurrently", "TestLaunchWithReleasedBuffer", "TestReleaseBeforeEnd",
	"TestVariableOfAProgram",
}

// testsOnCard are those with kernels that the stand-in does not know.
var testsOnCard = []string{"TestNullBuffer", "TestLocalMemory", "TestKernelsSideBySide"}

func TestOnCUDA(t *testing.T) {
	if standin.OnSystem() || onCUDA() {
		t.Skip("it starts the tests on the stand-in")
	}
	test := exec.Command(os.Args[0], "-test.run", "^("+strings.Join(testsOnCUDA, "|")+")$", "-test.v")
	test.Env = append(os.Environ(), "NDTUNE_TEST_PLATFORM=cuda", standin.LibraryVariable+"=", standin.ReportVariable+"=")
	out, err := test.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, name := range testsOnCUDA {
		if !strings.Contains(string(out), "--- PASS: "+name+" ") {
			t.Errorf("%s has not passed on CUDA", name)
		}
	}
}

// rig is what nearly every test needs: the first GPU, or else the first device, a context
// and an in-order queue with profiling.
type rig struct {
	t       testing.TB
	device  *cl.Device
	info    *cl.DeviceInfo
	context *cl.Context
	queue   *cl.Queue
}

func newRig(t testing.TB) *rig {
	t.Helper()
	if !standin.OnSystem() && !onCUDA() && (slices.Contains(onPoCL, t.Name()) || slices.Contains(longOnPoCL, t.Name())) {
		t.Skip("it runs on PoCL: see TestOnPoCL and make test-long")
	}
	_, isTest := t.(*testing.T) // benchmarks run everywhere
	if isTest && onCUDA() && !slices.Contains(testsOnCUDA, t.Name()) && !(standin.OnSystem() && slices.Contains(testsOnCard, t.Name())) {
		t.Skip("it runs on OpenCL, or on a card, only")
	}
	device := testDevice(t)
	context := must(cl.NewContext(device))(t)
	t.Cleanup(context.Release)
	queue := must(context.NewQueue(cl.Profiling))(t)
	t.Cleanup(queue.Release)
	return &rig{t: t, device: device, info: must(device.Info())(t), context: context, queue: queue}
}

func testDevice(t testing.TB) *cl.Device {
	t.Helper()
	devices, err := cl.Devices(cl.DeviceAll)
	if onCUDA() {
		devices, err = must(cl.CUDA())(t).Devices(cl.DeviceAll)
	}
	if err != nil {
		if os.Getenv("NDTUNE_REQUIRE_OPENCL") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	for _, d := range devices {
		if info, err := d.Info(); err == nil && info.Type&cl.DeviceGPU != 0 {
			return d
		}
	}
	return devices[0]
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

func (r *rig) check(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// done waits for a command and releases its event.
func (r *rig) done(e *cl.Event, err error) {
	r.t.Helper()
	r.check(err)
	defer e.Release()
	r.check(e.Wait())
}

// event is a command whose event is released at the end of the test.
func (r *rig) event(e *cl.Event, err error) *cl.Event {
	r.t.Helper()
	r.check(err)
	r.t.Cleanup(e.Release)
	return e
}

func (r *rig) buffer(data []byte) *cl.Buffer {
	r.t.Helper()
	b := must(r.context.NewBufferFrom(cl.ReadWrite, data))(r.t)
	r.t.Cleanup(b.Release)
	return b
}

func (r *rig) read(b *cl.Buffer) []byte {
	r.t.Helper()
	data := make([]byte, b.Size())
	r.check(r.queue.Read(b, 0, data))
	return data
}

func (r *rig) program(source, options string) *cl.Program {
	r.t.Helper()
	p := must(r.context.NewProgram(r.source(source)))(r.t)
	r.t.Cleanup(p.Release)
	r.check(p.Build(options))
	return p
}

func (r *rig) kernel(source, name string) *cl.Kernel {
	r.t.Helper()
	k := must(r.program(source, "").NewKernel(name))(r.t)
	r.t.Cleanup(k.Release)
	return k
}

// source returns a source of these tests in the language of the platform: CUDA C is made of OpenCL C by words.
func (r *rig) source(text string) string {
	if !onCUDA() {
		return text
	}
	text = strings.NewReplacer("kernel __attribute__((reqd_work_group_size(4, 2, 1)))", `extern "C" __global__ REQUIRES(reqd_work_group_size(4, 2, 1))`,
		"kernel void", `extern "C" __global__ void`, "global ", "", "local int l[256]", "__shared__ int l[256]", "restrict", "__restrict__",
		", local int *l) { *out = v; l[0] = v; }", ") { extern __shared__ int l[]; *out = v; l[0] = v; }",
		", local int *tile) {", ") { extern __shared__ int tile[];", "barrier(CLK_LOCAL_MEM_FENCE)", "__syncthreads()",
		"barrier(1)", "__syncthreads()", ", sampler_t s", "").Replace(text)
	return `#define REQUIRES(reqd_work_group_size) __block_size__((4, 2, 1)) // the stand-in reads the one, NVRTC the other
		#define DIMENSION(of) (d == 0 ? of.x : d == 1 ? of.y : of.z)
		static __device__ unsigned get_local_id(int d) { return DIMENSION(threadIdx); }
		static __device__ unsigned get_local_size(int d) { return DIMENSION(blockDim); }
		static __device__ unsigned get_global_id(int d) { return DIMENSION(blockIdx) * get_local_size(d) + get_local_id(d); }
		static __device__ unsigned get_global_size(int d) { return DIMENSION(gridDim) * get_local_size(d); }
	` + text
}

// pattern is bytes that are all different from their neighbours.
func pattern(n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i*7 + i>>8)
	}
	return data
}

// skipSimulator skips what Oclgrind cannot do.
func (r *rig) skipSimulator(why string) {
	r.t.Helper()
	if r.simulated() {
		r.t.Skipf("%s: %s", r.device, why)
	}
}

// simulated reports whether the device is Oclgrind's, which is not exact about errors.
func (r *rig) simulated() bool { return r.device.Platform().String() == "Oclgrind" }
