package gaussian

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

const (
	startNoise = 1e-3

	// The prior: the logarithms of the length scales and of the noise are normally distributed
	// about the logarithms of their medians, with these standard deviations.
	usualSpread             = 1.0
	usualNoise, noiseSpread = 1e-2, 2.0

	leastScale, mostScale = 0.03, 20.0
	leastNoise, mostNoise = 1e-5, 0.5

	fitRounds = 4
	firstStep = 0.8 // in the logarithm of a length scale
	stepDecay = 0.7 // factor from round to round
	noiseStep = 4.0 // a factor
)

// Fit maximises the likelihood of the targets y of points over the length scales and the noise. It
// starts from their current values and changes one at a time, in steps that get smaller. For n
// points of f features it takes time O(f·n³ + f²·n²). If ctx is done first, or if there are fewer than two points, the process is as it was. The process must be conditioned
// again afterwards, by Condition.
func (p *Process) Fit(ctx context.Context, points [][]float64, y []float64) {
	scales, noise := slices.Clone(p.scales), p.noise
	best := p.likelihood(points, y, scales, noise)
	step := firstStep
	for range fitRounds {
		for i, own := range scales {
			if ctx.Err() != nil || len(points) < 2 {
				return
			}
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

// likelihood returns the logarithm of the posterior density of length scales and noise, up to a
// constant: the marginal likelihood of the targets, with the variance of the function that
// maximises it, times the prior.
func (p *Process) likelihood(points [][]float64, targets, scales []float64, noise float64) float64 {
	q := Process{kernel: p.kernel, scales: scales, noise: noise}
	q.Condition(context.Background(), points, nil)
	l := 0.0
	for i, row := range q.factor {
		l -= math.Log(row[i])
	}
	z := q.solve(targets)
	if sum := floats.Dot(z, z); sum > 0 {
		n := float64(len(points))
		l -= 0.5 * n * math.Log(sum/n)
	}
	for k, s := range scales {
		l -= square(math.Log(s/p.usual[k])/p.spread) / 2
	}
	return l - square(math.Log(noise/usualNoise)/noiseSpread)/2
}

func square(x float64) float64 { return x * x }
