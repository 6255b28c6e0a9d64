package device

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/score"
)

// A judge compares arrays as outputs of a session, on the device and on the host alone.
type comparer struct {
	evaluator *Evaluator
	variant   *problem.Variant
}

// newJudge is a judge of outputs of n elements of a type.
func newJudge(t testing.TB, typ array.Type, n int) *comparer {
	t.Helper()
	e := open(t, definition.Definition{
		Kernel:      definition.Kernel{Name: "nothing", Source: "__kernel void nothing(__global uchar *y) {} // standin: nothing is nothing()"},
		ProblemSize: []definition.Expr{"1"},
		Arguments:   []definition.Argument{{Name: "y", Type: typ.String(), Size: definition.Expr(fmt.Sprint(n)), Output: true}},
		Verify: &definition.Verification{Reference: func(in map[string]*array.Array) (map[string]*array.Array, error) {
			return in, nil
		}},
	})
	v, err := e.problem.Variant(configurationOf(t, e.problem, nil), e.identity)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.session.prepare(v); err != nil {
		t.Fatal(err)
	}
	return &comparer{e, v}
}

// output has the session's output be out.
func (j *comparer) output(t testing.TB, out *array.Array) {
	t.Helper()
	s := j.evaluator.session
	if err := s.Queue.Write(s.buffers[0].working, 0, out.Bytes); err != nil {
		t.Fatal(err)
	}
}

// compare compares out with ref, for outputs from so many bytes on on the device. It says
// whether the device passed it.
func (j *comparer) compare(t testing.TB, out, ref *array.Array, absolute, relative float64, least int) (err error, passed bool) {
	t.Helper()
	j.output(t, out)
	s := j.evaluator.session
	s.verifier.least = least
	j.variant.Tolerance = score.Tolerance{Absolute: absolute, Relative: relative}
	before := s.verifier.passed
	_, err = s.compare(j.evaluator.problem, j.variant, map[string]*array.Array{"y": ref})
	return err, s.verifier.passed > before
}

// layout has the device compare as CPUs do (contiguous), or as GPUs do.
func (j *comparer) layout(t testing.TB, contiguous bool) {
	t.Helper()
	s, typ := j.evaluator.session, verifiedAs(j.evaluator.session.infos[0].Element.Type)
	s.verifier.release()
	k, err := newVerifyKernel(s.Launcher, typ, contiguous)
	if err != nil {
		t.Fatal(err)
	}
	s.verifier.kernels = map[array.Type]*verifyKernel{typ: k}
}

// layouts are those to test a type with: both for float32, one for each of the others, which take PoCL long to build; with
// NDTUNE_LONG=1 the GPUs' for one type of 3-vectors, and both for all scalars.
func layouts(typ array.Type) []bool {
	long := os.Getenv("NDTUNE_LONG") != ""
	switch {
	case typ.Scalar() == array.Float32 && (long || typ.Lanes() != 3), long && typ.Lanes() != 3:
		return []bool{true, false}
	case typ == array.Uint64:
		return []bool{false}
	}
	return []bool{true}
}

// both compares on the device and on the host, and wants the same said. It returns whether the
// output is right, and whether the device found it so.
func (j *comparer) both(t testing.TB, out, ref *array.Array, absolute, relative float64) (isRight, passed bool) {
	t.Helper()
	clear(j.evaluator.session.verifier.falseDoubts)
	onHost, _ := j.compare(t, out, ref, absolute, relative, math.MaxInt)
	onDevice, passed := j.compare(t, out, ref, absolute, relative, 0)
	if fmt.Sprint(onHost) != fmt.Sprint(onDevice) {
		t.Errorf("%v, tolerance %v + %v·|ref|:\non the host   %v\non the device %v", out.Type, absolute, relative, onHost, onDevice)
	}
	if j.evaluator.session.verifier.off {
		t.Fatalf("%v: the device does not compare", out.Type)
	}
	return onHost == nil, passed
}

// deviceTypes are scalar types whose outputs the test device compares: one of each kind of integers, the narrowest and the widest, and
// the floats; with NDTUNE_LONG=1 all of them. TestVerifyDefines has the others.
func deviceTypes(t testing.TB) []array.Type {
	all := []array.Type{array.Int8, array.Uint64}
	if os.Getenv("NDTUNE_LONG") != "" {
		all = []array.Type{array.Int8, array.Int16, array.Int32, array.Int64, array.Uint8, array.Uint16, array.Uint32, array.Uint64}
	}
	return append(all, deviceFloats(t)...)
}

func deviceFloats(t testing.TB) []array.Type {
	floats := []array.Type{array.Float16, array.Float32, array.Float64}
	if !hasDouble(t) {
		floats = floats[:2]
	}
	return floats
}

// TestVerifyDefines has what the kernel is told of every type.
func TestVerifyDefines(t *testing.T) {
	for typ, want := range map[array.Type]string{
		array.Int8: "INTEGER char UNSIGNED uchar", array.Int16: "INTEGER short UNSIGNED ushort", array.Int32: "INTEGER int UNSIGNED uint",
		array.Int64: "INTEGER long UNSIGNED ulong", array.Uint8: "INTEGER uchar UNSIGNED uchar", array.Uint16: "INTEGER ushort UNSIGNED ushort",
		array.Uint32: "INTEGER uint UNSIGNED uint", array.Uint64: "INTEGER ulong UNSIGNED ulong",
		array.Float16: "FLOAT 16", array.Float32: "FLOAT 32", array.Float64: "FLOAT 64",
		array.Int16.Vector(3): "INTEGER short UNSIGNED ushort VECTOR3", array.Float64.Vector(3): "FLOAT 64 VECTOR3",
	} {
		for end, contiguous := range map[string]bool{"": false, " CONTIGUOUS": true} {
			text := strings.ReplaceAll(verifyDefines(verifiedAs(typ), contiguous), "#define ", "")
			if got := strings.Join(strings.Fields(text), " "); got != want+end {
				t.Errorf("%v: %q, want %q", typ, got, want+end)
			}
		}
	}
	if got := verifiedAs(array.Float32.Vector(4)); got != array.Float32 {
		t.Errorf("vectors of 4 floats are compared as %v", got)
	}
}

// skipShort skips a test of the kernels that compare, which take PoCL long to compile, with
// -short: other tests use them.
func skipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it compiles kernels for long: not with -short")
	}
}

// lanesOf are those of the widths that a scalar type is tested with: but for float32 only scalars,
// with NDTUNE_LONG=1 all of them. Each takes PoCL a second to build.
func lanesOf(scalar array.Type, all ...int) []int {
	if os.Getenv("NDTUNE_LONG") != "" || scalar == array.Float32 {
		return all
	}
	return all[:1]
}

// setBits sets scalar i to what is in the low bits.
func setBits(a *array.Array, i int, bits uint64) {
	for size, k := a.Type.Scalar().Size(), 0; k < size; k++ {
		a.Bytes[i*size+k] = byte(bits >> (8 * k))
	}
}

func floating(t array.Type) bool { return t.Scalar() >= array.Float16 }

// bitsOf is a value as a scalar of a type.
func bitsOf(t array.Type, v float64) uint64 {
	switch t.Scalar() {
	case array.Float16:
		return uint64(array.HalfOf(v))
	case array.Float32:
		return uint64(math.Float32bits(float32(v)))
	case array.Float64:
		return math.Float64bits(v)
	case array.Uint64:
		return uint64(v)
	}
	return uint64(int64(v))
}

// randomBits are the bits of a scalar: anything, or something at the edge of what there is.
func randomBits(r *rand.Rand, t array.Type) uint64 {
	if !floating(t) {
		edges := []uint64{0, 1, math.MaxUint64, 1 << (8*t.Scalar().Size() - 1), 1<<(8*t.Scalar().Size()-1) - 1, 100}
		if r.IntN(2) == 0 {
			return edges[r.IntN(len(edges))]
		}
		return r.Uint64()
	}
	switch r.IntN(4) {
	case 0:
		return r.Uint64()
	case 1: // a denormal, or close to one
		return bitsOf(t, 0) + r.Uint64N(1<<(2*t.Scalar().Size()+4))
	case 2:
		edges := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1, -1,
			65504, math.MaxFloat32, -math.MaxFloat32, math.MaxFloat64, -math.MaxFloat64, 0x1p-14, 0x1p-126, 0x1p-1022}
		return bitsOf(t, edges[r.IntN(len(edges))])
	}
	return bitsOf(t, r.NormFloat64()*math.Pow(10, float64(r.IntN(5))))
}

func randomTolerance(r *rand.Rand) float64 {
	switch r.IntN(7) {
	case 0:
		return 0
	case 3:
		return 4 * r.Float64() // the edge lies among numbers as dense as the device's own
	case 1:
		return float64(r.IntN(300))
	case 2:
		return []float64{math.SmallestNonzeroFloat64, 0x1p-149, 0x1p-126, 0x1p-24, 0x1p64, math.MaxFloat32, 1e300, math.MaxFloat64, math.Inf(1)}[r.IntN(9)]
	}
	return math.Pow(10, -12*r.Float64())
}

// TestTheDevicePassesOnlyWhatTheHostPasses compares random outputs, each with one scalar that
// is of any kind, or right at the edge of the tolerance, in the first place, in the last, or
// somewhere between.
func TestTheDevicePassesOnlyWhatTheHostPasses(t *testing.T) {
	skipShort(t)
	rounds := 300
	if os.Getenv("NDTUNE_LONG") != "" {
		rounds = 20000
	}
	for _, scalar := range deviceTypes(t) {
		for _, lanes := range lanesOf(scalar, 1, 3) {
			typ := scalar.Vector(lanes)
			t.Run(typ.String(), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(typ), 1))
				n := 37
				j := newJudge(t, typ, n)
				scalars := n * typ.Size() / typ.Scalar().Size()
				passed, isRight := 0, 0
				for round := range rounds {
					if kinds := layouts(typ); round%(rounds/len(kinds)) == 0 {
						j.layout(t, kinds[round*len(kinds)/rounds])
					}
					ref := array.New(typ, n)
					for i := range scalars {
						setBits(ref, i, bitsOf(typ, float64(r.IntN(100))))
					}
					absolute, relative := randomTolerance(r), randomTolerance(r)
					out := ref.Clone()
					place := []int{0, scalars - 1, r.IntN(scalars)}[r.IntN(3)]
					setBits(ref, place, randomBits(r, typ))
					setBits(out, place, neighbour(r, ref, place, absolute, relative))
					ok, byDevice := j.both(t, out, ref, absolute, relative)
					if byDevice && !ok {
						t.Fatalf("scalar %d: got %v, want %v, tolerance %v + %v·|ref|: the device passes it, the host does not",
							place, out.Float(place), ref.Float(place), absolute, relative)
					}
					if ok {
						isRight++
					}
					if byDevice {
						passed++
					}
				}
				t.Logf("%d of %d right, of which the device found %d", isRight, rounds, passed)
				if isRight == rounds || passed < isRight/3 {
					t.Error("that tests little")
				}
			})
		}
	}
}

// TestRoundingOnTheDevicePassesNothing has outputs whose error is the bound, but for the last
// bit or two, in a range where the device's bound rounds as coarsely as the output.
func TestRoundingOnTheDevicePassesNothing(t *testing.T) {
	rounds := 400
	if os.Getenv("NDTUNE_LONG") != "" {
		rounds = 4000
	}
	for _, typ := range deviceFloats(t) {
		r := rand.New(rand.NewPCG(uint64(typ), 2))
		j := newJudge(t, typ, 1)
		wrong := 0
		for range rounds {
			out, ref := array.New(typ, 1), array.New(typ, 1)
			absolute, relative := 4*r.Float64(), 4*r.Float64()
			setBits(ref, 0, bitsOf(typ, r.Float64()-0.5))
			want := ref.Float(0)
			setBits(out, 0, bitsOf(typ, want+math.Copysign(absolute+relative*math.Abs(want), want))+r.Uint64N(3)-1)
			mismatch, err := array.Compare(out, ref, absolute, relative)
			if err != nil {
				t.Fatal(err)
			}
			if mismatch == nil {
				continue
			}
			wrong++
			if _, passed := j.compare(t, out, ref, absolute, relative, 0); passed {
				t.Errorf("%v: the device passes what the host does not: %v", typ, mismatch)
			}
		}
		if t.Logf("%v: %d were wrong", typ, wrong); wrong < rounds/8 {
			t.Error("that tests little")
		}
	}
}

// neighbour is a scalar to compare with that at a place of ref: the same, any other, or one
// that is off by the tolerance, or by a hair more or less.
func neighbour(r *rand.Rand, ref *array.Array, place int, absolute, relative float64) uint64 {
	typ, want := ref.Type, ref.Float(place)
	size := typ.Scalar().Size()
	var same uint64
	for k := range size {
		same |= uint64(ref.Bytes[place*size+k]) << (8 * k)
	}
	switch r.IntN(8) {
	case 0:
		return same
	case 1:
		return same + uint64(r.IntN(5)) - 2
	case 2:
		return randomBits(r, typ)
	}
	off := absolute + relative*math.Abs(want)
	if r.IntN(2) == 0 {
		off *= []float64{0.5, 0.99, 1 - 0x1p-17, 1 + 0x1p-17, 1.01}[r.IntN(5)]
	}
	if r.IntN(2) == 0 {
		off = -off
	}
	return bitsOf(typ, want+off) + uint64(r.IntN(3)) - 1
}

// TestWhatTheDevicePasses has outputs that are plainly right or wrong, large enough for many
// work-items. The right ones are not read back.
func TestWhatTheDevicePasses(t *testing.T) {
	skipShort(t)
	inf, nan := math.Inf(1), math.NaN()
	type values struct {
		got, want, absolute, relative float64
		right, passed                 bool
	}
	floats := []values{
		{1, 1, 0, 0, true, true},
		{1, 1.5, 0.25, 0, false, false},
		{1, 1.25, 0.25, 0, true, false}, // just at the tolerance: the host decides
		{1, 1.25, 0.3, 0, true, true}, {1, 1.25, 0, 0.25, true, true}, {1, 1.25, 0, 0.19, false, false},
		{0, math.Copysign(0, -1), 0, 0, true, true}, {math.Copysign(0, -1), 0, 0, 0, true, true},
		{nan, nan, 1, 1, false, false}, {nan, 1, inf, 0, false, false}, {1, nan, 1, 1, false, false}, {nan, inf, 1, 1, false, false},
		{inf, inf, 0, 0, true, true}, {-inf, -inf, 1, 1, true, true}, {inf, -inf, 1e30, 1e30, false, false},
		{inf, 60000, 1e30, 1e30, false, false}, {60000, inf, 1e30, 1e30, false, false}, {60000, -inf, 1e30, 0, false, false},
		{60000, -60000, 1e30, 0, true, true}, {60000, -60000, 0, 1e30, true, true}, {60000, 1, 1e300, 1e300, true, true},
	}
	integers := []values{
		{1, 1, 0, 0, true, true}, {1, 2, 0, 0, false, false}, {1, 2, 1, 0, true, true}, {2, 1, 1.9, 0, true, true},
		{3, 1, 1.9, 0, false, false}, {100, 101, 0, 0.01, true, false}, {100, 0, 100, 0, true, true}, {0, 127, 126, 0, false, false},
		{100, 0, 1e300, 0, true, true},
	}
	for _, scalar := range deviceTypes(t) {
		for _, lanes := range lanesOf(scalar, 1, 3, 4) {
			typ := scalar.Vector(lanes)
			n := 200_003/lanes + 1
			j := newJudge(t, typ, n)
			cases := integers
			if floating(typ) {
				cases = floats
			}
			scalars := n * typ.Size() / typ.Scalar().Size()
			last := scalars - 1
			if lanes == 3 {
				last--
			}
			middle := scalars / 2 &^ 3
			for _, contiguous := range layouts(typ) {
				j.layout(t, contiguous)
				for i, c := range cases {
					out, ref := array.New(typ, n), array.New(typ, n)
					place := []int{0, middle, last}[i%3]
					setBits(out, place, bitsOf(typ, c.got))
					setBits(ref, place, bitsOf(typ, c.want))
					if ok, passed := j.both(t, out, ref, c.absolute, c.relative); ok != c.right || passed != c.passed {
						t.Errorf("%v, contiguous %v: got %v, want %v, tolerance %v + %v·|ref|: right %v, on the device %v", typ, contiguous, c.got, c.want, c.absolute, c.relative, ok, passed)
					}
				}
				out, ref := array.New(typ, n), array.New(typ, n)
				for _, place := range []int{0, middle, last} { // each alone is found
					setBits(out, place, bitsOf(typ, 3))
					if ok, passed := j.both(t, out, ref, 1, 1); ok || passed {
						t.Errorf("%v: a wrong scalar %d passes", typ, place)
					}
					setBits(out, place, 0)
				}
				if lanes == 3 {
					setBits(out, 3, bitsOf(typ, 3))
					setBits(out, scalars-1, bitsOf(typ, 3))
					if ok, passed := j.both(t, out, ref, 0, 0); !ok || !passed {
						t.Errorf("%v: the unused lane counts: right %v, on the device %v", typ, ok, passed)
					}
				}
			}
		}
	}
}

// TestDenormals has them in the output, in the reference and in the tolerance.
func TestDenormals(t *testing.T) {
	for _, typ := range deviceFloats(t) {
		j := newJudge(t, typ, 1)
		for got := range uint64(4) {
			for want := range uint64(4) {
				for _, unit := range []float64{0, 0.5, 1, 1.5, 2, 3} {
					out, ref, one := array.New(typ, 1), array.New(typ, 1), array.New(typ, 1)
					setBits(out, 0, got)
					setBits(ref, 0, want)
					setBits(one, 0, 1)
					absolute := unit * one.Float(0)
					ok, passed := j.both(t, out, ref, absolute, 0)
					if wants := math.Abs(float64(got)-float64(want)) <= math.Floor(absolute/one.Float(0)); ok != wants || (passed && !ok) {
						t.Errorf("%v: %d and %d with a tolerance of %v of the smallest: right %v, on the device %v", typ, got, want, unit, ok, passed)
					}
				}
			}
		}
	}
}

func TestTolerancesGivenToTheKernelAreNeverLarger(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 100_000 {
		tolerance := math.Abs(math.Float64frombits(r.Uint64()))
		if !forDevice(tolerance) {
			continue
		}
		if f := float64(kernelTolerance(array.Float32, tolerance).(float32)); f > tolerance*(1-0x1p-19) && tolerance > 1e-300 {
			t.Errorf("%v became %v", tolerance, f)
		}
		if f := kernelTolerance(array.Float64, tolerance).(float64); f > tolerance*(1-0x1p-19) && tolerance > 1e-300 {
			t.Errorf("%v became %v", tolerance, f)
		}
		if n := kernelTolerance(array.Int8, tolerance).(uint64); n != math.MaxUint64 && float64(n) > tolerance {
			t.Errorf("%v became %d", tolerance, n)
		}
	}
	for _, tolerance := range []float64{math.NaN(), -1, math.Inf(1), math.Inf(-1)} {
		if forDevice(tolerance) {
			t.Errorf("%v is for the device", tolerance)
		}
	}
}
