package gaussian

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

const (
	startScale = 0.5
	startNoise = 1e-3

	// What is thought of the length scales and the noise before any target is known: their
	// logarithms are normally distributed about these, with these standard deviations.
	usualScale, scaleSpread = 0.7, 1.0
	usualNoise, noiseSpread = 1e-2, 2.0

	leastScale, mostScale = 0.03, 20.0
	leastNoise, mostNoise = 1e-5, 0.5

	fitRounds = 4
	firstStep = 0.8 // of the logarithms
	stepDecay = 0.7
	noiseStep = 4.0 // a factor
)

// Fit finds length scales and noise under which the targets of points are most likely, by
// going from those it has along one of them at a time, in steps that get smaller. The work
// grows with the third power of the points. What the process is conditioned on is then out of
// date: Condition must follow.
func (p *Process) Fit(points [][]float64, y []float64) {
	scales, noise := slices.Clone(p.scales), p.noise
	best := p.likelihood(points, y, scales, noise)
	step := firstStep
	for range fitRounds {
		for i, own := range scales {
			for _, factor := range []float64{math.Exp(step), math.Exp(-step)} {
				scales[i] = min(mostScale, max(leastScale, own*factor))
				if l := p.likelihood(points, y, scales, noise); l > best {
					best = l
					break
				}
				scales[i] = own
			}
		}
		for _, factor := range []float64{noiseStep, 1 / noiseStep} {
			other := min(mostNoise, max(leastNoise, noise*factor))
			if l := p.likelihood(points, y, scales, other); l > best {
				best, noise = l, other
				break
			}
		}
		step *= stepDecay
	}
	p.scales, p.noise = scales, noise
}

// likelihood is the logarithm of the marginal likelihood of targets, with the variance of the
// function at its best, and of what is thought of the parameters beforehand; but for a
// constant.
func (p *Process) likelihood(points [][]float64, targets, scales []float64, noise float64) float64 {
	n := len(points)
	factor := make([][]float64, n)
	z := make([]float64, n)
	logs := 0.0
	for i, x := range points {
		row := make([]float64, i+1)
		for j := range i {
			row[j] = (p.kernel.of(x, points[j], scales) - floats.Dot(row[:j], factor[j][:j])) / factor[j][j]
		}
		row[i] = math.Sqrt(math.Max(1+noise-floats.Dot(row[:i], row[:i]), leastPivot))
		logs += math.Log(row[i])
		z[i] = (targets[i] - floats.Dot(row[:i], z[:i])) / row[i]
		factor[i] = row
	}
	l := -logs
	if q := floats.Dot(z, z); q > 0 {
		l -= 0.5 * float64(n) * math.Log(q/float64(n))
	}
	for _, s := range scales {
		l -= square(math.Log(s/usualScale)/scaleSpread) / 2
	}
	return l - square(math.Log(noise/usualNoise)/noiseSpread)/2
}

func square(x float64) float64 { return x * x }
