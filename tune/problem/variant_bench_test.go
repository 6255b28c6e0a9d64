package problem

import (
	"testing"

	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/score"
)

// BenchmarkVariant is the engine's part of a configuration before anything is built.
func BenchmarkVariant(b *testing.B) {
	p := mustProblem(b, saxpy())
	c := configurationOf(b, p, nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Variant(c, hardware.Device{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkJudge is the engine's part of a configuration after it was measured.
func BenchmarkJudge(b *testing.B) {
	p := mustProblem(b, saxpy())
	c := configurationOf(b, p, nil)
	times := []float64{1, 2, 3, 4, 5, 6, 7}
	b.ReportAllocs()
	for b.Loop() {
		stats := score.StatsOf(times)
		if _, err := p.Judge(c, hardware.Device{}, stats, nil, nil); err != nil {
			b.Fatal(err)
		}
	}
}
