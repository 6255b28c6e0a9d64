package array

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
)

// FillKind is a way to make the data of an array.
type FillKind string

// The kinds of fills.
const (
	Zeros    FillKind = "zeros"    // all 0; also the meaning of an empty kind
	Ones     FillKind = "ones"     // all 1
	Constant FillKind = "constant" // all Fill.Value
	Random   FillKind = "random"   // uniform in [Fill.Low, Fill.High)
	Normal   FillKind = "normal"   // normal with Fill.Mean and Fill.Std
	Sequence FillKind = "sequence" // 0, 1, 2, …
)

// FillKinds returns all kinds, in the order in which messages list them.
func FillKinds() []FillKind {
	return []FillKind{Zeros, Ones, Constant, Random, Normal, Sequence}
}

// Fill describes how the data of an array are made. Vectors are filled lane by
// lane; the unused fourth lane of 3-vectors is zero.
//
//   - Constant: the type must be able to hold Value; see [ScalarBytes].
//   - Random: Low ≤ v < High, each a value for ScalarBytes. If both are 0.0 or nil, the interval is [0, 1) for floats
//     and [0, 128) for integers. For integers, the interval must lie within the
//     range of the type.
//   - Normal: a Std of 0 means 1. Integers are rounded and saturate at the ends
//     of their range.
//   - Sequence: integers wrap around. Floats start again at 0 where whole
//     numbers are no longer exact (2¹¹ for float16, 2²⁴ for float32).
type Fill struct {
	Kind      FillKind
	Value     any
	Low, High any
	Mean, Std float64
}

// Make returns an array of n elements of type t. The data depend only on f, t, n
// and the seed. It is an error if f does not suit t.
func (f Fill) Make(t Type, n int, seed uint64) (*Array, error) {
	if !t.valid() {
		return nil, errors.New("fill an array: its type is none of package array")
	}
	if n < 0 || n > math.MaxInt/t.Size() {
		return nil, fmt.Errorf("fill an array of %v: a length of %d is out of range", t, n)
	}
	draw, err := f.source(t.Scalar())
	if err != nil {
		return nil, fmt.Errorf("fill an array of %v: %w", t, err)
	}
	if draw == nil {
		return New(t, n), nil
	}
	a := New(t, n)
	switch t.Scalar().Size() {
	case 1:
		fill[uint8](a, seed, draw)
	case 2:
		fill[uint16](a, seed, draw)
	case 4:
		fill[uint32](a, seed, draw)
	case 8:
		fill[uint64](a, seed, draw)
	}
	return a, nil
}

// A Rule computes a scalar from the index of its element and its lane within a vector: an integer, or a
// float, of which raw is the bits.
type Rule func(element, lane int) (raw uint64, float bool, err error)

// Compute returns an array of n elements of type t, the first of which has the index first. Every part of the
// work asks for a rule of its own. The error names the first element that has no value, or one that t cannot
// hold. Conditions count as the integers 0 and 1, and floats must be finite.
func Compute(t Type, first, n int, rule func() Rule) (*Array, error) {
	if !t.valid() || n < 0 || n > math.MaxInt/t.Size() {
		return nil, fmt.Errorf("compute an array of %v: a length of %d is out of range", t, n)
	}
	a := New(t, n)
	scalar, lanes := t.Scalar(), t.Lanes()
	stride := t.Size() / scalar.Size() // of an element, in scalars
	errs := make([]error, n/chunkScalars+1)
	forChunks(n, func(chunk, from, to int) {
		rule := rule()
		for i := from; i < to; i++ {
			for lane := range lanes {
				bits, err := rule.bits(scalar, first+i, lane)
				if err != nil {
					errs[chunk] = fmt.Errorf("element %d: %w", first+i, err)
					return
				}
				a.setBits(i*stride+lane, bits)
			}
		}
	})
	return a, cmp.Or(errs...)
}

// bits returns a scalar of type t.
func (r Rule) bits(t Type, element, lane int) (uint64, error) {
	raw, float, err := r(element, lane)
	switch f := math.Float64frombits(raw); {
	case err != nil:
		return 0, err
	case !float:
		return encodeInteger(t, int64(raw), int64(raw) >= 0)
	case math.IsNaN(f) || math.IsInf(f, 0):
		return 0, fmt.Errorf("%v is no finite number", f)
	default:
		return encodeFloat(t, f)
	}
}

// Seed derives the seed of an argument from its name. Arguments of the same name
// get the same data in every problem; arguments of different names get different
// data.
func Seed(base uint64, name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return mix(base ^ mix(h.Sum64()))
}

// A draw returns the bits of scalar i. It takes its random numbers from r.
type draw func(r *rand.Rand, i int) uint64

// source returns the draw of f for scalar type t, or nil if all scalars are zero.
func (f Fill) source(t Type) (draw, error) {
	switch f.Kind {
	case Zeros, "":
		return nil, nil
	case Ones:
		return constant(t.encode(1)), nil
	case Constant:
		bits, err := encodeExact(t, f.Value)
		return constant(bits), err
	case Random:
		if float(f.Low) == 0 && float(f.High) == 0 {
			f.Low, f.High = 0, 128
			if t.isFloat() {
				f.High = 1
			}
		}
		if t.isFloat() {
			return f.randomFloat(t)
		}
		return f.randomInteger(t)
	case Normal:
		return f.normal(t)
	case Sequence:
		return sequence(t), nil
	}
	return nil, fmt.Errorf("unknown fill %q; fills are %v", string(f.Kind), FillKinds())
}

func constant(bits uint64) draw { return func(*rand.Rand, int) uint64 { return bits } }

func sequence(t Type) draw {
	if !t.isFloat() {
		return func(_ *rand.Rand, i int) uint64 { return uint64(i) }
	}
	end := map[Type]int{Float16: 1 << 11, Float32: 1 << 24, Float64: math.MaxInt}[t]
	return func(_ *rand.Rand, i int) uint64 { return t.encode(float64(i % end)) }
}

func (f Fill) normal(t Type) (draw, error) {
	mean, std := f.Mean, cmp.Or(f.Std, 1)
	if math.IsNaN(mean) || math.IsInf(mean, 0) || !(std > 0) || math.IsInf(std, 0) {
		return nil, fmt.Errorf("a normal distribution needs a finite mean and a standard deviation above 0, not %v and %v", f.Mean, f.Std)
	}
	if t == Float32 { // the most common type, without the switch of encode
		return func(r *rand.Rand, _ int) uint64 {
			return uint64(math.Float32bits(float32(mean + std*r.NormFloat64())))
		}, nil
	}
	return func(r *rand.Rand, _ int) uint64 { return t.encode(mean + std*r.NormFloat64()) }, nil
}

func (f Fill) randomFloat(t Type) (draw, error) {
	low, high := float(f.Low), float(f.High)
	width := high - low
	if !(width > 0) || math.IsInf(width, 0) {
		return nil, fmt.Errorf("random needs low < high, both finite, not %v and %v", f.Low, f.High)
	}
	// Rounding to t must not leave the interval: 1 − 2⁻⁵³ rounds to the float32 1.
	least, most := t.ceil(low), t.below(high)
	switch {
	case math.IsInf(t.decode(t.encode(low)), 0) || math.IsInf(t.decode(t.encode(high)), 0):
		return nil, fmt.Errorf("random in [%v, %v): beyond the range of %v", low, high, t)
	case least > most:
		return nil, fmt.Errorf("random in [%v, %v): there is no %v in it", low, high, t)
	}
	if t == Float32 {
		return func(r *rand.Rand, _ int) uint64 {
			v := float64(float32(low + width*r.Float64()))
			return uint64(math.Float32bits(float32(min(max(v, least), most))))
		}, nil
	}
	return func(r *rand.Rand, _ int) uint64 {
		v := t.decode(t.encode(low + width*r.Float64()))
		return t.encode(min(max(v, least), most))
	}, nil
}

func (f Fill) randomInteger(t Type) (draw, error) {
	low, high := ceiling(f.Low), ceiling(f.High)
	if low == nil || high == nil || low.Cmp(high) >= 0 {
		return nil, fmt.Errorf("random in [%v, %v): there is no integer in it", f.Low, f.High)
	}
	least, most := t.integerRange()
	last := high.Sub(high, big.NewInt(1))
	if low.Cmp(big.NewInt(least)) < 0 || last.Cmp(new(big.Int).SetUint64(most)) > 0 {
		return nil, fmt.Errorf("random in [%v, %v): %v holds %d … %d", f.Low, f.High, t, least, most)
	}
	first, span := low.Uint64(), last.Sub(last, low).Uint64()+1
	if low.Sign() < 0 {
		first = -first // in two's complement
	}
	if span == 0 { // the whole range of a 64-bit type
		return func(r *rand.Rand, _ int) uint64 { return r.Uint64() }, nil
	}
	return func(r *rand.Rand, _ int) uint64 { return first + r.Uint64N(span) }, nil
}

// float returns a number as a float64.
func float(v any) float64 {
	f, _ := strconv.ParseFloat(fmt.Sprint(v), 64)
	return f
}

// ceiling returns the least integer that is not below a number; nil for NaN.
func ceiling(v any) *big.Int {
	i, _ := new(big.Int).SetString(fmt.Sprint(v), 10)
	if f, ok := v.(float64); ok && !math.IsNaN(f) {
		i, _ = big.NewFloat(math.Ceil(min(max(f, -0x1p65), 0x1p65))).Int(nil)
	}
	return i
}

// ceil returns the smallest value of float type t that is at least f.
func (t Type) ceil(f float64) float64 {
	v := t.decode(t.encode(f))
	if v >= f {
		return v
	}
	return -t.pred(-v)
}

// below returns the largest value of float type t below f.
func (t Type) below(f float64) float64 {
	v := t.decode(t.encode(f))
	if v < f {
		return v
	}
	return t.pred(v)
}

// pred returns the largest value of float type t below v, a value of t.
func (t Type) pred(v float64) float64 {
	bits := t.encode(v)
	switch {
	case v == 0:
		return -t.decode(1)
	case v < 0:
		return t.decode(bits + 1)
	}
	return t.decode(bits - 1)
}

// fill draws all scalars of an array but the unused lanes of 3-vectors. Each chunk has its own random sequence, so that the data do not
// depend on the number of cores.
func fill[T uint8 | uint16 | uint32 | uint64](a *Array, seed uint64, next draw) {
	s, lanes := scalars[T](a), a.Type.Lanes()
	forChunks(a.Len()*lanes, func(chunk, from, to int) {
		first := mix(seed + uint64(chunk))
		r := rand.New(rand.NewPCG(first, mix(first^seed)))
		for i := from; i < to; i++ {
			at := i
			if lanes == 3 {
				at += i / 3 // the unused lanes before it
			}
			s[at] = T(next(r, i))
		}
	})
}

// mix is the finalizer of SplitMix64 (Steele et al., «Fast Splittable Pseudorandom
// Number Generators», 2014): every bit of x affects all 64 bits of the result.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
