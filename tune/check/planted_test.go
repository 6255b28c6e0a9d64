package check

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
)

func TestMain(m *testing.M) {
	Main()
	os.Exit(standin.Main(m, "standin-cpu", "nvidia-h200-cuda"))
}

// A planted fault is an edit of a real kernel.
type planted struct {
	spec       string // in the repository; the sources of those of the gallery must have been fetched
	parameters string // of the configuration
	set        string // constants
	old, new   string
	kind       Kind
	where      string // part of the line that the finding must name; "": it has no line
	target     string // beginning of its argument and index, or part of its text; "": not looked at
}

const (
	tiled      = "block_size_x=16 block_size_y=4 tile_size_x=2 tile_size_y=2"
	field      = "nx=37 ny=53"
	tiledSums  = "block_size_x=16 block_size_y=4 tile_size_x=1 tile_size_y=4"
	boundTiles = "tile=16 block_size_x=16 block_size_y=4"
	bounds     = "m=33 n=20 k=41"
	barrier    = "barrier(CLK_LOCAL_MEM_FENCE);"
)

// plantedFaults are faults of the kinds that [kinds] lists, but for those of which only a real device knows.
var plantedFaults = []planted{
	{"kernels/diffusion/diffuse_tiled.yaml", tiled, field, barrier, "", DataRace, "patch[", "race at patch"},
	{"kernels/diffusion/diffuse_tiled.yaml", tiled, field, "if (x >= 0 && x < nx && y >= 0 && y < ny)", "", OutOfBounds, "patch[i][j] = u[y * nx + x];", "read out of bounds at u["},
	{"kernels/diffusion/diffuse_tiled.yaml", tiled, field, "(x > 0 && x < nx - 1 && y > 0 && y < ny - 1)", "x > 0", OutOfBounds, "u_new[y * nx + x] =", "write out of bounds at u_new[19"},
	{"kernels/diffusion/diffuse_tiled.yaml", tiled, field, barrier, "if (inside || tx < 8) " + barrier, Divergence, "if (inside || tx < 8) barrier", ""},
	{"kernels/diffusion/diffuse_tiled.yaml", tiled, field, "y >= 0 && y < ny) {", "y > 0 && y < ny) {", Uninitialised, "u_new[y * nx + x] =", "goes to u_new["},
	{"kernels/diffusion/diffuse_tiled.yaml", tiled, field, "patch[patch_y + 2][", "patch[patch_y + 1][", OutOfBounds, "patch[i][j] =", "local"},
	{"kernels/diffusion/diffuse_tiled.yaml", tiled, field, "u_new[y * nx + x] = ", "((__global float *)u)[y * nx + x] = ", ConstWrite, "((__global float *)u)[", ""},
	{"kernels/diffusion/diffuse_local.yaml", "block_size_x=16 block_size_y=4", field, barrier, "", DataRace, "copy[", ""},
	{"kernels/diffusion/diffuse_local.yaml", "block_size_x=16 block_size_y=4", field, "x >= 0 && x < nx && y >= 0 && y < ny", "x >= 0 && x < nx && y < ny", OutOfBounds, "copy[i][j] = u[y * nx + x];", "read out of bounds at u[-"},
	{"kernels/diffusion/diffuse_local.yaml", "block_size_x=16 block_size_y=4", field, "i < block_size_y + 2; i += block_size_y", "i < block_size_y + 1; i += block_size_y", Uninitialised, "u_new[y * nx + x] =", ""},
	{"kernels/diffusion/diffuse_local.yaml", "block_size_x=16 block_size_y=4", field, "copy[block_size_y + 2][block_size_x + 2]", "copy[block_size_y + 2][block_size_x]", OutOfBounds, "copy[", ""},
	{"kernels/diffusion/diffuse_naive.yaml", "block_size_x=16 block_size_y=4", field, "y < ny - 1", "y < ny", OutOfBounds, "u[cell + nx]", "read out of bounds at u[1962]"},
	{"kernels/diffusion/diffuse_naive.yaml", "block_size_x=16 block_size_y=4", field, "u_new[cell] =", "((__global float *)u)[cell] =", DataRace, "((__global float *)u)[cell]", "race at u["},
	{"kernels/diffusion/diffuse_naive.yaml", "block_size_x=16 block_size_y=4", field, "u_new[cell] = ", "u_new[cell] = 1e-3f * atomic_inc((volatile __global int *)u_new) + ", Order, "", "u_new["},
	{"kernels/matmul/matmul_naive.yaml", "block_size_x=16 block_size_y=4 coalesced=1", "size=37", "row < size && column < size", "row < size", OutOfBounds, "sum += A[row * size + i] * B[", "read out of bounds at B[1369]"},
	{"kernels/matmul/matmul_naive.yaml", "block_size_x=16 block_size_y=4 coalesced=1", "size=37", "float sum = 0.0f;", "float sum;", Uninitialised, "C[row * size + column] = sum;", "goes to C["},
	{"kernels/matmul/matmul_naive.yaml", "block_size_x=16 block_size_y=4 coalesced=1", "size=37", "C[row * size + column]", "C[row * size]", DataRace, "C[row * size] = sum;", "write-write race at C["},
	{"kernels/matmul/matmul_local.yaml", "block_size_x=8 block_size_y=8", "size=19", "these.\n        " + barrier, "these.", DataRace, "a[ty][tx] =", ""},
	{"kernels/matmul/matmul_local.yaml", "block_size_x=8 block_size_y=8", "size=19", barrier + "\n        for", "if (row < size) " + barrier + "\n        for", Divergence, "if (row < size) barrier", ""},
	{"kernels/matmul/matmul_local.yaml", "block_size_x=8 block_size_y=8", "size=19", "row < size && first + tx < size ?", "row < size ?", OutOfBounds, "a[ty][tx] = row < size ?", "read out of bounds at A[361]"},
	{"kernels/matmul/matmul_local.yaml", "block_size_x=8 block_size_y=8", "size=19", "C[row * size + column] = sum", "*(__global float *)((__global char *)C + 2 * (row * size + column)) = sum", Misaligned, "(__global char *)C", ""},
	{"kernels/matmul/matmul_tiled.yaml", tiledSums, "size=37", "sum[y][x] = 0.0f;", "", Uninitialised, "C[row * size + column] =", ""},
	{"kernels/matmul/matmul_tiled.yaml", tiledSums, "size=37", "use this one.\n        " + barrier, "use this one.", DataRace, "= a[ty + y * block_size_y][i];", ""},
	{"kernels/matmul/matmul_tiled.yaml", tiledSums, "size=37", "(row < size && column < size)", "row < size", OutOfBounds, "C[row * size + column] =", "write out of bounds at C[1369]"},
	{"kernels/matmul/matmul_tiled.yaml", tiledSums, "size=37", "float b[depth][patch_x]", "float b[depth - 1][patch_x]", OutOfBounds, "b[i][j] =", "local"},
	{"kernels/matmul/matmul_tiled.yaml", tiledSums, "size=37", "C[row * size + column] = ", "*(__global float *)((__global char *)C + 2 * (row * size + column)) = ", Misaligned, "(__global char *)C", ""},
	{"kernels/matmul/matmul_bounds_tiled.yaml", boundTiles, bounds, "first + j < k ?", "first + j <= k ?", OutOfBounds, "a[i][j] = top + i < m", "read out of bounds at A[1353]"},
	{"kernels/matmul/matmul_bounds_tiled.yaml", boundTiles, bounds, "const bool inside =", "if (top + ty >= m) return;\n    const bool inside =", Divergence, barrier, ""},
	{"kernels/matmul/matmul_bounds_tiled.yaml", boundTiles, bounds, "C[row * n + column] = sum[y][x];", "C[row * n + column] = sum[y][x]; ((__global float *)A)[row] = 0.0f;", ConstWrite, "((__global float *)A)[row]", ""},
	{"kernels/copy/copy.yaml", "block_size_x=64 per_item=2", "count=300", "if (i < count) {\n            out", "if (i <= count) {\n            out", OutOfBounds, "out[i] = v[k];", "write out of bounds at out[300]"},
	{"kernels/copy/copy.yaml", "block_size_x=64 per_item=2", "count=300", "if (i < count) {\n            v[k]", "if (i + 1 < count) {\n            v[k]", Uninitialised, "out[i] = v[k];", "goes to out[299]"},
	{"kernels/copy/copy.yaml", "block_size_x=64 per_item=2", "count=300", "v[k] = in[i];", "v[k] = *(__global const float4 *)((__global const float *)in + i);", Misaligned, "(__global const float *)in + i", ""},

	{"gallery/kernel_tuner/reduction.yaml", "block_size_x=32 vector=1 loop_unroll_factor=1", "n=4096", "sh_mem[ti] = sum;\n    " + barrier, "sh_mem[ti] = sum;", DataRace, "sh_mem[ti] += sh_mem[ti + s];", ""},
	{"gallery/kernel_tuner/reduction.yaml", "block_size_x=32 vector=1 loop_unroll_factor=1", "n=4096", "i<n/vector", "i<=n/vector", OutOfBounds, "sum += dot(array[i]", "read out of bounds at array[4096]"},
	{"gallery/nvidia/transpose.yaml", "BLOCK_DIM=8", "n=30", barrier + "\n\n\t// write the transposed", "// write the transposed", DataRace, "block[get_local_id(0)*(BLOCK_DIM+1)+get_local_id(1)]", ""},
	{"gallery/polybench/gemm.yaml", "block_size_x=16 block_size_y=4", "n=30", "if ((i < ni) && (j < nj))", "if (i < ni)", DataRace, "c[i * nj + j]", ""},
	{"gallery/shoc/spmv_csr_vector.yaml", "block_size_x=32 width=4", "rows=128", "partialSums[t] = mySum;", "partialSums[t + 100] = mySum;", OutOfBounds, "partialSums[t + 100] = mySum;", "local"},
}

// TestPlantedFaults finds a fault in a kernel, with its line. NDTUNE_LONG=1 makes it try all faults, and the kernels as they are, and
// print what they cost.
func TestPlantedFaults(t *testing.T) {
	library := simulatorOf(t)
	long := os.Getenv("NDTUNE_LONG") != ""
	clean := map[string]bool{}
	for i, p := range plantedFaults {
		if !long && i > 0 {
			break
		}
		t.Run(fmt.Sprintf("%d %s in %s", i+1, p.kind, strings.TrimSuffix(filepath.Base(p.spec), ".yaml")), func(t *testing.T) {
			if strings.HasPrefix(p.spec, "gallery") {
				if _, err := os.Stat(filepath.Join("..", "..", "gallery", "sources")); err != nil {
					t.Skip("gallery/fetch has not brought the sources")
				}
			}
			key := p.spec + p.parameters + p.set
			if long && !clean[key] {
				clean[key] = true
				if r := p.run(t, library, false); !r.Clean() || len(r.Findings) > 0 {
					t.Errorf("the kernel as it is:\n%s", text(r))
				} else {
					t.Logf("as it is: %.2f s", r.Seconds)
				}
			}
			r := p.run(t, library, true)
			t.Logf("with the fault: %.2f s, %d findings", r.Seconds, len(r.Findings))
			if !slices.ContainsFunc(r.Findings, p.found) {
				t.Errorf("no finding of %s at %q with %q:\n%s", p.kind, p.where, p.target, text(r))
			}
		})
	}
}

// found reports whether a finding is the planted fault.
func (p *planted) found(f Finding) bool {
	return f.Kind == p.kind && !f.Note && len(f.Configurations) == 1 && strings.Contains(f.Text, p.target) && (p.where == "" && len(f.Where) == 0 ||
		p.where != "" && slices.ContainsFunc(f.Where, func(l Location) bool { return strings.Contains(l.Text, p.where) }))
}

func (p *planted) run(t *testing.T, library string, faulty bool) *Report {
	t.Helper()
	s, err := spec.Load(filepath.Join("..", "..", p.spec), spec.Options{Parameters: assignments(t, p.parameters)})
	if err != nil {
		t.Fatal(err)
	}
	d := s.Definition
	if p.set == "" {
		t.Fatal("no size")
	}
	if d.Kernel.Source == "" {
		t.Fatal("the source is not in the definition")
	}
	if faulty {
		if strings.Count(d.Kernel.Source, p.old) == 0 {
			t.Fatalf("the source no longer has %q", p.old)
		}
		d.Kernel.Source = strings.Replace(d.Kernel.Source, p.old, p.new, 1)
	}
	made, err := problem.New(d)
	if err != nil {
		t.Fatal(err)
	}
	set := map[string]space.Value{}
	for name, values := range assignments(t, p.set) {
		if set[name], err = strconv.Atoi(values[0]); err != nil {
			t.Fatal(err)
		}
	}
	c, err := made.Parameters().ConfigureFirst(nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), made, []space.Configuration{c}, Options{Simulator: library, Set: set, Limit: 10 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func assignments(t *testing.T, list string) map[string][]string {
	t.Helper()
	all, err := spec.ParseAssignments(strings.Fields(list))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func text(r *Report) string {
	var b strings.Builder
	_ = r.Write(&b, "text")
	return b.String()
}

// simulatorOf returns the library of Oclgrind, or skips the test.
func simulatorOf(t *testing.T) string {
	t.Helper()
	library, err := Oclgrind()
	if err != nil {
		if os.Getenv("NDTUNE_REQUIRE_OPENCL") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	return library
}
