package kernels_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/space"
)

// A shape is that of C (m × n) = A (m × k) · B (k × n).
type shape struct{ m, n, k int }

func (s shape) String() string { return fmt.Sprintf("%d×%d×%d", s.m, s.n, s.k) }

// Some shapes are narrower than any block, some have inner groups and edges, some only inner
// groups. The normal test takes the first ones of each list.
var (
	squares    = []shape{{100, 100, 100}, {1, 1, 1}, {64, 64, 64}, {17, 17, 17}, {3, 3, 3}, {2, 2, 2}}
	rectangles = []shape{
		{33, 65, 97}, {1, 7, 1}, {130, 1, 64}, {128, 64, 64}, {1, 1, 1}, {100, 36, 129}, {1, 200, 31}, {2, 3, 1},
		{17, 100, 2}, {5, 1, 3}, {65, 33, 128}, {97, 130, 16},
	}
)

// matmulKernel is a bundled spec of matrix multiplication.
type matmulKernel struct {
	name    string // matmul/matmul_NAME.yaml
	square  bool
	count   int               // launches of the normal test; 0: in the simulator only
	element string            // half, float or double; empty: the kernel knows only float
	set     map[string]string // other constants
	tf32    bool              // the numbers are rounded to 11 significant bits
	halves  bool              // the numbers are rounded to half
	close   bool              // the tolerance of the spec allows more than sums of floats are off by
	sample  int               // as many configurations of the space at most; 0: all
	// Values of parameters that this device has, and definitions that it lacks.
	narrow  map[string][]string
	prelude string
	// Values of parameters that only a user's own spec would have; none of the bundled
	// ones would notice a power of two that is taken for granted.
	odd map[string][]string
}

var matmulKernels = append([]matmulKernel{
	{name: "naive", square: true, count: 3, odd: map[string][]string{"block_size_x": {"1", "3", "10"}, "block_size_y": {"1", "5"}}},
	{name: "local", square: true, count: 3, odd: map[string][]string{"block_size_x": {"1", "3", "7", "10"}, "block_size_y": {"1", "3", "7", "10"}}},
	{name: "tiled", square: true, count: 4, odd: map[string][]string{
		"block_size_x": {"1", "6", "15"}, "block_size_y": {"1", "2", "3", "5"}, "tile_size_x": {"1", "2", "3"}, "tile_size_y": {"1", "3", "5"},
	}},
	{name: "bounds_naive", count: 4, odd: map[string][]string{"block_size_x": {"1", "3", "10"}, "block_size_y": {"1", "5"}}},
	{name: "bounds_tiled", count: 4, odd: map[string][]string{
		"tile": {"1", "6", "15"}, "block_size_x": {"1", "3", "5", "6"}, "block_size_y": {"1", "2", "3", "15"},
	}},
	{name: "reference", count: 2, element: "float"},
	{name: "reference", count: 1, element: "half"},
	{name: "reference", count: 1, element: "double"},
	{name: "reference_square", square: true, count: 2},
}, fastKernels...)

func (k matmulKernel) spec() string { return "matmul/matmul_" + k.name + ".yaml" }

func (k matmulKernel) String() string {
	return strings.Join(strings.Fields(strings.Join([]string{k.name, k.element, strings.Join(k.narrow["staging"], " "), strings.Join(k.narrow["instruction"], " "), strings.Join(k.narrow["precision"], " ")}, " ")), "_")
}

// constants are the constants of a shape: of square matrices, there is only one.
func (k matmulKernel) constants(s shape) map[string]string {
	if k.square {
		return map[string]string{"size": strconv.Itoa(s.m)}
	}
	constants := map[string]string{"m": strconv.Itoa(s.m), "n": strconv.Itoa(s.n), "k": strconv.Itoa(s.k)}
	if k.element != "" {
		constants["element"] = k.element
	}
	maps.Copy(constants, k.set)
	return constants
}

func (k matmulKernel) shapes() []shape {
	if k.square {
		return squares
	}
	return rectangles
}

// products are at most count launches of the kernel. Shapes and configurations take turns,
// so that each of either comes up early; when all combinations have come up, it ends.
func (k matmulKernel) products(t *testing.T, shapes []shape, parameters map[string][]string, count int, seed uint64) []trial {
	t.Helper()
	if parameters == nil {
		parameters = k.narrow
	}
	list := sampled(t, load(t, k.spec(), nil, parameters), seed, k.sample)
	count = min(count, len(list)*len(shapes))
	trials := make([]trial, count)
	for i := range trials {
		turn := i / len(list) // when all configurations had one shape, they get the next
		trials[i] = k.product(t, shapes[(i+turn)%len(shapes)], list[i%len(list)], i%2)
	}
	return trials
}

// product is one launch of a kernel of matrix multiplication.
type product struct {
	launch
	shape
	element            string
	tf32, halves       bool
	configuration      space.Configuration
	spare              int
	infinite           bool    // A and B have infinities; k is at least 3
	absolute, relative float64 // the tolerance of the spec; 0 where it has none
}

func (k matmulKernel) product(t *testing.T, s shape, c space.Configuration, spare int) product {
	t.Helper()
	problem := load(t, k.spec(), k.constants(s), nil)
	p := product{launch: launchOf(t, problem, c, spare), shape: s, element: k.element, tf32: k.tf32, halves: k.halves, configuration: c, spare: spare}
	p.source = k.prelude + p.source
	if problem.Verified() {
		v, err := problem.Variant(c, noDevice)
		if err != nil {
			t.Fatal(err)
		}
		p.absolute, p.relative = v.Tolerance.Absolute, v.Tolerance.Relative
		if k.tf32 || k.close { // compared with a product of what it rounds to
			p.absolute = 1e-6 * float64(s.k+16)
		}
	}
	return p
}

func (p product) String() string {
	return fmt.Sprintf("%v, %v, %d spare groups", p.shape, p.configuration, p.spare)
}

// check starts with NaN in C, of which none may be left. A spec without a tolerance is the
// reference, which must be right to within the rounding of its result.
func (p product) check(r *rig, seed uint64) error {
	random := rand.New(rand.NewPCG(seed, 4))
	e := elements[p.element]
	numbers := map[byte][]float64{'A': make([]float64, p.m*p.k), 'B': make([]float64, p.k*p.n)}
	data := map[byte][]float32{'C': r.guarded(e.words(p.m * p.n))}
	for _, name := range "AB" {
		matrix := numbers[byte(name)]
		for i := range matrix {
			matrix[i] = e.round(random.NormFloat64())
		}
		switch { // in terms that do not meet
		case p.infinite && name == 'A':
			matrix[0], matrix[len(matrix)-2] = math.Inf(1), math.Inf(-1)
		case p.infinite:
			matrix[len(matrix)-1] = math.Inf(1)
		}
		data[byte(name)] = r.guarded(e.words(len(matrix)))
		e.encode(r.inner(data[byte(name)]), matrix)
	}
	after, err := p.run(r, data['C'], data['A'], data['B'])
	if err != nil {
		return err
	}
	for i, name := range "AB" {
		if !slices.EqualFunc(data[byte(name)], after[1+i], sameBits) {
			return fmt.Errorf("%c has changed", name)
		}
	}
	if err := r.strayed(data['C'], after[0]); err != nil {
		return fmt.Errorf("C: %w", err)
	}
	if p.tf32 {
		roundToTF32(numbers['A'])
		roundToTF32(numbers['B'])
	}
	if p.halves {
		for _, name := range "AB" {
			for i, v := range numbers[byte(name)] {
				numbers[byte(name)][i] = elements["half"].round(v)
			}
		}
	}
	want, magnitude := multiply(numbers['A'], numbers['B'], p.shape)
	for i, v := range e.decode(r.inner(after[0]), p.m*p.n) {
		if p.infinite && (v == want[i] || math.IsNaN(v) && math.IsNaN(want[i])) {
			continue
		}
		tolerance := p.absolute + p.relative*math.Abs(want[i])
		if p.absolute == 0 {
			lost := float64(p.k) * e.sum
			tolerance = e.unit*math.Abs(want[i]) + lost*lost*magnitude[i] + e.least
		}
		if e.unit < float64Unit*2 { // what it is compared with is no better
			tolerance += 2 * float64(p.k) * float64Unit * magnitude[i]
		}
		if !(math.Abs(v-want[i]) <= tolerance) {
			return fmt.Errorf("C[%d][%d] is %v, want %v ± %.3g", i/p.n, i%p.n, v, want[i], tolerance)
		}
	}
	return nil
}

// multiply returns A · B in double precision, and the same of their magnitudes.
func multiply(a, b []float64, s shape) (product, magnitude []float64) {
	product, magnitude = make([]float64, s.m*s.n), make([]float64, s.m*s.n)
	for row := range s.m {
		for i := range s.k {
			for column := range s.n {
				term := a[row*s.k+i] * b[i*s.n+column]
				product[row*s.n+column] += term
				magnitude[row*s.n+column] += math.Abs(term)
			}
		}
	}
	return product, magnitude
}

// TestMatmul compares the kernels with a loop in double precision, and looks whether they
// write anything but C. With NDTUNE_LONG=1 every configuration meets every shape.
func TestMatmul(t *testing.T) {
	needKernels(t)
	t.Parallel() // to the simulators, which are other processes
	r := newRig(t)
	list := slices.Clone(matmulKernels)
	if r.info.HasExtension("cl_intel_required_subgroup_size") {
		list = append(list, fast("float", "sub_group", 20, 200), fast("half", "sub_group", 10, 200), fast("double", "sub_group", 10, 200))
	}
	for _, k := range list {
		if k.count == 0 { // the barriers of its stand-ins take PoCL minutes to compile: Oclgrind runs it
			continue
		}
		t.Run(k.String(), func(t *testing.T) {
			count, odd := k.count, 1
			if long {
				count, odd = math.MaxInt, math.MaxInt
			}
			r.run(t, k.products(t, k.shapes(), nil, count, 1))
			if k.odd != nil {
				r.run(t, k.products(t, k.shapes(), k.odd, odd, 2))
			}
		})
	}
}

// TestMatmulToleranceTellsWrongTerms: the tolerance lets what rounding does pass and finds
// a single wrong term, in sums as long as those of the default size.
func TestMatmulToleranceTellsWrongTerms(t *testing.T) {
	const terms, sums = 4096, 2000
	problem := load(t, "matmul/matmul_bounds_tiled.yaml", map[string]string{"k": strconv.Itoa(terms)}, nil)
	v, err := problem.Variant(configurations(t, problem, 0)[0], noDevice)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(5, 6))
	worst, found := 0.0, 0
	for range sums {
		var sum float32
		var exact, last float64
		for range terms {
			a, b := float32(random.NormFloat64()), float32(random.NormFloat64())
			sum += a * b
			last = float64(a) * float64(b)
			exact += last
		}
		tolerance := v.Tolerance.Absolute + v.Tolerance.Relative*math.Abs(exact)
		worst = max(worst, math.Abs(float64(sum)-exact)/tolerance)
		if math.Abs(last) > tolerance {
			found++
		}
	}
	t.Logf("rounding takes up to %.3f of the tolerance %.2g; a term left out shows in %d of %d sums", worst, v.Tolerance.Absolute, found, sums)
	if worst > 0.25 {
		t.Errorf("rounding takes %.3f of the tolerance", worst)
	}
	if found < sums*9/10 {
		t.Errorf("a term left out shows in no more than %d of %d sums", found, sums)
	}
}

// TestMatmulRefuses: elements are numbered with int, and some parameters depend on others.
func TestMatmulRefuses(t *testing.T) {
	needKernels(t)
	r := newRig(t)
	const blocks = " -D block_size_x=16 -D block_size_y=16 -D tile_size_x=1 -D tile_size_y=1 -D tile=16 -D coalesced=1"
	wrong := map[string][]string{
		"naive":        {"-D size=0" + blocks, "-D size=-1" + blocks, "-D size=46341" + blocks, "-D size=4 -D block_size_x=16 -D block_size_y=16 -D coalesced=2"},
		"local":        {"-D size=0" + blocks, "-D size=46341" + blocks, "-D size=4 -D block_size_x=16 -D block_size_y=8"},
		"tiled":        {"-D size=0" + blocks, "-D size=46341" + blocks, "-D size=4 -D block_size_x=16 -D block_size_y=8 -D tile_size_x=2 -D tile_size_y=1"},
		"bounds_tiled": {"-D m=4 -D n=4 -D k=4 -D block_size_x=16 -D block_size_y=16 -D tile=24", "-D m=4 -D n=4 -D k=4 -D block_size_x=16 -D block_size_y=3 -D tile=16"},
		"reference":    {"-D size=46341" + blocks, "-D size=4 -cl-fast-relaxed-math" + blocks},
	}
	const tiles = " -D element=float -D swizzle=1 -D stages=2 -D tile_m=64 -D tile_n=64 -D tile_k=8"
	const fast = " -D m=4 -D n=4 -D k=4 -D pack=0 -D patch_x=8 -D lookahead=0 -D swizzle=1 -D stages=1 -D tile_k=8"
	wrong["fast"] = []string{
		fast + " -D element=int -D staging=local_memory -D tile_m=64 -D tile_n=64 -D item_m=4 -D item_n=4 -D width=1 -D pad=0",
		fast + " -D element=float -D staging=local -D tile_m=64 -D tile_n=64 -D item_m=4 -D item_n=4 -D width=1 -D pad=0",
		fast + " -D element=float -D staging=local_memory -D tile_m=60 -D tile_n=64 -D item_m=8 -D item_n=4 -D width=1 -D pad=0",
		fast + " -D element=float -D staging=local_memory -D tile_m=64 -D tile_n=64 -D item_m=2 -D item_n=4 -D width=1 -D pad=0",
		fast + " -D element=float -D staging=local_memory -D tile_m=16 -D tile_n=16 -D item_m=4 -D item_n=4 -D width=1 -D pad=0",
		fast + " -D element=float -D staging=local_memory -D tile_m=64 -D tile_n=64 -D item_m=4 -D item_n=4 -D width=4 -D pad=0",
		fast + " -D element=float -D staging=local_memory -D tile_m=64 -D tile_n=64 -D item_m=4 -D item_n=4 -D width=1 -D pad=1",
		fast + " -D element=float -D staging=registers -D tile_m=64 -D tile_n=64 -D item_m=4 -D item_n=24 -D width=8 -D pad=0",
		strings.NewReplacer("lookahead=0", "lookahead=1", "tile_k=8", "tile_k=5").Replace(fast) +
			" -D element=float -D staging=local_memory -D tile_m=64 -D tile_n=64 -D item_m=8 -D item_n=8 -D width=1 -D pad=0",
	}
	wrong["tensor"] = []string{
		" -D m=4 -D n=4 -D k=4 -D warp_m=48 -D warp_n=32" + tiles, " -D m=4 -D n=4 -D k=4 -D warp_m=32 -D warp_n=8" + tiles,
		" -D m=4 -D n=4 -D k=4 -D warp_m=16 -D warp_n=16" + tiles,
	}
	const doubles = " -D m=4 -D n=4 -D k=4 -D swizzle=1 -D split_k=1 -D tile_m=64 -D tile_n=64"
	wrong["double"] = []string{
		doubles + " -D element=float -D warp_m=32 -D warp_n=32 -D tile_k=16 -D stages=2 -D instruction=m8n8k4",
		doubles + " -D element=double -D warp_m=32 -D warp_n=32 -D tile_k=16 -D stages=2 -D instruction=m8n8k16",
		doubles + " -D element=double -D warp_m=32 -D warp_n=32 -D tile_k=16 -D stages=2 -D instruction=m16n8k16",
		doubles + " -D element=double -D warp_m=32 -D warp_n=32 -D tile_k=16 -D stages=1 -D instruction=m8n8k4",
		doubles + " -D element=double -D warp_m=32 -D warp_n=8 -D tile_k=16 -D stages=2 -D instruction=m8n8k4",
		doubles + " -D element=double -D warp_m=16 -D warp_n=16 -D tile_k=8 -D stages=2 -D instruction=m8n8k4",
	}
	right := map[string]string{
		"double": doubles + " -D element=double -D warp_m=32 -D warp_n=32 -D tile_k=16 -D stages=2 -D instruction=m16n8k8",
		"fast":   fast + " -D element=float -D staging=local_memory -D tile_m=64 -D tile_n=64 -D item_m=4 -D item_n=4 -D width=1 -D pad=0",
		"tensor": " -D m=4 -D n=4 -D k=4 -D warp_m=32 -D warp_n=32 -D element=float -D swizzle=1 -D stages=2 -D tile_m=32 -D tile_n=32 -D tile_k=8",
	}
	for _, name := range []string{"bounds_naive", "bounds_tiled", "reference"} {
		for _, s := range []shape{{0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {-4, 4, 4}, {1 << 16, 1 << 15, 1}, {1 << 16, 1, 1 << 15}, {1, 1 << 16, 1 << 15}, {1<<30 + 1, 1, 1}} {
			wrong[name] = append(wrong[name], fmt.Sprintf("-D m=%d -D n=%d -D k=%d%s", s.m, s.n, s.k, blocks))
		}
	}
	for name, list := range wrong {
		source := included(t, "matmul/matmul_"+name+".cl")
		switch name {
		case "tensor":
			source = copyAtOnce + warpsInLocalMemory + source
		case "double":
			source = copyAtOnce + sharesInConstantMemory + doublesInLocalMemory + source
		}
		if options, ok := right[name]; ok && !r.builds(t, source, options) {
			t.Errorf("%s does not build with %s", name, options)
		}
		for _, options := range list {
			if r.builds(t, source, options) {
				t.Errorf("%s builds with %s", name, options)
			}
		}
	}
}
