// Package gaussian is regression by Gaussian processes over a fixed set of candidates: what
// search strategies ask of a model of the objective. Points are added one by one, and what
// the candidates are expected to be follows at little cost (Rasmussen and Williams, «Gaussian
// Processes for Machine Learning», 2006, chapters 2 and 5).
//
// Targets are expected to have a mean near 0. The package knows nothing of configurations: a
// point is a list of features on scales from 0 to 1.
package gaussian

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// A Kernel says how alike two points are, by their distance r in units of the length scales.
type Kernel int

// The kernels, from the smoothest functions to the roughest.
const (
	Matern52    Kernel = iota // (1 + √5r + 5r²/3)·exp(−√5r)
	Matern32                  // (1 + √3r)·exp(−√3r)
	Exponential               // exp(−r)
)

// A Process is a Gaussian process that is conditioned on points. It is not safe for
// concurrent use.
type Process struct {
	kernel Kernel
	scales []float64 // length scales, by feature
	noise  float64   // variance of a target about the function, in units of the function's

	points     [][]float64
	factor     [][]float64 // of the points' covariance: the rows of its Cholesky factor
	candidates [][]float64
	solved     [][]float64 // by point: the factor's inverse times the covariance with the candidates
	left       []float64   // by candidate: the variance that the points leave, in units of the function's
}

// New is a process without points, for points of so many features.
func New(k Kernel, features int) *Process {
	p := &Process{kernel: k, scales: make([]float64, features), noise: startNoise}
	for i := range p.scales {
		p.scales[i] = startScale
	}
	return p
}

// Len is the number of points.
func (p *Process) Len() int { return len(p.points) }

// Condition replaces all points and candidates, which must not be changed afterwards: in time
// that grows with the square of the points times the candidates.
func (p *Process) Condition(points, candidates [][]float64) {
	p.points, p.factor, p.solved = nil, nil, nil
	p.candidates = candidates
	p.left = make([]float64, len(candidates))
	for i := range p.left {
		p.left[i] = 1
	}
	for _, x := range points {
		p.Add(x)
	}
}

// Add conditions the process on one more point: in time that grows with the points times
// the candidates.
func (p *Process) Add(x []float64) {
	n := len(p.points)
	row := make([]float64, n+1)
	for j, y := range p.points {
		row[j] = (p.covariance(x, y) - floats.Dot(row[:j], p.factor[j][:j])) / p.factor[j][j]
	}
	row[n] = math.Sqrt(math.Max(1+p.noise-floats.Dot(row[:n], row[:n]), leastPivot))
	solved := make([]float64, len(p.candidates))
	for c, y := range p.candidates {
		solved[c] = p.covariance(x, y)
	}
	for k, s := range p.solved {
		floats.AddScaled(solved, -row[k], s)
	}
	floats.Scale(1/row[n], solved)
	for c, v := range solved {
		p.left[c] -= v * v
	}
	p.points, p.factor, p.solved = append(p.points, x), append(p.factor, row), append(p.solved, solved)
}

// leastPivot keeps the factor away from points that are told apart by nothing.
const leastPivot = 1e-9

// Means are what the candidates are expected to be, given the targets of all points, and the
// standard deviation of the function.
func (p *Process) Means(targets []float64) (means []float64, deviation float64) {
	z := p.solve(targets)
	means = make([]float64, len(p.candidates))
	for k, s := range p.solved {
		floats.AddScaled(means, z[k], s)
	}
	if n := len(z); n > 0 {
		deviation = math.Sqrt(floats.Dot(z, z) / float64(n))
	}
	return means, deviation
}

// Left is the variance of each candidate that the points leave, in units of the function's
// variance: 1 far from all points.
func (p *Process) Left() []float64 { return p.left }

// Weights are what the targets of all points make of them, for [Process.Mean].
func (p *Process) Weights(targets []float64) []float64 {
	w := p.solve(targets)
	for i := len(w) - 1; i >= 0; i-- {
		w[i] /= p.factor[i][i]
		floats.AddScaled(w[:i], -w[i], p.factor[i][:i])
	}
	return w
}

// Mean is what any point is expected to be, be it no candidate.
func (p *Process) Mean(x, weights []float64) float64 {
	sum := 0.0
	for i, y := range p.points {
		sum += weights[i] * p.covariance(x, y)
	}
	return sum
}

// solve is the factor's inverse times the targets.
func (p *Process) solve(targets []float64) []float64 {
	z := make([]float64, len(p.points))
	for i, row := range p.factor {
		z[i] = (targets[i] - floats.Dot(row[:i], z[:i])) / row[i]
	}
	return z
}

func (p *Process) covariance(x, y []float64) float64 { return p.kernel.of(x, y, p.scales) }

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
