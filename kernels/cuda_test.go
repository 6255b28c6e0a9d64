package kernels_test

import (
	"bytes"
	_ "embed"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/internal/foreign"
	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/kernels"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/source"
)

//go:embed testdata/emulate.cpp
var emulator string

// newEmulator makes a rig without a device, which runs kernels in CUDA C block by block on the CPU.
func newEmulator(t *testing.T) *rig {
	t.Helper()
	foreign.Require(t, "g++")
	return &rig{info: &cl.DeviceInfo{MaxWorkGroupSize: 1024, LocalMemSize: 48 << 10}, guard: guardFloats}
}

// emulate runs the kernel on the CPU. Accesses outside of an array in shared memory end it.
func (l launch) emulate(r *rig, data [][]float32) (after [][]float32, err error) {
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	var defines, undefines string
	for _, option := range strings.Split(l.options, "-D ")[1:] {
		name, value, _ := strings.Cut(strings.TrimSpace(option), "=")
		defines += fmt.Sprintf("#define %s %s\n", name, value)
		undefines += fmt.Sprintf("#undef %s\n", name)
	}
	program := filepath.Join(folder, "kernel")
	build := exec.Command("g++", "-x", "c++", "-std=c++17", "-O1", "-ffp-contract=off", "-w",
		"-fsanitize=bounds", "-fsanitize-undefined-trap-on-error", "-o", program, "-")
	build.Stdin = strings.NewReader(emulator + defines + "#line 1\n" + l.source + undefines +
		"int main(int argc, char **argv) { return emulate(" + l.kernel + ", argv); }\n")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	run := exec.Command(program)
	var in []byte
	for i := range l.local {
		run.Args = append(run.Args, strconv.Itoa(l.global[i]/l.local[i]))
	}
	for _, n := range l.local {
		run.Args = append(run.Args, strconv.Itoa(n))
	}
	run.Args = append(run.Args, strconv.Itoa(4*r.guard))
	for _, content := range data {
		run.Args, in = append(run.Args, strconv.Itoa(4*len(content))), append(in, cl.Bytes(content)...)
	}
	run.Stdin, run.Stderr = bytes.NewReader(in), os.Stderr
	out, err := run.Output()
	if err == nil && len(out) != len(in) {
		err = fmt.Errorf("%d bytes come back of %d", len(out), len(in))
	}
	if err != nil {
		return nil, err
	}
	for _, content := range data {
		after = append(after, make([]float32, len(content)))
		out = out[copy(cl.Bytes(after[len(after)-1]), out):]
	}
	return after, nil
}

// inCUDA returns the source in CUDA C of a bundled specification.
func inCUDA(t *testing.T, path string) string {
	t.Helper()
	p, err := load(t, path, nil, nil).In(source.CUDA)
	if err != nil {
		t.Fatal(err)
	}
	v, err := p.Variant(configurations(t, p, 1)[0], noDevice)
	if err != nil {
		t.Fatal(err)
	}
	return v.Source
}

// cudaProducts are launches of a matrix multiplication in CUDA C, also in configurations that only a user's specification would have.
func cudaProducts(t *testing.T, k matmulKernel, count, odd int) []trial {
	t.Helper()
	trials := k.products(t, k.shapes(), nil, count, 3)
	if k.odd != nil {
		trials = append(trials, k.products(t, k.shapes(), k.odd, odd, 4)...)
	}
	for i := range trials {
		p := trials[i].(product)
		p.source = inCUDA(t, k.spec())
		trials[i] = p
	}
	return trials
}

// TestCUDALogic runs the kernels in CUDA C on the CPU, for sizes and blocks of all kinds, and compares them with loops in double
// precision. NDTUNE_LONG=1 makes it thirty times as long.
func TestCUDALogic(t *testing.T) {
	needKernels(t)
	t.Parallel() // to the simulators
	r := newEmulator(t)
	count := 3
	if long {
		count = 100
	}
	for _, name := range diffusionKernels {
		t.Run("diffuse_"+name, func(t *testing.T) {
			r.run(t, diffusionLaunches(count, inCUDA(t, "diffusion/diffuse_"+name+".yaml"), name == "tiled", r.info))
		})
	}
	t.Run("diffuse_stencil", func(t *testing.T) {
		var trials []trial
		for _, neighbours := range []map[string][]string{
			{"neighbours": {"cached"}, "block_size_x": {"1", "3", "8", "32"}, "rows": {"1", "2", "3", "8"}, "unroll_rows": {"1", "2", "3"}},
			{"neighbours": {"shuffle_nv"}, "block_size_x": {"32", "64"}, "rows": {"1", "2", "4"}, "unroll_rows": {"1", "2"}},
		} {
			trials = append(trials, fastDiffusions(t, "stencil", fastFields, everyShape, neighbours, 2*count, false)...)
		}
		source := inCUDA(t, fastDiffusionSpec("stencil"))
		for i := range trials {
			l := trials[i].(fastDiffusion)
			l.source = source
			trials[i] = l
		}
		r.run(t, trials)
	})
	for _, k := range matmulKernels {
		if k.sample > 0 || k.element != "" && k.element != "float" {
			continue // in OpenCL C only
		}
		t.Run("matmul_"+k.String(), func(t *testing.T) { r.run(t, cudaProducts(t, k, count, count-1)) })
	}
}

// TestCUDALogicNoticesFaults shows that the emulator would have noticed a barrier or a bound that is missing.
func TestCUDALogicNoticesFaults(t *testing.T) {
	needKernels(t)
	t.Parallel()
	r := newEmulator(t)
	diffusion := func(name string) trial {
		return diffusionLaunch{source: inCUDA(t, "diffusion/diffuse_"+name+".yaml"), nx: 40, ny: 20, blockX: 16, blockY: 4, tileX: 1, tileY: 1, spare: 1}
	}
	product := func(name string) trial {
		p := oneProduct(name)(t)[0].(product)
		p.source = inCUDA(t, "matmul/matmul_"+name+".yaml")
		return p
	}
	for _, fault := range []struct {
		in             trial
		takeOut, putIn string
	}{
		{diffusion("naive"), "x < nx - 1", "true"},
		{diffusion("local"), "__syncthreads();", ""},
		{diffusion("local"), "y < ny - 1", "true"},
		{diffusion("tiled"), "__syncthreads();", ""},
		{diffusion("tiled"), "j < patch_x + 2)", "true)"},
		{product("naive"), "i < size", "i <= size"},
		{product("local"), "still use these.\n        __syncthreads();", ""},
		{product("tiled"), "still use this one.\n        __syncthreads();", ""},
		{product("tiled"), "top + i < size && first + tx < size", "true"},
		{product("bounds_naive"), "i < k", "i <= k"},
		{product("bounds_tiled"), "still use these.\n        __syncthreads();", ""},
		{product("bounds_tiled"), "(row < m && column < n)", "true"},
	} {
		if err := without(t, fault.in, fault.takeOut, fault.putIn).check(r, 1); err == nil {
			t.Errorf("%v: nobody notices %q in the place of %q", fault.in, fault.putIn, fault.takeOut)
		} else if strings.Contains(err.Error(), "error:") {
			t.Errorf("%v: %v", fault.in, err)
		}
	}
}

// TestCUDACompiles compiles the kernels in CUDA C, and whatever their references are, by the real NVRTC, in some configurations: without any warning.
// NDTUNE_LONG=1 takes thirty times as many. The device is the stand-in's, since NVRTC needs none.
func TestCUDACompiles(t *testing.T) {
	if os.Getenv(standin.NVRTCVariable) == "" {
		t.Skip("needs NVRTC: make test-nvrtc")
	}
	folder, err := standin.Folder()
	if err != nil {
		t.Skip(err)
	}
	t.Setenv(standin.CUDAVariable, standin.Library(folder))
	t.Setenv(standin.ProfilesVariable, standin.Profiles(folder, "nvidia-h200-cuda"))
	platform, err := cl.CUDA()
	if err != nil {
		t.Fatal(err)
	}
	devices, err := platform.Devices(cl.DeviceAll)
	if err != nil {
		t.Fatal(err)
	}
	context, err := cl.NewContext(devices[0])
	if err != nil {
		t.Fatal(err)
	}
	defer context.Release()
	described, err := device.Describe(devices[0])
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(41, 1))
	specs, err := fs.Glob(kernels.FS, "*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	count, built := 2, map[string]int{}
	if long {
		count *= 30
	}
	for _, path := range specs {
		p := load(t, path, nil, nil)
		if !slices.Contains(p.Languages(), source.CUDA) {
			continue
		}
		if p, err = p.In(source.CUDA); err != nil {
			t.Fatal(err)
		}
		space, err := p.Space(t.Context(), described)
		if err != nil {
			t.Fatal(err)
		}
		for try := 0; try < 10*count && built[path] < count; try++ {
			v, err := p.Variant(space.At(random.IntN(space.Len())), described)
			if err != nil {
				t.Fatal(err)
			}
			if group := v.Launches[0].NDRange.WorkGroup(); group[0]*group[1] > described.MaxWorkGroupSize {
				continue
			}
			program, err := context.NewProgram(v.Source)
			if err != nil {
				t.Fatal(err)
			}
			defer program.Release()
			options := strings.Join(v.Options, " ")
			err = program.Build(options)
			if err != nil && strings.Contains(err.Error(), "too much shared data") {
				continue
			}
			if log, _ := program.BuildLog(); err != nil || strings.TrimSpace(log) != "" {
				t.Errorf("%s, %s: %v\n%s", path, options, err, log)
			}
			built[path]++
		}
	}
	if len(built) < 11 {
		t.Errorf("compiled %v", built)
	}
}
