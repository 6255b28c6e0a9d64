package gaussian

import (
	"context"
	"math"
	"slices"
	"sync"

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
// points of f features it takes time O(f·n³ + f²·n²). If ctx is done first, or if there are fewer than two points, the process is as it was.
// The process must be conditioned again afterwards, by Condition.
func (p *Process) Fit(ctx context.Context, points [][]float64, y []float64) {
	values := append(slices.Clone(p.scales), p.noise)
	best := p.likelihood(points, y, values)
	step := firstStep
	for range fitRounds {
		for steps := p.steps(step); len(steps) > 0; {
			if ctx.Err() != nil || len(points) < 2 {
				return
			}
			tried := steps[:min(len(steps), parallel())]
			likelihoods := make([]float64, len(tried))
			var all sync.WaitGroup
			for k, s := range tried {
				all.Go(func() { likelihoods[k] = p.likelihood(points, y, s.from(values)) })
			}
			all.Wait()
			k := slices.IndexFunc(likelihoods, func(l float64) bool { return l > best })
			if k < 0 {
				steps = steps[len(tried):]
				continue
			}
			// The steps after it would start from other values, so that the result does not depend on how many are tried at once.
			taken := steps[k]
			best, values = likelihoods[k], taken.from(values)
			steps = slices.DeleteFunc(steps[k+1:], func(s fitStep) bool { return s.place == taken.place })
		}
		step *= stepDecay
	}
	p.scales, p.noise = values[:len(p.scales)], values[len(p.scales)]
}

// A fitStep changes one of the values that Fit fits: the length scales, then the noise.
type fitStep struct {
	place               int
	factor, least, most float64
}

// steps returns the steps of a round, given the logarithm of the factor of a length scale.
func (p *Process) steps(logarithm float64) (all []fitStep) {
	for i := range p.scales {
		for _, l := range []float64{logarithm, -logarithm} {
			all = append(all, fitStep{i, math.Exp(l), leastScale, mostScale})
		}
	}
	n := len(p.scales)
	return append(all, fitStep{n, noiseStep, leastNoise, mostNoise}, fitStep{n, 1 / noiseStep, leastNoise, mostNoise})
}

// from returns the values that the step leads to.
func (s fitStep) from(values []float64) []float64 {
	values = slices.Clone(values)
	values[s.place] = min(s.most, max(s.least, values[s.place]*s.factor))
	return values
}

// likelihood returns the logarithm of the posterior density of values, the length scales and then the noise, up to a
// constant: the marginal likelihood of the targets, with the variance of the function that
// maximises it, times the prior.
func (p *Process) likelihood(points [][]float64, targets, values []float64) float64 {
	scales, noise := values[:len(p.scales)], values[len(p.scales)]
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
