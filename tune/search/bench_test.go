package search

import (
	"math"
	"testing"

	"github.com/ndtune/ndtune/tune/space"
)

// hotspot has the parameters and restrictions of Kernel Tuner's hotspot example, a
// search space of hundreds of thousands of configurations.
func hotspot(b testing.TB) *space.Space {
	b.Helper()
	var widths, heights, unrolls []space.Value
	for _, n := range []int{1, 2, 4, 8, 16} {
		widths = append(widths, n)
	}
	for n := 32; n <= 1024; n += 32 {
		widths = append(widths, n)
	}
	for n := 1; n <= 32; n *= 2 {
		heights = append(heights, n)
	}
	for n := 1; n <= 10; n++ {
		unrolls = append(unrolls, n)
	}
	p, err := space.NewParameters([]space.Parameter{
		{Name: "block_size_x", Values: widths},
		{Name: "block_size_y", Values: heights},
		{Name: "tile_size_x", Values: unrolls},
		{Name: "tile_size_y", Values: unrolls},
		{Name: "temporal_tiling_factor", Values: unrolls},
		{Name: "loop_unroll_factor_t", Values: unrolls},
		{Name: "sh_power", Values: []space.Value{0, 1}},
		{Name: "blocks_per_sm", Values: []space.Value{0, 1, 2, 3, 4}},
	})
	if err != nil {
		b.Fatal(err)
	}
	s, err := space.New(b.Context(), p, []space.Restriction{
		{Expression: "block_size_x * block_size_y >= 32"},
		{Expression: "temporal_tiling_factor % loop_unroll_factor_t == 0"},
		{Expression: "block_size_x * block_size_y <= 1024"},
		{Expression: "(block_size_x * tile_size_x + temporal_tiling_factor * 2) * (block_size_y * tile_size_y + temporal_tiling_factor * 2) * (2 + sh_power) * 4 <= 16384"},
		{Expression: "blocks_per_sm == 0 || (block_size_x * tile_size_x + temporal_tiling_factor * 2) * (block_size_y * tile_size_y + temporal_tiling_factor * 2) * (2 + sh_power) * 4 * blocks_per_sm <= 65536 && block_size_x * block_size_y * blocks_per_sm <= 2048"},
	}, nil)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkProposal is what a strategy takes for one proposal and its observation, over
// searches of 500.
func BenchmarkProposal(b *testing.B) {
	s := hotspot(b)
	b.Logf("%d configurations", s.Len())
	var row []int
	for _, name := range Names() {
		b.Run(name, func(b *testing.B) {
			var strategy Strategy
			defer func() { strategy.Close() }()
			for n := 0; b.Loop(); n++ {
				if n%500 == 0 {
					if strategy != nil {
						strategy.Close()
					}
					strategy, _ = New(name, s, Options{Seed: uint64(n)})
				}
				i := strategy.Ask(1)[0]
				row = s.Row(i, row)
				y := 1.0
				for p, digit := range row {
					y += math.Abs(math.Sin(float64(p+1) * float64(digit+p)))
				}
				strategy.Tell([]Observation{{Index: i, Objective: y, Valid: true}})
			}
		})
	}
}

// BenchmarkThousandth is what the strategies with a model take for a proposal, and its
// observation, when they have a thousand observations of a space of a million configurations.
func BenchmarkThousandth(b *testing.B) {
	var values []space.Value
	for v := 1; v <= 10; v++ {
		values = append(values, v)
	}
	p, err := space.NewParameters([]space.Parameter{
		{Name: "a", Values: values}, {Name: "b", Values: values}, {Name: "c", Values: values}, {Name: "d", Values: values},
		{Name: "e", Values: values}, {Name: "f", Values: values},
	})
	if err != nil {
		b.Fatal(err)
	}
	s, err := space.New(b.Context(), p, nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	var row []int
	objective := func(i int) float64 {
		row = s.Row(i, row)
		return 1 + math.Abs(float64(row[0]-7)) + math.Abs(float64(row[1]-2))*float64(1+row[4]%2) + float64(row[2]%3)*0.1 + float64(row[3]+row[5])*0.05
	}
	for _, name := range []string{Auto, "bayes_opt"} {
		b.Run(name, func(b *testing.B) {
			strategy, err := New(name, s, Options{Seed: 1, Budget: 1500})
			if err != nil {
				b.Fatal(err)
			}
			defer strategy.Close()
			step := func() {
				for _, i := range strategy.Ask(1) {
					strategy.Tell([]Observation{{Index: i, Objective: objective(i), Valid: true}})
				}
			}
			for range 1000 {
				step()
			}
			b.ResetTimer()
			for range b.N {
				step()
			}
		})
	}
}
