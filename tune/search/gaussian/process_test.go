package gaussian

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// points are n random points of so many features.
func points(r *rand.Rand, n, features int) [][]float64 {
	x := make([][]float64, n)
	for i := range x {
		x[i] = make([]float64, features)
		for j := range x[i] {
			x[i][j] = r.Float64()
		}
	}
	return x
}

// usual are the usual length scales of so many features.
func usual(features int) []float64 { return slices.Repeat([]float64{0.5}, features) }

// wave depends on the first feature much, on the second a little, and on no other.
func wave(x []float64) float64 { return math.Sin(6*x[0]) + 0.3*math.Sin(5*x[1]) }

func targetsAt(x [][]float64) []float64 {
	y := make([]float64, len(x))
	for i := range x {
		y[i] = wave(x[i])
	}
	return y
}

// TestSmallProcess compares with what follows by hand for one point: with the covariance k and
// the noise s, the mean is k·y/(1+s) and the variance 1 − k²/(1+s).
func TestSmallProcess(t *testing.T) {
	for _, k := range []Kernel{Matern52, Matern32, Exponential} {
		p := New(k, usual(1))
		p.Condition(t.Context(), [][]float64{{0.2}}, [][]float64{{0.2}, {0.5}, {100}})
		near := p.covariance([]float64{0.2}, []float64{0.5})
		means, deviation := p.Means([]float64{3})
		for c, want := range []float64{3 / (1 + p.noise), 3 * near / (1 + p.noise), 0} {
			if math.Abs(means[c]-want) > 1e-9 {
				t.Errorf("kernel %d, candidate %d: mean %v, want %v", k, c, means[c], want)
			}
		}
		for c, want := range []float64{1 - 1/(1+p.noise), 1 - near*near/(1+p.noise), 1} {
			if math.Abs(p.Left()[c]-want) > 1e-9 {
				t.Errorf("kernel %d, candidate %d: %v left, want %v", k, c, p.Left()[c], want)
			}
		}
		if want := 3 / math.Sqrt(1+p.noise); math.Abs(deviation-want) > 1e-9 {
			t.Errorf("kernel %d: deviation %v, want %v", k, deviation, want)
		}
	}
}

// TestAddIsCondition: points one by one are the same as all at once, and a candidate's mean
// is that of the point it is.
func TestAddIsCondition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	x, candidates := points(r, 40, 3), points(r, 60, 3)
	y := targetsAt(x)
	whole, grown := New(Matern32, usual(3)), New(Matern32, usual(3))
	whole.Condition(t.Context(), x, candidates)
	grown.Condition(t.Context(), x[:7], candidates)
	for _, point := range x[7:] {
		grown.Add(point)
	}
	if len(grown.points) != len(x) {
		t.Errorf("%d points", len(grown.points))
	}
	a, da := whole.Means(y)
	b, db := grown.Means(y)
	weights := grown.Weights(y)
	for c := range a {
		if math.Abs(a[c]-b[c]) > 1e-9 || math.Abs(whole.Left()[c]-grown.Left()[c]) > 1e-9 || math.Abs(da-db) > 1e-9 {
			t.Errorf("candidate %d: %v and %v, left %v and %v", c, a[c], b[c], whole.Left()[c], grown.Left()[c])
		}
		if m := grown.Mean(candidates[c], weights); math.Abs(m-a[c]) > 1e-6 {
			t.Errorf("candidate %d: Mean says %v, Means %v", c, m, a[c])
		}
	}
}

// TestFit: fitted, the process knows which features matter, and predicts better than before,
// and than the mean of all.
func TestFit(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	x, candidates := points(r, 60, 4), points(r, 200, 4)
	y, want := targetsAt(x), targetsAt(candidates)
	wrong := func(p *Process) float64 {
		p.Condition(t.Context(), x, candidates)
		means, _ := p.Means(y)
		sum := 0.0
		for c := range means {
			sum += square(means[c] - want[c])
		}
		return sum
	}
	p := New(Matern52, usual(4))
	before := wrong(p)
	values := func() []float64 { return append(p.Scales(), p.noise) }
	likely := p.likelihood(x, y, values())
	p.Fit(t.Context(), x, y)
	if l := p.likelihood(x, y, values()); l <= likely {
		t.Errorf("the likelihood was %v, and is %v", likely, l)
	}
	after := wrong(p)
	variance := 0.0
	for _, v := range want {
		variance += square(v)
	}
	if after >= before || after > variance/50 {
		t.Errorf("squared errors %v before, %v after, of %v", before, after, variance)
	}
	if p.scales[0] >= p.scales[1] || p.scales[1] >= min(p.scales[2], p.scales[3]) {
		t.Errorf("length scales %v: the first feature matters most, the last two do not", p.scales)
	}
}

// TestPointsAlike: points that nothing tells apart, with targets that differ, are noise.
func TestPointsAlike(t *testing.T) {
	p := New(Matern32, usual(1))
	p.Condition(t.Context(), [][]float64{{0.5}, {0.5}, {0.5}, {0.5}}, [][]float64{{0.5}})
	means, _ := p.Means([]float64{1, -1, 1, -1})
	if math.Abs(means[0]) > 1e-6 || math.IsNaN(p.Left()[0]) || p.Left()[0] < -1e-9 {
		t.Errorf("mean %v, %v left", means[0], p.Left()[0])
	}
}

// TestConstant takes many points at one place and one at another, with a function of 1 and of 3 there.
func TestConstant(t *testing.T) {
	p := New(Matern32, []float64{0.1})
	if c := p.Constant(nil); c != 0 {
		t.Errorf("%v without points", c)
	}
	p.Condition(t.Context(), [][]float64{{0.1}, {0.1}, {0.1}, {0.1}, {0.9}}, nil)
	if c := p.Constant([]float64{1, 1, 1, 1, 3}); math.Abs(c-2) > 0.01 {
		t.Errorf("%v, want 2", c)
	}
}

func TestInterruptedFit(t *testing.T) {
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	for _, test := range []struct {
		ctx    context.Context
		points int
		fitted bool
	}{{t.Context(), 5, true}, {t.Context(), 1, false}, {interrupted, 5, false}} {
		p := New(Matern52, []float64{0.7})
		p.Fit(test.ctx, [][]float64{{0}, {0.2}, {0.5}, {0.6}, {1}}[:test.points], []float64{-1, 1, -0.5, 0.7, 0}[:test.points])
		if fitted := p.Scales()[0] != 0.7; fitted != test.fitted {
			t.Errorf("of %d points: fitted %v", test.points, fitted)
		}
	}
}

// TestUnknownTargets: points without a target, the last ones, change no mean, no constant and no deviation, but leave less variance. When a
// target becomes known, everything is as if it had always been.
func TestUnknownTargets(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	x, candidates := points(r, 20, 2), points(r, 30, 2)
	y := targetsAt(x)
	whole, known := New(Matern52, usual(2)), New(Matern52, usual(2))
	whole.Condition(t.Context(), x, candidates)
	for n := 10; n <= 20; n++ {
		known.Condition(t.Context(), x[:n], candidates)
		partly := slices.Clone(y)
		for i := n; i < len(partly); i++ {
			partly[i] = math.NaN()
		}
		means, deviation := whole.Means(partly)
		want, wantDeviation := known.Means(y[:n])
		for c := range means {
			if math.Abs(means[c]-want[c]) > 1e-9 {
				t.Fatalf("%d known: candidate %d: mean %v, want %v", n, c, means[c], want[c])
			}
			if n < 20 && !(whole.Left()[c] < known.Left()[c]) {
				t.Fatalf("%d known: candidate %d: %v left, %v without the others", n, c, whole.Left()[c], known.Left()[c])
			}
		}
		if math.Abs(deviation-wantDeviation) > 1e-9 || math.Abs(whole.Constant(partly)-known.Constant(y[:n])) > 1e-9 {
			t.Fatalf("%d known: deviation %v, want %v; constant %v, want %v", n, deviation, wantDeviation, whole.Constant(partly), known.Constant(y[:n]))
		}
		weights := known.Weights(y[:n])
		for i, complete := range whole.Complete(partly) {
			want := y[i]
			if i >= n {
				want = known.Mean(x[i], weights)
			}
			if math.Abs(complete-want) > 1e-9 {
				t.Fatalf("%d known: point %d is believed to be %v, want %v", n, i, complete, want)
			}
		}
	}
}

// TestFitSideBySide: what is computed side by side changes nothing.
func TestFitSideBySide(t *testing.T) {
	x := points(rand.New(rand.NewPCG(5, 6)), 30, 4)
	y, candidates := targetsAt(x), points(rand.New(rand.NewPCG(7, 8)), 3*leastPart, 4)
	results := map[string]bool{}
	for _, n := range []int{1, 2, 3, mostParallel} {
		before := runtime.GOMAXPROCS(n)
		p := New(Matern52, usual(4))
		p.Fit(t.Context(), x, y)
		p.Condition(t.Context(), x[1:], candidates)
		p.Add(x[0])
		means, deviation := p.Means(y)
		results[fmt.Sprint(p.scales, p.noise, means, deviation, p.Left())] = true
		runtime.GOMAXPROCS(before)
	}
	if len(results) != 1 {
		t.Errorf("%d different results", len(results))
	}
}
