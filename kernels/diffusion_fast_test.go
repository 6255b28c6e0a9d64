package kernels_test

import (
	"errors"
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

// fastDiffusionKernels are the bundled ones that go to the limit of the memory, and beyond it.
var fastDiffusionKernels = []string{"stencil", "temporal"}

// emulatedShuffles make shuffles between registers out of local memory, for devices that have
// none. LANES is the width of sub-groups.
const emulatedShuffles = `
#define GROUP_ITEMS (block_size_x * block_size_y)
#define SHUFFLE_MEMORY __local float shuffled[GROUP_ITEMS];
#define SHUFFLE_PARAMETER , __local float *shuffled
#define SHUFFLE_ARGUMENT , shuffled
#define LINEAR ((int)get_local_id(1) * block_size_x + (int)get_local_id(0))
#define LANE (LINEAR % LANES)
static float emulated_shuffle(const float v, const int from, __local float *shuffled)
{
    barrier(CLK_LOCAL_MEM_FENCE);
    shuffled[LINEAR] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    const int item = LINEAR - LANE + from;
    return from >= 0 && from < LANES && item < GROUP_ITEMS ? shuffled[item] : -12345.0f;
}
#define SHUFFLE_UP(v) emulated_shuffle(v, LANE - 1, shuffled)
#define SHUFFLE_DOWN(v) emulated_shuffle(v, LANE + 1, shuffled)
#line 1
`

// lanes are the widths of emulated sub-groups: what a kernel asks for, or takes as it comes.
var lanes = map[string]string{"stencil": "(GROUP_ITEMS < 32 ? GROUP_ITEMS : 32)", "temporal": "block_size_x"}

// emulated are the values of neighbours for which shuffles are emulated.
var emulated = []string{"shuffle_khr", "shuffle_intel", "shuffle_nv"}

// fastDiffusion is one launch of a configuration of a spec on a field.
type fastDiffusion struct {
	launch
	nx, ny        int
	steps         int
	configuration space.Configuration
	spare         int
}

// fastDiffusionOf is the launch of a configuration on a field, with spare work-groups. A field that cp.async cannot copy is made wider.
func fastDiffusionOf(t *testing.T, kernel string, c space.Configuration, nx, ny, spare int) fastDiffusion {
	t.Helper()
	staging, _ := c.Get("staging")
	if staging == "async_copy" {
		nx = (nx + 7) / 8 * 8
	}
	p := load(t, fastDiffusionSpec(kernel), map[string]string{"nx": strconv.Itoa(nx), "ny": strconv.Itoa(ny)}, nil)
	v, err := p.Variant(c, noDevice)
	if err != nil {
		t.Fatal(err)
	}
	l := fastDiffusion{launchOf(t, p, c, spare), nx, ny, v.ReferenceLaunches, c, spare}
	if neighbours, _ := c.Get("neighbours"); slices.Contains(emulated, fmt.Sprint(neighbours)) {
		l.source = "#define LANES " + lanes[kernel] + emulatedShuffles + l.source
	}
	if staging == "async_copy" {
		l.source = copyAtOnce + l.source
	}
	return l
}

func fastDiffusionSpec(kernel string) string { return "diffusion/diffuse_" + kernel + ".yaml" }

func (l fastDiffusion) String() string {
	return fmt.Sprintf("%d × %d cells, %v, %d spare groups", l.nx, l.ny, l.configuration, l.spare)
}

// check starts with -77 in u_new, which its edges must keep.
func (l fastDiffusion) check(r *rig, seed uint64) error {
	random := rand.New(rand.NewPCG(seed, 2))
	u, out := r.guarded(l.nx*l.ny), r.guarded(l.nx*l.ny)
	for i := range l.nx * l.ny {
		r.inner(u)[i] = random.Float32()
		r.inner(out)[i] = -77
	}
	after, err := l.run(r, out, u)
	if err != nil {
		return err
	}
	if !slices.EqualFunc(u, after[1], sameBits) {
		return errors.New("u has changed")
	}
	if err := r.strayed(out, after[0]); err != nil {
		return fmt.Errorf("u_new: %w", err)
	}
	want := diffuseSteps(r.inner(u), r.inner(out), l.nx, l.ny, l.steps)
	for cell, v := range r.inner(after[0]) {
		// A step is a mean of the last: what was off stays so at most. Each adds some roundings
		// of values up to 4, times dt.
		if !(math.Abs(float64(v)-want[cell]) <= 5e-7*float64(l.steps)) {
			return fmt.Errorf("cell (%d, %d) is %v, want %v", cell%l.nx, cell/l.nx, v, want[cell])
		}
	}
	return nil
}

// diffuseSteps returns what u_new must hold after several steps of u in double precision: on
// the edges, what is there.
func diffuseSteps(u, uNew []float32, nx, ny, steps int) []float64 {
	now := make([]float64, nx*ny)
	for i, v := range u {
		now[i] = float64(v)
	}
	for range steps {
		next := slices.Clone(now)
		for y := 1; y < ny-1; y++ {
			for x := 1; x < nx-1; x++ {
				c := y*nx + x
				next[c] += float64(float32(0.225)) * (now[c-1] + now[c+1] + now[c-nx] + now[c+nx] - 4*now[c])
			}
		}
		now = next
	}
	for i, v := range uNew {
		if x, y := i%nx, i/nx; x == 0 || x == nx-1 || y == 0 || y == ny-1 {
			now[i] = float64(v)
		}
	}
	return now
}

// fastFields have no inner cells, one, a few, or more than a tile, in either dimension. Only
// some of their rows are multiples of a vector.
var fastFields = [][2]int{
	{131, 137}, {1, 1}, {64, 67}, {2, 9}, {3, 3}, {257, 40}, {1, 7}, {7, 1}, {2, 2}, {4, 3}, {17, 5}, {160, 150},
	{5, 17}, {31, 301}, {513, 9}, {258, 258}, {9, 300}, {1031, 11},
}

// fastDiffusions are n launches of a kernel, of configurations drawn by a fixed seed; fields take
// turns. With narrow, work-groups are such as take a simulator a moment.
func fastDiffusions(t *testing.T, kernel string, fields [][2]int, set map[string]string, parameters map[string][]string, n int, narrow bool) []trial {
	t.Helper()
	var trials []trial
	s, _, err := load(t, fastDiffusionSpec(kernel), set, parameters).SpaceWithoutDevice(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(11, uint64(s.Len())))
	for i := 0; i < 100*n && len(trials) < n; i++ {
		c := s.At(random.IntN(s.Len()))
		if narrow && (c.Int("block_size_x")*c.Int("block_size_y") > 64 || c.Int("rows") > 64) {
			continue
		}
		field := fields[len(trials)%len(fields)]
		trials = append(trials, fastDiffusionOf(t, kernel, c, field[0], field[1], i%2))
	}
	return trials
}

// everyShape lifts the restrictions that choose what suits a kind of device.
var everyShape = map[string]string{"every_shape": "1"}

// fastPaths are parts of the spaces that between them hold every path of the kernels, and
// values that only a user's own spec would have.
var fastPaths = map[string][]map[string][]string{
	"stencil": {
		{"neighbours": {"cached"}, "block_size_x": {"1", "3", "8", "16", "32"}, "rows": {"1", "2", "3", "4", "8"}, "unroll_rows": {"1", "2", "3"}},
		{"neighbours": {"shuffle_khr", "shuffle_intel", "shuffle_nv"}, "block_size_x": {"8", "16", "32", "64"}, "rows": {"1", "2", "4"}, "unroll_rows": {"1", "2"}},
	},
	"temporal": {
		{"rows_kept_in": {"cache"}, "block_size_x": {"1"}, "vectors": {"1", "3", "8", "16", "64"}, "rows": {"1", "3", "16", "64", "1000"}, "time_steps": {"1", "2", "3", "5", "8", "16"}},
		{"rows_kept_in": {"registers"}, "neighbours": {"local_memory"}, "block_size_x": {"3", "8", "11", "32", "64"}, "rows": {"1", "5", "32"}, "time_steps": {"1", "2", "3", "4", "7", "8"}},
		{"rows_kept_in": {"registers"}, "neighbours": {"shuffle_nv", "shuffle_khr", "shuffle_intel"}, "block_size_x": {"32"}, "rows": {"1", "5", "32"}, "ahead": {"1", "2"}, "time_steps": {"1", "2", "3", "6"}},
		{"neighbours": {"shuffle_nv"}, "staging": {"async_copy"}, "block_size_x": {"32"}, "vector_width": {"4", "8"}, "rows": {"1", "5", "32"}, "ahead": {"1", "2", "4"}, "time_steps": {"2", "3", "6"}},
	},
}

// TestFastDiffusion compares the kernels with a loop in double precision, and looks whether
// they write anything but the inner cells of u_new. NDTUNE_LONG=1 makes 80 launches of 3.
func TestFastDiffusion(t *testing.T) {
	needKernels(t)
	r := newRig(t)
	count := 3
	if long {
		count = 80
	}
	for _, kernel := range fastDiffusionKernels {
		for _, parameters := range fastPaths[kernel] {
			t.Run(kernel+"/"+fmt.Sprint(parameters["neighbours"]), func(t *testing.T) {
				r.run(t, fastDiffusions(t, kernel, fastFields, everyShape, parameters, count, false))
			})
		}
	}
}

// simulatedValues keep the simulator from walking down a thousand rows of which the field has 83:
// a minute a launch, and nothing that fewer rows would not show.
var simulatedValues = map[string]map[string][]string{"temporal": {"rows": {"16", "32", "64"}}}

// simulatedFastDiffusion takes every path in the normal run. NDTUNE_LONG=1 takes 200
// configurations of the spec on a field that no tile divides, and some on the smallest ones.
func simulatedFastDiffusion(t *testing.T, kernel string) []trial {
	var trials []trial
	for _, parameters := range fastPaths[kernel] {
		trials = append(trials, fastDiffusions(t, kernel, [][2]int{{83, 41}, {3, 3}, {24, 31}, {37, 50}}, everyShape, parameters, 4, true)...)
	}
	if long {
		trials = append(trials, fastDiffusions(t, kernel, [][2]int{{149, 83}}, nil, simulatedValues[kernel], 200, false)...)
		trials = append(trials, fastDiffusions(t, kernel, [][2]int{{1, 1}, {2, 2}, {1, 9}, {67, 3}}, nil, simulatedValues[kernel], 20, false)...)
	}
	return trials
}

// oneFastDiffusion is a launch of a configuration, with work-groups in and around a field.
func oneFastDiffusion(kernel string, values map[string]space.Value, nx, ny int) func(t *testing.T) []trial {
	return func(t *testing.T) []trial {
		c, err := load(t, fastDiffusionSpec(kernel), nil, nil).Parameters().Configure(values)
		if err != nil {
			t.Fatal(err)
		}
		return []trial{fastDiffusionOf(t, kernel, c, nx, ny, 1)}
	}
}

// Configurations in which taking something out of a kernel must be noticed.
var (
	plainStencil = map[string]space.Value{
		"block_size_x": 8, "block_size_y": 2, "vector_width": 4, "rows": 2, "walk": "streaming", "unroll_rows": 2,
		"skip_checks": "group", "neighbours": "cached",
	}
	temporalInRegisters = map[string]space.Value{
		"time_steps": 2, "rows_kept_in": "registers", "block_size_x": 8, "block_size_y": 1, "vector_width": 4, "vectors": 1,
		"rows": 8, "ahead": 1, "arithmetic": "diagonal", "unroll_rows": 1, "skip_checks": "group", "neighbours": "local_memory", "staging": "registers",
	}
	temporalInCache = map[string]space.Value{
		"time_steps": 2, "rows_kept_in": "cache", "block_size_x": 1, "block_size_y": 1, "vector_width": 4, "vectors": 4,
		"rows": 8, "ahead": 1, "arithmetic": "plain", "unroll_rows": 1, "skip_checks": "group", "neighbours": "shifted", "staging": "registers",
	}
)

// fastMutants are kernels with a part taken out, which the simulator must notice.
func fastMutants() map[string]simulation {
	inRegisters := oneFastDiffusion("temporal", temporalInRegisters, 60, 40)
	inCache := oneFastDiffusion("temporal", temporalInCache, 50, 40)
	stencil := oneFastDiffusion("stencil", plainStencil, 50, 40)
	const loadBounds = "!checked || (x >= 0 && x + vector_width <= nx && y >= 0 && y < ny)"
	return map[string]simulation{
		"diffuse_stencil without a bound of u": {
			trials: stencil, takeOut: loadBounds, putIn: "!checked || (x >= 0 && x + vector_width <= nx && y < ny)", report: "Invalid read",
		},
		"diffuse_stencil without a bound of u_new": {
			trials: stencil, takeOut: "!checked || (x > 0 && x + vector_width < nx && y > 0 && y < ny - 1)",
			putIn: "!checked || (x > 0 && x + vector_width < nx && y > 0)", report: "Invalid write",
		},
		"diffuse_temporal without the barrier": {
			trials: inRegisters, takeOut: "barrier(CLK_LOCAL_MEM_FENCE);", report: "data race",
		},
		"diffuse_temporal with one half of the memory": {
			trials: inRegisters, takeOut: "exchanged[k & 1]", putIn: "exchanged[0]", report: "data race",
		},
		"diffuse_temporal, registers, without a bound of u": {
			trials: inRegisters, takeOut: loadBounds, putIn: "!checked || (x >= 0 && x + vector_width <= nx && y >= 0)", report: "Invalid read",
		},
		"diffuse_temporal, registers, where an edge counts as inside": {
			trials: inRegisters, takeOut: "max(2 * time_steps + 1 - high, 0)", putIn: "0", report: "Invalid read",
		},
		"diffuse_temporal, cache, without a bound of u": {
			trials: inCache, takeOut: loadBounds, putIn: "!checked || (x + vector_width <= nx && y >= 0 && y < ny)", report: "Invalid read",
		},
	}
}

// TestFastDiffusionRefusesWhatItCannotDo: fields whose cells cannot be numbered with int, and
// parameters that do not go together.
func TestFastDiffusionRefusesWhatItCannotDo(t *testing.T) {
	needKernels(t)
	r := newRig(t)
	refuses := func(kernel string, values, changes map[string]space.Value, nx, ny string) {
		t.Helper()
		p := load(t, fastDiffusionSpec(kernel), map[string]string{"nx": "40", "ny": "40"}, nil)
		all := maps.Clone(values)
		maps.Copy(all, changes)
		c, err := p.Parameters().Configure(all)
		if err != nil {
			t.Fatal(err)
		}
		l := launchOf(t, p, c, 0)
		options := strings.NewReplacer("nx=40", "nx="+nx, "ny=40", "ny="+ny).Replace(l.options)
		if !r.builds(t, l.source, l.options) && len(changes) == 0 {
			t.Fatalf("%s does not build: %s", kernel, l.options)
		}
		if r.builds(t, l.source, options) {
			t.Errorf("%s builds for a field of %s × %s, %v", kernel, nx, ny, changes)
		}
	}
	for _, field := range [][2]string{{"65536", "32768"}, {"0", "4"}, {"4", "-1"}, {"1073741825", "1"}} {
		refuses("stencil", plainStencil, nil, field[0], field[1])
		refuses("temporal", temporalInRegisters, nil, field[0], field[1])
		refuses("temporal", temporalInCache, nil, field[0], field[1])
	}
	refuses("stencil", plainStencil, map[string]space.Value{"vector_width": 3}, "40", "40")
	refuses("stencil", plainStencil, map[string]space.Value{"neighbours": "shuffle_nv", "skip_checks": "item"}, "40", "40")
	refuses("temporal", temporalInRegisters, map[string]space.Value{"vectors": 2}, "40", "40")
	refuses("temporal", temporalInRegisters, map[string]space.Value{"block_size_y": 2}, "40", "40")
	refuses("temporal", temporalInRegisters, map[string]space.Value{"neighbours": "shuffle_nv"}, "40", "40")
	refuses("temporal", temporalInRegisters, map[string]space.Value{"unroll_rows": 5}, "40", "40")
	refuses("temporal", temporalInRegisters, map[string]space.Value{"ahead": 2}, "40", "40")
	refuses("temporal", temporalInRegisters, map[string]space.Value{"staging": "async_copy"}, "40", "40")
	refuses("temporal", temporalInRegisters, map[string]space.Value{"neighbours": "shifted"}, "40", "40")
	refuses("temporal", temporalInCache, map[string]space.Value{"arithmetic": "scaled"}, "40", "40")
	refuses("temporal", temporalInCache, map[string]space.Value{"neighbours": "local_memory"}, "40", "40")
}
