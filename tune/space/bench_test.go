package space

import (
	"math"
	"math/big"
	"runtime"
	"testing"
)

// A known space is one of the field's, with its sizes.
type knownSpace struct {
	name         string
	cartesian    int64
	valid        int
	parameters   []Parameter
	restrictions []string
}

func ints(values ...int) []Value {
	list := make([]Value, len(values))
	for i, v := range values {
		list[i] = v
	}
	return list
}

func span(from, to, step int) []Value {
	var list []Value
	for v := from; v <= to; v += step {
		list = append(list, v)
	}
	return list
}

func powers(from, to int) []Value {
	var list []Value
	for v := from; v <= to; v *= 2 {
		list = append(list, v)
	}
	return list
}

// knownSpaces are tuning problems that the field compares the construction of spaces with
// (Willemsen et al., «Efficient construction of large search spaces for auto-tuning», 2025).
func knownSpaces() []knownSpace {
	return []knownSpace{
		{"dedispersion", 22272, 11130, []Parameter{
			{"block_size_x", powers(1, 32)}, {"block_size_y", span(32, 256, 8)},
			{"tile_size_x", span(1, 4, 1)}, {"tile_size_y", span(1, 8, 1)},
			{"tile_stride_x", ints(0, 1)}, {"tile_stride_y", ints(0, 1)},
		}, []string{
			"32 <= block_size_x*block_size_y <= 1024",
			"tile_size_x > 1 or tile_stride_x == 0", "tile_size_y > 1 or tile_stride_y == 0",
		}},
		{"microhh", 1166400, 138600, []Parameter{
			{"BLOCK_SIZE_X", ints(1, 2, 4, 8, 16, 32, 128, 256, 512, 1024)}, {"BLOCK_SIZE_Y", powers(1, 32)}, {"BLOCK_SIZE_Z", powers(1, 4)},
			{"TILING_FACTOR_X", powers(1, 8)}, {"TILING_FACTOR_Y", powers(1, 4)}, {"TILING_FACTOR_Z", powers(1, 4)},
			{"LOOP_UNROLL_FACTOR_X", powers(1, 8)}, {"LOOP_UNROLL_FACTOR_Y", powers(1, 4)}, {"LOOP_UNROLL_FACTOR_Z", powers(1, 4)},
			{"BLOCKS_PER_MP", span(0, 4, 1)},
		}, []string{
			"BLOCK_SIZE_X*BLOCK_SIZE_Y*BLOCK_SIZE_Z*BLOCKS_PER_MP <= 1024",
			"32 <= BLOCK_SIZE_X*BLOCK_SIZE_Y*BLOCK_SIZE_Z <= 1536",
			"LOOP_UNROLL_FACTOR_X == 0 or TILING_FACTOR_X % LOOP_UNROLL_FACTOR_X == 0",
			"LOOP_UNROLL_FACTOR_Y == 0 or TILING_FACTOR_Y % LOOP_UNROLL_FACTOR_Y == 0",
			"LOOP_UNROLL_FACTOR_Z == 0 or TILING_FACTOR_Z % LOOP_UNROLL_FACTOR_Z == 0",
			"BLOCK_SIZE_X*TILING_FACTOR_X > 0", "BLOCK_SIZE_Y*TILING_FACTOR_Y > 0", "BLOCK_SIZE_Z*TILING_FACTOR_Z > 0",
		}},
		{"expdist", 9732096, 294000, []Parameter{
			{"block_size_x", powers(32, 1024)}, {"block_size_y", powers(1, 32)},
			{"tile_size_x", span(1, 8, 1)}, {"tile_size_y", span(1, 8, 1)},
			{"use_shared_mem", ints(0, 1, 2)},
			{"loop_unroll_factor_x", span(1, 8, 1)}, {"loop_unroll_factor_y", span(1, 8, 1)},
			{"use_column", ints(0, 1)}, {"n_y_blocks", powers(1, 1024)},
		}, []string{
			"block_size_x*block_size_y <= 1024",
			"use_column != 0 or n_y_blocks <= 1", "use_column != 0 or use_shared_mem != 2",
			"loop_unroll_factor_x <= tile_size_x and tile_size_x % loop_unroll_factor_x == 0",
			"loop_unroll_factor_y <= tile_size_y and tile_size_y % loop_unroll_factor_y == 0",
		}},
		{"hotspot", 22200000, 349853, []Parameter{
			{"block_size_x", append(powers(1, 16), span(32, 1024, 32)...)}, {"block_size_y", powers(1, 32)},
			{"tile_size_x", span(1, 10, 1)}, {"tile_size_y", span(1, 10, 1)},
			{"temporal_tiling_factor", span(1, 10, 1)}, {"loop_unroll_factor_t", span(1, 10, 1)},
			{"sh_power", ints(0, 1)}, {"blocks_per_sm", span(0, 4, 1)},
		}, []string{
			"block_size_x*block_size_y >= 32", "block_size_x*block_size_y <= 1024",
			"temporal_tiling_factor % loop_unroll_factor_t == 0",
			"(block_size_x*tile_size_x + temporal_tiling_factor*2) * (block_size_y*tile_size_y + temporal_tiling_factor*2) * (2+sh_power)*4 <= 49152",
			"blocks_per_sm == 0 or (block_size_x*tile_size_x + temporal_tiling_factor*2) * (block_size_y*tile_size_y + temporal_tiling_factor*2) * (2+sh_power)*4 * blocks_per_sm <= 102400",
		}},
	}
}

// vast has 10^12 combinations of twelve parameters: six tiles and six unroll factors that
// divide them, and a limit for the product of all tiles, which ties everything together.
func vast() knownSpace {
	k := knownSpace{name: "vast", cartesian: 1_000_000_000_000}
	product := "1"
	for _, of := range []string{"a", "b", "c", "d", "e", "f"} {
		k.parameters = append(k.parameters, Parameter{"tile_" + of, span(1, 10, 1)})
		product += " * tile_" + of
	}
	for _, of := range []string{"a", "b", "c", "d", "e", "f"} {
		k.parameters = append(k.parameters, Parameter{"unroll_" + of, span(1, 10, 1)})
		k.restrictions = append(k.restrictions, "tile_"+of+" % unroll_"+of+" == 0")
	}
	k.restrictions = append(k.restrictions, product+" <= 5000")
	return k
}

func (k knownSpace) build(t testing.TB) *Space {
	t.Helper()
	p, err := NewParameters(k.parameters)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(t.Context(), p, expressions(k.restrictions...), nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// bytes is what a space holds, nearly.
func (s *Space) bytes() int {
	n := 0
	for _, d := range s.diagrams {
		for _, l := range d.levels {
			n += 4*len(l.first) + 2*len(l.digits) + 4*len(l.to) + 8*len(l.before) + 8*len(l.counts)
		}
	}
	return n
}

// TestKnownSpaces compares with the sizes that the field knows.
func TestKnownSpaces(t *testing.T) {
	for _, k := range knownSpaces() {
		s := k.build(t)
		if s.CartesianSize().Cmp(big.NewInt(k.cartesian)) != 0 || s.Len() != k.valid {
			t.Errorf("%s: %v combinations, %d valid; want %d, %d", k.name, s.CartesianSize(), s.Len(), k.cartesian, k.valid)
		}
		if each := float64(s.bytes()) / float64(s.Len()); each > 16 {
			t.Errorf("%s: %.1f bytes a configuration", k.name, each)
		} else {
			t.Logf("%s: %d bytes, %.2f a configuration", k.name, s.bytes(), each)
		}
	}
}

func BenchmarkConstruct(b *testing.B) {
	for _, k := range append(knownSpaces(), vast()) {
		b.Run(k.name, func(b *testing.B) {
			var s *Space
			for b.Loop() {
				s = k.build(b)
			}
			b.ReportMetric(float64(s.Len()), "configurations")
			b.ReportMetric(float64(s.bytes())/math.Max(1, float64(s.Len())), "B/configuration")
			runtime.KeepAlive(s)
		})
	}
}

func BenchmarkAt(b *testing.B) {
	s := knownSpaces()[3].build(b)
	var row []int
	for i := 0; b.Loop(); i++ {
		row = s.Row((i*7919)%s.Len(), row)
	}
}

func BenchmarkFind(b *testing.B) {
	s := knownSpaces()[3].build(b)
	rows := make([][]int, 1000)
	for i := range rows {
		rows[i] = s.Row(i*349, nil)
	}
	for i := 0; b.Loop(); i++ {
		if _, ok := s.Find(rows[i%len(rows)]); !ok {
			b.Fatal("not found")
		}
	}
}
