package kernels_test

import (
	"errors"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune/check"
)

// Variables of a child of TestUnderOclgrind: the name of the simulation that it runs, and
// Oclgrind's own, where its reports go.
const (
	underOclgrind = "NDTUNE_TEST_UNDER_OCLGRIND"
	oclgrindLog   = "OCLGRIND_LOG"
)

// A simulation is what one child runs on Oclgrind. A kernel is run as it is; with a part
// taken out, it shows that the simulator would have noticed.
type simulation struct {
	trials  func(t *testing.T) []trial
	takeOut string // from the source of trials
	putIn   string // in its place
	report  string // what Oclgrind must say; empty: nothing at all
	wrong   bool   // Oclgrind says something, or the result is wrong
}

func simulations() map[string]simulation {
	all := map[string]simulation{
		"diffuse_tiled without the barrier": {
			trials: oneDiffusion, takeOut: "barrier(CLK_LOCAL_MEM_FENCE);", report: "data race",
		},
		"diffuse_tiled without a bound": {
			trials: oneDiffusion, takeOut: "if (x >= 0 && x < nx && y >= 0 && y < ny)", report: "Invalid read",
		},
		"matmul_tiled without the barriers": {
			trials: oneProduct("tiled"), takeOut: "barrier(CLK_LOCAL_MEM_FENCE);", report: "data race",
		},
		"matmul_bounds_tiled without the second barrier": {
			trials: oneProduct("bounds_tiled"), report: "data race",
			takeOut: "others still use these.\n        barrier(CLK_LOCAL_MEM_FENCE);",
		},
		"matmul_tiled without a bound of A": {
			trials: oneProduct("tiled"), takeOut: "top + i < size && first + tx < size", putIn: "true", report: "Invalid read",
		},
		"matmul_fast without the barrier of a step": {
			trials: oneProduct("fast_float_local_memory"), report: "data race",
			takeOut: "replaced now.\n        barrier(CLK_LOCAL_MEM_FENCE);",
		},
		"matmul_fast without the second barrier of one stage": {
			trials: oneProduct("fast_float_local_memory", map[string][]string{"stages": {"1"}}), report: "data race",
			takeOut: "barrier(CLK_LOCAL_MEM_FENCE); // others still read what is replaced now",
		},
		"matmul_fast, lookahead, without the last terms of steps": {
			trials: oneProduct("fast_float_local_memory", map[string][]string{"lookahead": {"1"}}), wrong: true,
			takeOut: "add_terms(sum, beside[(i + ahead)", putIn: "if (i > 0) add_terms(sum, beside[(i + ahead)",
		},
		"matmul_fast without the barrier of async_copy": {
			trials: oneProduct("fast_float_async_copy"), report: "data race",
			takeOut: "replaced now.\n        barrier(CLK_LOCAL_MEM_FENCE);",
		},
		"matmul_fast without a bound of C": {
			trials: oneProduct("fast_float_local_memory"), takeOut: "row < m && column + i < n", putIn: "column + i < n", report: "Invalid write",
		},
		"matmul_fast without a bound of B": {
			trials: oneProduct("fast_float_local_memory"), takeOut: "row_b(id + i * items) < tail", putIn: "true", report: "Invalid read",
		},
		"matmul_fast, registers, without a bound of C": {
			trials: oneProduct("fast_float_registers"), takeOut: "row < m &&", putIn: "", report: "Invalid write",
		},
		"matmul_double without the first barrier": {
			trials: oneProduct("double_double_m8n8k4"), report: "data race",
			takeOut: "wait_for(stages - 1);\n    barrier(CLK_LOCAL_MEM_FENCE);",
		},
		"matmul_double that replaces the tiles of the next step": {
			trials: oneProduct("double_double_m8n8k4"), takeOut: "bring(a[now], b[now]", putIn: "bring(a[then], b[then]", wrong: true,
		},
		"matmul_double without a bound of C": {
			trials: oneProduct("double_double_m8n8k4"), takeOut: "row < m &&", report: "Invalid write",
		},
		"matmul_double without a bound of terms": {
			trials: oneProduct("double_double_m8n8k4"), takeOut: "|| term < k", putIn: "|| true", report: "Invalid read",
		},
		"matmul_double with terms beyond the last": {
			trials: oneProduct("double_double_m16n8k8"), takeOut: "there && step < end", putIn: "step < end", wrong: true,
		},
		"matmul_double that adds the first share twice": {
			trials: oneProduct("double_double_m16n8k16"), takeOut: "share_index(number, j, i)", putIn: "share_index(number, 0, i)", wrong: true,
		},
		"matmul_double with the same terms of A twice": {
			trials: oneProduct("double_double_m16n8k16"), takeOut: "pitch_a + i * 4]", putIn: "pitch_a]", wrong: true,
		},
		"matmul_bounds_tiled without a bound of C": {
			trials: oneProduct("bounds_tiled"), takeOut: "(row < m && column < n)", putIn: "true", report: "Invalid write",
		},
	}
	for _, name := range diffusionKernels {
		all["diffuse_"+name] = simulation{trials: func(t *testing.T) []trial { return simulatedDiffusion(t, name) }}
	}
	for _, name := range fastDiffusionKernels {
		all["diffuse_"+name] = simulation{trials: func(t *testing.T) []trial { return simulatedFastDiffusion(t, name) }}
	}
	maps.Copy(all, fastMutants())
	maps.Copy(all, hopperSimulations())
	for _, k := range matmulKernels {
		all["matmul_"+k.String()] = simulation{trials: func(t *testing.T) []trial { return simulatedProducts(t, k) }}
	}
	return all
}

// TestUnderOclgrind runs this test binary again on the Oclgrind simulator, which reports
// races between work-items and accesses out of bounds. NDTUNE_LONG=1 makes it
// run 200 configurations of each kernel, or all that there are, on each size, and 8 on a
// large field: some minutes.
func TestUnderOclgrind(t *testing.T) {
	needKernels(t)
	t.Parallel()
	library, err := check.Oclgrind()
	if err != nil {
		t.Skip(err)
	}
	for name, s := range simulations() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := filepath.Join(t.TempDir(), "oclgrind.log")
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestInSimulator$", "-test.v", "-test.timeout=60m")
			child.WaitDelay = time.Minute
			child.Env = append(append(os.Environ(), underOclgrind+"="+name, cl.LibraryVariable+"="+library), check.OclgrindEnvironment(log)...)
			output, err := child.CombinedOutput()
			if err != nil || !strings.Contains(string(output), "--- PASS: TestInSimulator") {
				t.Fatalf("the test under Oclgrind: %v\n%s", err, output)
			}
			report, err := os.ReadFile(log) // it is not there when there is nothing to say
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			if s.report == "" && !s.wrong && len(report) > 0 || !strings.Contains(string(report), s.report) {
				t.Errorf("Oclgrind is expected to report %q, it says:\n%.4000s\nof these:\n%s", s.report, report, output)
			}
		})
	}
}

// TestInSimulator is what the child runs. There are no guards, so that an access outside
// of a field or a matrix is one outside of the buffer.
func TestInSimulator(t *testing.T) {
	s, ok := simulations()[os.Getenv(underOclgrind)]
	if !ok {
		t.Skip("run by TestUnderOclgrind")
	}
	r := newRig(t)
	r.guard = 0
	trials := s.trials(t)
	if s.takeOut != "" {
		err := without(t, trials[0], s.takeOut, s.putIn).check(r, 0)
		if failed := new(cl.BuildError); errors.As(err, &failed) {
			t.Fatal(err)
		}
		if info, _ := os.Stat(os.Getenv(oclgrindLog)); s.wrong && err == nil && (info == nil || info.Size() == 0) {
			t.Error("the fault is not noticed")
		}
		t.Log(err)
		return
	}
	for i, trial := range trials {
		start := time.Now()
		if err := trial.check(r, uint64(i)); err != nil {
			t.Fatalf("%v: %v", trial, err)
		}
		t.Logf("%v: %v", trial, time.Since(start).Round(time.Millisecond))
		if info, err := os.Stat(os.Getenv(oclgrindLog)); err == nil && info.Size() > 0 {
			t.Logf("this is what Oclgrind speaks of")
			return
		}
	}
}

// without is the trial with a part of its source replaced.
func without(t *testing.T, of trial, part, by string) trial {
	t.Helper()
	replace := func(source string) string {
		if !strings.Contains(source, part) {
			t.Fatalf("the source no longer holds %s", part)
		}
		return strings.ReplaceAll(source, part, by)
	}
	switch of := of.(type) {
	case diffusionLaunch:
		of.source = replace(of.source)
		return of
	case fastDiffusion:
		of.source = replace(of.source)
		return of
	case product:
		of.source = replace(of.source)
		return of
	}
	panic("a trial of another type")
}

func oneDiffusion(t *testing.T) []trial {
	source := readKernel(t, diffusionPath("tiled"))
	return []trial{diffusionLaunch{source: source, nx: 40, ny: 20, blockX: 16, blockY: 4, tileX: 1, tileY: 2}}
}

// oneProduct has work-groups inside and on the edges, and steps of both kinds.
func oneProduct(name string, narrow ...map[string][]string) func(t *testing.T) []trial {
	return func(t *testing.T) []trial {
		for _, k := range matmulKernels {
			if k.String() == name {
				values := map[string][]string{}
				for _, n := range append([]map[string][]string{k.narrow}, narrow...) {
					maps.Copy(values, n)
				}
				list := sampled(t, load(t, k.spec(), nil, values), 1, k.sample)
				smallest := list[0]
				for _, c := range list {
					if c.Int("block_size_x")*c.Int("block_size_y") < smallest.Int("block_size_x")*smallest.Int("block_size_y") {
						smallest = c
					}
				}
				return []trial{k.product(t, shape{41, 41, 41}, smallest, 0)}
			}
		}
		t.Fatalf("there is no matmul_%s", name)
		return nil
	}
}

// The work-items of a work-group in the normal run; in a simulator, each takes its time.
const smallGroup = 256

// simulatedDiffusion takes every path in the normal run, each in a moment.
func simulatedDiffusion(t *testing.T, name string) []trial {
	source := readKernel(t, diffusionPath(name))
	var trials []trial
	for _, l := range diffusionPaths() {
		l.source = source
		if name != "tiled" {
			l.tileX, l.tileY = 1, 1
		}
		trials = append(trials, l)
	}
	fields := []struct{ nx, ny, count int }{{37, 53, 5}, {1, 1, 1}, {2, 2, 1}}
	if long {
		// The large field takes 3 to 16 s a launch.
		fields = []struct{ nx, ny, count int }{{37, 53, 200}, {1, 1, 200}, {2, 2, 200}, {1000, 1003, 8}}
	}
	list := configurations(t, load(t, strings.Replace(diffusionPath(name), ".cl", ".yaml", 1), nil, nil), 7)
	for _, field := range fields {
		count := field.count
		for _, c := range list {
			l := diffusionOf(source, c, field.nx, field.ny)
			if count == 0 {
				break
			}
			if long || l.blockX*l.blockY <= smallGroup {
				trials = append(trials, l)
				count--
			}
		}
	}
	return trials
}

// simulatedProducts are small shapes; of kernels with large tiles, which take the simulator
// seconds, there are two that no tile divides: with rows of whole vectors, and without. In the
// normal run, floats, doubles on tensor cores and one value of matmul_precision take both, other doubles the first of them, and all
// others the second.
func simulatedProducts(t *testing.T, k matmulKernel) []trial {
	shapes, count, group := []shape{{33, 65, 97}, {1, 1, 1}, {2, 3, 1}}, 1, smallGroup
	if k.square {
		shapes = []shape{{37, 37, 37}, {1, 1, 1}, {2, 2, 2}}
	}
	if k.sample > 0 {
		shapes, group = []shape{{41, 72, 40}, {33, 65, 41}}, smallGroup/2
		switch {
		case long || k.element == "float" && !k.tf32 && (k.name != "precision" || k.halves) || k.name == "double":
		case k.element == "double":
			shapes = shapes[:1]
		default:
			shapes = shapes[1:]
		}
	}
	if long {
		count, group = 200, math.MaxInt
		if k.sample > 0 {
			count = k.sample / len(shapes)
		}
	}
	var trials []trial
	for i, s := range shapes {
		taken := 0
		for _, c := range sampled(t, load(t, k.spec(), nil, k.narrow), uint64(i), max(k.sample, 50)) {
			p := k.product(t, s, c, i%2)
			if taken < count && p.local[0]*p.local[1] <= group {
				trials = append(trials, p)
				taken++
			}
		}
	}
	return trials
}

func diffusionPaths() []diffusionLaunch {
	return []diffusionLaunch{
		{nx: 1, ny: 1, blockX: 16, blockY: 2, tileX: 1, tileY: 1},
		{nx: 1, ny: 7, blockX: 16, blockY: 4, tileX: 1, tileY: 1},
		{nx: 3, ny: 3, blockX: 16, blockY: 2, tileX: 1, tileY: 1, spare: 1},
		{nx: 100, ny: 37, blockX: 48, blockY: 4, tileX: 1, tileY: 1},
		{nx: 66, ny: 34, blockX: 16, blockY: 8, tileX: 1, tileY: 1, spare: 1},
		{nx: 17, ny: 9, blockX: 3, blockY: 1, tileX: 1, tileY: 1},
		// With groups inside of the field and on each of its edges.
		{nx: 130, ny: 67, blockX: 16, blockY: 4, tileX: 2, tileY: 4},
		{nx: 130, ny: 67, blockX: 16, blockY: 2, tileX: 1, tileY: 2, spare: 1},
		{nx: 200, ny: 40, blockX: 48, blockY: 2, tileX: 1, tileY: 4},
		{nx: 100, ny: 100, blockX: 32, blockY: 8, tileX: 1, tileY: 4},
		{nx: 2, ny: 9, blockX: 128, blockY: 2, tileX: 4, tileY: 4},
		{nx: 40, ny: 40, blockX: 7, blockY: 5, tileX: 3, tileY: 2},
		{nx: 20, ny: 20, blockX: 1, blockY: 1, tileX: 4, tileY: 1},
	}
}
