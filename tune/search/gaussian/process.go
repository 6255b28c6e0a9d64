// Package gaussian implements Gaussian process regression over a fixed set of candidates, as a
// model of the objective for search strategies. Points can be added one by one at little cost
// (Rasmussen and Williams, «Gaussian Processes for Machine Learning», 2006, chapters 2 and 5).
//
// Far from all points, the function is assumed to be 0: subtract [Process.Constant] from the targets. A target that is NaN is unknown: the
// function is believed to be there what the points before it predict, so that the point takes away variance, and changes no mean. The
// package knows nothing of configurations: a point is a slice of features from 0 to 1.
package gaussian

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
)

// A Kernel is the covariance of the function at two points, relative to its variance, as a
// function of their distance r in units of the length scales.
type Kernel int

// The kernels, from the smoothest functions to the roughest.
const (
	Matern52    Kernel = iota // (1 + √5r + 5r²/3)·exp(−√5r)
	Matern32                  // (1 + √3r)·exp(−√3r)
	Exponential               // exp(−r)
)

// A Process is a Gaussian process conditioned on points. It is not safe for concurrent use.
type Process struct {
	kernel Kernel
	scales []float64 // length scales, by feature
	noise  float64   // variance of the noise, relative to that of the function

	usual  []float64 // the median of the prior of each length scale
	spread float64   // the standard deviation of the logarithms of the length scales about their medians

	points     [][]float64
	factor     [][]float64 // rows of the Cholesky factor of the points' covariance
	candidates [][]float64
	solved     [][]float64 // by point: the factor's inverse times the covariance with the candidates
	left       []float64   // by candidate: the remaining variance, relative to that of the function
}

// New returns a process without points. Its length scales, one for each feature of a point, are the usual ones until
// [Process.Fit] finds better ones.
func New(k Kernel, usual []float64) *Process {
	p := &Process{kernel: k, noise: startNoise}
	p.Expect(usual, usualSpread)
	return p
}

// Expect sets the length scales, and their prior: the median of each, and the standard deviation of their logarithms, 1 by default. The
// process must be conditioned again afterwards.
func (p *Process) Expect(usual []float64, spread float64) {
	p.usual, p.spread, p.scales = usual, spread, slices.Clone(usual)
}

// Scales returns the length scales, by feature.
func (p *Process) Scales() []float64 { return slices.Clone(p.scales) }

// blockSize is the number of candidates that are conditioned together, so that what is computed of them stays in the processor's caches.
const blockSize = 256

// Condition replaces all points and candidates, which must not be changed afterwards. For n points
// and m candidates it takes time O(n³ + n²m). If ctx is done first, what it predicts is meaningless.
func (p *Process) Condition(ctx context.Context, points, candidates [][]float64) {
	p.points, p.factor, p.solved = nil, nil, nil
	p.candidates = candidates
	p.left = make([]float64, len(candidates))
	for i := range p.left {
		p.left[i] = 1
	}
	for _, x := range points {
		p.extend(x)
	}
	p.sideBySide(func(first, last int) {
		for from := first; from < last && ctx.Err() == nil; from += blockSize {
			for k := range points {
				p.solveCandidates(k, from, min(from+blockSize, last))
			}
		}
	})
}

// Add conditions the process on one more point. For n points and m candidates it takes time
// O(n² + nm).
func (p *Process) Add(x []float64) {
	p.extend(x)
	p.sideBySide(func(first, last int) { p.solveCandidates(len(p.points)-1, first, last) })
}

const (
	// So many computations are made side by side at most: more would take processors from those that build.
	mostParallel = 8
	// Candidates that are computed beside others are so many at least.
	leastPart = 1024
)

func parallel() int { return min(mostParallel, runtime.GOMAXPROCS(0)) }

// sideBySide calls a function for parts of the candidates, which it may change, from one to another. The results do not depend on the parts.
func (p *Process) sideBySide(of func(first, last int)) {
	n := len(p.candidates)
	parts := max(1, min(parallel(), n/leastPart))
	var all sync.WaitGroup
	for i := range parts {
		all.Go(func() { of(i*n/parts, (i+1)*n/parts) })
	}
	all.Wait()
}

// extend adds a point, and its row of the factor.
func (p *Process) extend(x []float64) {
	n := len(p.points)
	row := make([]float64, n+1)
	for j, y := range p.points {
		row[j] = (p.covariance(x, y) - floats.Dot(row[:j], p.factor[j][:j])) / p.factor[j][j]
	}
	row[n] = math.Sqrt(math.Max(1+p.noise-floats.Dot(row[:n], row[:n]), leastPivot))
	p.points, p.factor, p.solved = append(p.points, x), append(p.factor, row), append(p.solved, make([]float64, len(p.candidates)))
}

// solveCandidates computes what point k tells of some candidates, after the points before it.
func (p *Process) solveCandidates(k, from, to int) {
	solved, row := p.solved[k][from:to], p.factor[k]
	for c := range solved {
		solved[c] = p.covariance(p.points[k], p.candidates[from+c])
	}
	for j, s := range p.solved[:k] {
		floats.AddScaled(solved, -row[j], s[from:to])
	}
	floats.Scale(1/row[k], solved)
	for c, v := range solved {
		p.left[from+c] -= v * v
	}
}

// leastPivot keeps the factor regular when points coincide.
const leastPivot = 1e-9

// Means returns the predicted means of the candidates, given the targets of all points, and the
// estimated standard deviation of the function.
func (p *Process) Means(targets []float64) (means []float64, deviation float64) {
	z := p.solve(targets)
	means = make([]float64, len(p.candidates))
	p.sideBySide(func(first, last int) {
		for k, s := range p.solved {
			if !math.IsNaN(targets[k]) {
				floats.AddScaled(means[first:last], z[k], s[first:last])
			}
		}
	})
	n := 0
	for _, t := range targets {
		if !math.IsNaN(t) {
			n++
		}
	}
	if n > 0 {
		deviation = math.Sqrt(floats.Dot(z, z) / float64(n))
	}
	return means, deviation
}

// Constant returns the constant that the targets of all points most probably vary about: their mean, in which points near each other
// count less. It is 0 without points.
func (p *Process) Constant(targets []float64) float64 {
	one := slices.Clone(targets)
	for i, t := range targets {
		if !math.IsNaN(t) {
			one[i] = 1
		}
	}
	ones := p.solve(one)
	if len(ones) == 0 {
		return 0
	}
	return floats.Dot(ones, p.solve(targets)) / floats.Dot(ones, ones)
}

// Complete returns the targets of all points, with what is believed in the place of the unknown ones.
func (p *Process) Complete(targets []float64) []float64 {
	z, complete := p.solve(targets), slices.Clone(targets)
	for i, t := range targets {
		if math.IsNaN(t) {
			complete[i] = floats.Dot(p.factor[i][:i], z[:i])
		}
	}
	return complete
}

// Left returns the remaining variance of each candidate, relative to that of the function: 1 far
// from all points. The slice belongs to the process.
func (p *Process) Left() []float64 { return p.left }

// Weights returns the weights of all points, given their targets, for [Process.Mean].
func (p *Process) Weights(targets []float64) []float64 {
	w := p.solve(targets)
	for i := len(w) - 1; i >= 0; i-- {
		w[i] /= p.factor[i][i]
		floats.AddScaled(w[:i], -w[i], p.factor[i][:i])
	}
	return w
}

// Mean returns the predicted mean at any point, given the weights of [Process.Weights].
func (p *Process) Mean(x, weights []float64) float64 {
	sum := 0.0
	for i, y := range p.points {
		sum += weights[i] * p.covariance(x, y)
	}
	return sum
}

// solve returns the factor's inverse times the targets: 0 for an unknown one.
func (p *Process) solve(targets []float64) []float64 {
	z := make([]float64, len(p.points))
	for i, row := range p.factor {
		if math.IsNaN(targets[i]) {
			continue
		}
		z[i] = (targets[i] - floats.Dot(row[:i], z[:i])) / row[i]
	}
	return z
}

func (p *Process) covariance(x, y []float64) float64 { return p.kernel.of(x, y, p.scales) }

// of returns the kernel's value for two points.
func (k Kernel) of(x, y, scales []float64) float64 {
	sum := 0.0
	for i, v := range x {
		d := (v - y[i]) / scales[i]
		sum += d * d
	}
	switch k {
	case Matern52:
		r := math.Sqrt(5 * sum)
		return (1 + r + r*r/3) * math.Exp(-r)
	case Matern32:
		r := math.Sqrt(3 * sum)
		return (1 + r) * math.Exp(-r)
	}
	return math.Exp(-math.Sqrt(sum))
}
