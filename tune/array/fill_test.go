package array

import (
	"bytes"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
)

func make1(t *testing.T, f Fill, typ Type, n int, seed uint64) *Array {
	t.Helper()
	a, err := f.Make(typ, n, seed)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestFillFixed(t *testing.T) {
	for _, typ := range allTypes() {
		for kind, want := range map[FillKind]float64{"": 0, Zeros: 0, Ones: 1, Constant: 42} {
			a := make1(t, Fill{Kind: kind, Value: 42}, typ, 5, 1)
			if a.Type != typ || a.Len() != 5 {
				t.Fatalf("%v %s: %v × %d", typ, kind, a.Type, a.Len())
			}
			for i := range 5 * typ.stride() {
				expected := want
				if typ.Lanes() == 3 && i%4 == 3 {
					expected = 0
				}
				if a.Float(i) != expected {
					t.Fatalf("%v %s: scalar %d is %v", typ, kind, i, a.Float(i))
				}
			}
		}
	}
}

func TestFillSequence(t *testing.T) {
	a := make1(t, Fill{Kind: Sequence}, Float32.Vector(3), 3, 1)
	want := []float64{0, 1, 2, 0, 3, 4, 5, 0, 6, 7, 8, 0}
	for i, w := range want {
		if a.Float(i) != w {
			t.Errorf("scalar %d of float3 is %v, want %v", i, a.Float(i), w)
		}
	}
	if a := make1(t, Fill{Kind: Sequence}, Int8, 300, 1); a.Float(127) != 127 || a.Float(128) != -128 || a.Float(256) != 0 {
		t.Error("int8 does not wrap around")
	}
	if a := make1(t, Fill{Kind: Sequence}, Float16, 3000, 1); a.Float(2047) != 2047 || a.Float(2048) != 0 {
		t.Error("float16 does not start again")
	}
}

// TestFillBounds draws from intervals in which rounding is tempted to leave.
func TestFillBounds(t *testing.T) {
	for _, c := range []struct {
		t         Type
		low, high float64
	}{
		{Float32, 0, 0}, {Float64, 0, 0}, {Float16, 0, 0}, {Float16, -3, 2}, {Float32, 0.1, 0.1 + 1e-7},
		{Float32, 16777214.5, 16777217.5}, {Float16, 2047.5, 2050.5}, {Float64, -1e300, 1e300}, {Float16, -65504, 65504},
		{Float32, -1e-45, 1e-45}, {Float16, 0.1, 0.2}, {Float32, -0.7, -0.1},
		{Int8, 0, 0}, {Uint64, 0, 0}, {Int8, -128, 128}, {Uint8, 0, 256}, {Int32, -5, 6}, {Int64, -0x1p63, 0x1p63},
		{Uint64, 0, 0x1p64}, {Int16, -7.5, -2.5}, {Uint64, 0x1p63, 0x1p64}, {Int64, -10, -5},
	} {
		a := make1(t, Fill{Kind: Random, Low: c.low, High: c.high}, c.t, 20000, 3)
		low, high := c.low, c.high
		if low == 0 && high == 0 {
			high = 1
			if !c.t.isFloat() {
				high = 128
			}
		}
		least, most := math.Inf(1), math.Inf(-1)
		for i := range a.Len() {
			least, most = min(least, a.Float(i)), max(most, a.Float(i))
		}
		// Above 2⁵³, what Float says of an integer is rounded and may reach the end.
		if least < low || most > high || most == high && high < 0x1p63 {
			t.Errorf("%v in [%v, %v): found %v … %v", c.t, low, high, least, most)
		}
		if wide := high - low; wide < 300 && !c.t.isFloat() && (least != math.Ceil(low) || most != math.Ceil(high)-1) {
			t.Errorf("%v in [%v, %v): found only %v … %v", c.t, low, high, least, most)
		}
	}
}

func TestFillMoments(t *testing.T) {
	const n = 1 << 18
	moments := func(a *Array) (mean, std float64) {
		for i := range n {
			mean += a.Float(i) / n
		}
		for i := range n {
			std += (a.Float(i) - mean) * (a.Float(i) - mean) / n
		}
		return mean, math.Sqrt(std)
	}
	for _, c := range []struct {
		f         Fill
		t         Type
		mean, std float64
	}{
		{Fill{Kind: Normal}, Float32, 0, 1},
		{Fill{Kind: Normal, Mean: 3, Std: 0.5}, Float64, 3, 0.5},
		{Fill{Kind: Normal, Mean: -20, Std: 10}, Int32, -20, 10},
		{Fill{Kind: Normal}, Float16, 0, 1},
		{Fill{Kind: Random}, Float32, 0.5, math.Sqrt(1. / 12)},
		{Fill{Kind: Random, Low: -1, High: 1}, Float64, 0, math.Sqrt(1. / 3)},
		{Fill{Kind: Random}, Uint8, 63.5, math.Sqrt((128*128 - 1) / 12.)},
	} {
		mean, std := moments(make1(t, c.f, c.t, n, 11))
		if math.Abs(mean-c.mean) > 0.01*c.std || math.Abs(std/c.std-1) > 0.01 {
			t.Errorf("%v as %v: mean %v, standard deviation %v; want %v, %v", c.f, c.t, mean, std, c.mean, c.std)
		}
	}
	if a := make1(t, Fill{Kind: Normal, Std: 1000}, Int8, 1000, 1); a.Float(0) > 127 || a.Float(0) < -128 {
		t.Error("int8 leaves its range")
	}
}

func TestFillIsDeterministic(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	const n = 5*chunkScalars + 17
	for _, kind := range []FillKind{Random, Normal} {
		for _, typ := range []Type{Float32, Float16, Int64, Uint8.Vector(3)} {
			f := Fill{Kind: kind}
			runtime.GOMAXPROCS(1)
			one := make1(t, f, typ, n, 5)
			runtime.GOMAXPROCS(7)
			seven := make1(t, f, typ, n, 5)
			if !bytes.Equal(one.Bytes, seven.Bytes) {
				t.Errorf("%s %v depends on the number of cores", kind, typ)
			}
			other := make1(t, f, typ, n, 6)
			if bytes.Equal(one.Bytes, other.Bytes) {
				t.Errorf("%s %v does not depend on the seed", kind, typ)
			}
			if bytes.Equal(one.Bytes[:chunkScalars], one.Bytes[chunkScalars*typ.Scalar().Size():][:chunkScalars]) {
				t.Errorf("%s %v repeats itself from chunk to chunk", kind, typ)
			}
		}
	}
}

// TestFillGolden pins the data: logs and records of other days rest on them.
func TestFillGolden(t *testing.T) {
	a := make1(t, Fill{Kind: Random}, Float32, 3, Seed(0, "u"))
	b := make1(t, Fill{Kind: Normal}, Float64, 2, Seed(0, "u"))
	got := []float64{a.Float(0), a.Float(1), a.Float(2), b.Float(0), b.Float(1)}
	want := []float64{0.8051631450653076, 0.5038613080978394, 0.5513386130332947, 1.9765173444237503, -0.6124446231257427}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("the data of a seed have changed: %v, were %v", got, want)
		}
	}
}

func TestFillErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		f    Fill
		t    Type
		n    int
		want string
	}{
		{Fill{Kind: "rand"}, Float32, 1, `unknown fill "rand"; fills are [zeros`},
		{Fill{Kind: Constant, Value: 300}, Uint8, 1, "out of the range of uint8"},
		{Fill{Kind: Constant, Value: 0.5}, Int32, 1, "no whole number"},
		{Fill{Kind: Random, Low: 1, High: 1}, Float32, 1, "low < high"},
		{Fill{Kind: Random, Low: 0, High: nan}, Float32, 1, "low < high"},
		{Fill{Kind: Random, Low: 0, High: inf}, Float64, 1, "low < high"},
		{Fill{Kind: Random, Low: -1.5e308, High: 1.5e308}, Float64, 1, "low < high"},
		{Fill{Kind: Random, Low: 0, High: 1e300}, Float32, 1, "beyond the range of float32"},
		{Fill{Kind: Random, Low: 2048.2, High: 2048.8}, Float16, 1, "there is no float16 in it"},
		{Fill{Kind: Random, Low: 0.2, High: 0.8}, Int32, 1, "no integer"},
		{Fill{Kind: Random, Low: 0, High: 257}, Uint8, 1, "uint8 holds 0 … 255"},
		{Fill{Kind: Random, Low: -1, High: 1}, Uint8, 1, "uint8 holds"},
		{Fill{Kind: Random, Low: -inf, High: 1}, Int8, 1, "int8 holds"},
		{Fill{Kind: Normal, Std: -1}, Float32, 1, "above 0"},
		{Fill{Kind: Normal, Mean: nan}, Float32, 1, "finite mean"},
		{Fill{}, Float32, -1, "length of -1"},
		{Fill{}, 0, 1, "none of package array"},
	} {
		_, err := c.f.Make(c.t, c.n, 1)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v as %v: %v; want an error with %q", c.f, c.t, err, c.want)
		}
	}
}

func TestSeed(t *testing.T) {
	seeds := map[uint64]string{}
	for _, base := range []uint64{0, 1, 2} {
		for _, name := range []string{"", "u", "u_new", "v"} {
			s := Seed(base, name)
			if other, ok := seeds[s]; ok {
				t.Errorf("base %d, name %q gives the seed of %s", base, name, other)
			}
			seeds[s] = fmt.Sprintf("base %d, name %q", base, name)
		}
	}
}

func BenchmarkFill(b *testing.B) {
	const n = 16 << 20
	for _, c := range []struct {
		name string
		f    Fill
		t    Type
	}{
		{"random/float32", Fill{Kind: Random}, Float32},
		{"normal/float32", Fill{Kind: Normal}, Float32},
		{"random/float16", Fill{Kind: Random}, Float16},
		{"random/int32", Fill{Kind: Random}, Int32},
		{"ones/float32", Fill{Kind: Ones}, Float32},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(n * c.t.Size()))
			for b.Loop() {
				if _, err := c.f.Make(c.t, n, 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
