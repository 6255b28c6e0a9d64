package search

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomPoints draws points of which many have a value in common.
func randomPoints(rng *rand.Rand, n, objectives, values int) [][]float64 {
	points := make([][]float64, n)
	for i := range points {
		for range objectives {
			points[i] = append(points[i], float64(rng.IntN(values)))
		}
	}
	return points
}

// TestHypervolume counts the unit cells that points dominate.
func TestHypervolume(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		d := 1 + rng.IntN(4)
		points := randomPoints(rng, rng.IntN(9), d, 8)
		reference := slices.Repeat([]float64{6}, d)
		want := 0.0
		for cell := range int(math.Pow(6, float64(d))) {
			corner := make([]float64, d)
			for k := range corner {
				corner[k] = float64(cell % 6)
				cell /= 6
			}
			if slices.ContainsFunc(points, func(p []float64) bool { return Dominates(p, corner) || slices.Equal(p, corner) }) {
				want++
			}
		}
		if got := hypervolume(points, reference); got != want {
			t.Fatalf("the hypervolume of %v is %v, want %v", points, got, want)
		}
	}
}

// TestExpectedImprovement compares the expected hypervolume improvement, exact and by samples, with the mean improvement
// of random draws of the candidate.
func TestExpectedImprovement(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for range 6 {
		for d := 2; d <= 3; d++ {
			var points [][]float64
			for range 1 + rng.IntN(8) {
				p := make([]float64, d)
				for k := range p {
					p[k] = rng.NormFloat64()
				}
				points = append(points, p)
			}
			reference := slices.Repeat([]float64{3}, d)
			v := newImprovement(points, reference, rng)
			if d > 2 { // more samples, for a test of the formula
				v.samples, v.volume = nil, 0
				for range 400 {
					w := newImprovement(points, reference, rng)
					v.samples, v.volume = append(v.samples, w.samples...), v.volume+w.volume/400
				}
			}
			means, deviations := make([]float64, d), make([]float64, d)
			for k := range means {
				means[k], deviations[k] = rng.NormFloat64()-0.5, rng.Float64()
			}
			deviations[rng.IntN(2*d)%d] *= float64(rng.IntN(2)) // 0 at times
			const draws = 10_000
			before, mean, square := hypervolume(points, reference), 0.0, 0.0
			for range draws {
				y := make([]float64, d)
				for k := range y {
					y[k] = means[k] + deviations[k]*rng.NormFloat64()
					if d > 2 {
						y[k] = max(y[k], v.low[k])
					}
				}
				gain := hypervolume(append(slices.Clip(points), y), reference) - before
				mean += gain / draws
				square += gain * gain / draws
			}
			noise := math.Sqrt(max(0, square-mean*mean) / draws)
			allowed := 5*noise + 1e-3
			if d > 2 {
				allowed += 0.04*mean + 0.02 // the samples of the region
			}
			if got := v.expected(means, deviations); math.Abs(got-mean) > allowed {
				t.Errorf("%d objectives, front %v, candidate %v ± %v: expected improvement %v, mean of draws %v ± %v", d, v.front, means, deviations, got, mean, noise)
			}
		}
	}
}

// TestStandings compares ranks with their definition, and keeps the ends of each front.
func TestStandings(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 200 {
		points := randomPoints(rng, 1+rng.IntN(12), 2, 5)
		points[0] = []float64{math.Inf(1), math.Inf(1)} // a failure
		all := standings(points)
		for rank := 0; ; rank++ {
			var rest [][]float64
			for i, s := range all {
				if s.rank >= rank {
					rest = append(rest, points[i])
				}
			}
			if len(rest) == 0 {
				break
			}
			front := NonDominated(rest)
			for i, s := range all {
				if in := slices.ContainsFunc(front, func(p []float64) bool { return slices.Equal(p, points[i]) }); s.rank >= rank && in != (s.rank == rank) {
					t.Fatalf("point %v of %v has the rank %d; front %d is %v", points[i], points, s.rank, rank, front)
				}
			}
			ends := 0
			for _, s := range all {
				if s.rank == rank && math.IsInf(s.crowding, 1) {
					ends++
				}
			}
			if ends == 0 {
				t.Fatalf("front %d of %v has no end", rank, points)
			}
		}
	}
}
