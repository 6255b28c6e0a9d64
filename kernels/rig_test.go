package kernels_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/kernels"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
)

// long says whether the long tests were asked for.
var long = os.Getenv("NDTUNE_LONG") != ""

// needKernels skips a test that compiles or simulates kernels for long. The tests of this package never run on the stand-in.
func needKernels(t *testing.T) {
	t.Helper()
	if os.Getenv("NDTUNE_KERNELS") == "" && !long {
		t.Skip("make test-kernels runs it")
	}
}

// A trial is one launch of a kernel whose result is known.
type trial interface {
	fmt.Stringer

	// check builds and launches the kernel on data of that seed between guards, and
	// compares all that it may have touched. The error is errTooLarge where the device
	// does not take the launch.
	check(r *rig, seed uint64) error
}

// noDevice will do for the bundled specs: they ask for no more than its compute units.
var noDevice = hardware.Device{ComputeUnits: 2}

// errTooLarge: a limit of the device, for which no kernel can be blamed.
var errTooLarge = errors.New("the device does not take a launch of this size")

// A rig launches kernels on a device.
type rig struct {
	device  *cl.Device // nil: kernels in CUDA C run on the CPU
	info    *cl.DeviceInfo
	context *cl.Context
	queue   *cl.Queue
	guard   int // floats before and behind each buffer
}

// guardFloats are 4096 bytes, so that a buffer behind them is aligned as any
// device wants it.
const guardFloats = 1024

// newRig makes a rig on the first GPU, or else the first device. Without one the
// test is skipped, or fails where NDTUNE_REQUIRE_OPENCL is set.
func newRig(t *testing.T) *rig {
	t.Helper()
	devices, err := cl.Devices(cl.DeviceAll)
	if err != nil {
		if os.Getenv("NDTUNE_REQUIRE_OPENCL") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	device := devices[0]
	for _, d := range devices {
		if info, err := d.Info(); err == nil && info.Type&cl.DeviceGPU != 0 {
			device = d
			break
		}
	}
	info, err := device.Info()
	if err != nil {
		t.Fatal(err)
	}
	context, err := cl.NewContext(device)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(context.Release)
	queue, err := context.NewQueue(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(queue.Release)
	return &rig{device, info, context, queue, guardFloats}
}

// run checks the trials. It fails at the first that is wrong, and when the device takes
// none of them.
func (r *rig) run(t *testing.T, trials []trial) {
	t.Helper()
	done := 0
	for i, trial := range trials {
		err := trial.check(r, uint64(i))
		switch {
		case errors.Is(err, errTooLarge):
			continue
		case err != nil:
			t.Fatalf("%v: %v", trial, err)
		}
		done++
	}
	if done == 0 && len(trials) > 0 {
		t.Errorf("the device takes none of %d launches", len(trials))
	}
}

// A launch is a kernel, built, and its index space.
type launch struct {
	source, kernel string
	options        string
	global, local  []int
}

// run launches the kernel on buffers with the content of data, each with its guards. It
// returns them as they are afterwards.
func (l launch) run(r *rig, data ...[]float32) (after [][]float32, err error) {
	items := 1
	for _, n := range l.local {
		items *= n
	}
	if items > r.info.MaxWorkGroupSize {
		return nil, errTooLarge
	}
	if r.device == nil {
		return l.emulate(r, data)
	}
	program, err := r.context.NewProgram(l.source)
	if err != nil {
		return nil, err
	}
	defer program.Release()
	if err := program.Build(l.options); err != nil {
		return nil, err
	}
	kernel, err := program.NewKernel(l.kernel)
	if err != nil {
		return nil, err
	}
	defer kernel.Release()
	if info, err := kernel.WorkGroupInfo(); err == nil && info.LocalMem > r.info.LocalMemSize {
		return nil, errTooLarge
	}

	whole := make([]*cl.Buffer, len(data))
	for i, content := range data {
		if whole[i], err = r.context.NewBufferFrom(cl.ReadWrite, cl.Bytes(content)); err != nil {
			return nil, err
		}
		defer whole[i].Release()
		inner, err := whole[i].Sub(cl.ReadWrite, 4*r.guard, 4*(len(content)-2*r.guard))
		if err != nil {
			return nil, err
		}
		defer inner.Release()
		if err := kernel.SetArg(i, inner); err != nil {
			return nil, err
		}
	}
	event, err := r.queue.EnqueueKernel(kernel, nil, l.global, l.local)
	if err != nil {
		return nil, err
	}
	defer event.Release()
	if err := event.Wait(); err != nil {
		return nil, err
	}
	for i, content := range data {
		after = append(after, make([]float32, len(content)))
		if err := r.queue.Read(whole[i], 0, cl.Bytes(after[i])); err != nil {
			return nil, err
		}
	}
	return after, nil
}

// builds says whether the device's compiler takes the source with these options.
func (r *rig) builds(t *testing.T, source, options string) bool {
	t.Helper()
	program, err := r.context.NewProgram(source)
	if err != nil {
		t.Fatal(err)
	}
	defer program.Release()
	return program.Build(options) == nil
}

// guarded returns n numbers between guards. All are NaN, which shows in whatever is
// computed from them.
func (r *rig) guarded(n int) []float32 {
	s := make([]float32, n+2*r.guard)
	for i := range s {
		s[i] = float32(math.NaN())
	}
	return s
}

// inner is what lies between the guards.
func (r *rig) inner(s []float32) []float32 { return s[r.guard : len(s)-r.guard] }

// strayed says where a launch has written outside of the buffer before became after.
func (r *rig) strayed(before, after []float32) error {
	for i := range before {
		at := i - r.guard
		if (at < 0 || at >= len(before)-2*r.guard) && math.Float32bits(before[i]) != math.Float32bits(after[i]) {
			return fmt.Errorf("written at %d of a buffer of %d", at, len(before)-2*r.guard)
		}
	}
	return nil
}

func readKernel(t *testing.T, path string) string {
	t.Helper()
	source, err := fs.ReadFile(kernels.FS, path)
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}

// included is a kernel with the files that it includes.
func included(t *testing.T, path string) string {
	t.Helper()
	read := func(path string) ([]byte, error) { return fs.ReadFile(kernels.FS, path) }
	source, err := source.ResolveIncludes(read, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// load reads a bundled spec, with other constants and other values of its parameters.
func load(t *testing.T, path string, set map[string]string, parameters map[string][]string) *problem.Problem {
	t.Helper()
	s, err := spec.LoadFS(kernels.FS, path, spec.Options{Set: set, Parameters: parameters})
	if err != nil {
		t.Fatal(err)
	}
	return s.Problem
}

// configurations are all of a problem, in an order that the seed decides.
func configurations(t *testing.T, p *problem.Problem, seed uint64) []space.Configuration {
	t.Helper()
	s, _, err := p.SpaceWithoutDevice(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	list := make([]space.Configuration, s.Len())
	for i, at := range rand.New(rand.NewPCG(seed, 3)).Perm(s.Len()) {
		list[i] = s.At(at)
	}
	return list
}

// sampled are as many configurations of a problem, drawn with that seed; all where count
// is 0, or there are no more.
func sampled(t *testing.T, p *problem.Problem, seed uint64, count int) []space.Configuration {
	t.Helper()
	s, _, err := p.SpaceWithoutDevice(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if count == 0 || s.Len() <= count {
		return configurations(t, p, seed)
	}
	random := rand.New(rand.NewPCG(seed, 5))
	list := make([]space.Configuration, count)
	for i := range list {
		list[i] = s.At(random.IntN(s.Len()))
	}
	return list
}

// launchOf is how a problem is launched in a configuration, with as many work-groups in
// each dimension as it has, and spare ones.
func launchOf(t *testing.T, p *problem.Problem, c space.Configuration, spare int) launch {
	t.Helper()
	v, err := p.Variant(c, noDevice)
	if err != nil {
		t.Fatal(err)
	}
	local, global := v.Launches[0].NDRange.WorkGroup(), v.Launches[0].NDRange.Global()
	for i := range global {
		global[i] += spare * local[i]
	}
	return launch{v.Source, p.KernelName(), strings.Join(v.Options, " "), global, local}
}
