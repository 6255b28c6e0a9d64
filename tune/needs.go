package tune

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/tune/space"
)

// Needs are the peaks of a device that the limits of some results are computed from.
type Needs struct {
	Precision string  // the figure of the arithmetic; "": none
	Sets      []int64 // bytes of all buffers together, the best result's first; none: no bandwidth
	Read      bool    // bytes are read beyond those that are copied
}

// LimitNeeds are what the limits of the correct results need: those that [Problem.Limit] can
// compute once the device was measured.
func (p *Problem) LimitNeeds(results []Result, d Device) Needs {
	var n Needs
	if p.roofline == nil {
		return n
	}
	if p.roofline.flops != nil {
		n.Precision = p.roofline.precision
	}
	if p.roofline.bytes == nil {
		return n
	}
	known := map[int64]bool{}
	for _, i := range p.Objective().Rank(results).Places {
		env := p.environment(d)
		results[i].Configuration.Assign(env)
		bytes, err := amount(p.roofline.bytes, env)
		if err != nil {
			continue // no limit either
		}
		all, outputs, err := p.bufferBytes(env)
		if err != nil {
			continue
		}
		n.Read = n.Read || bytes > copied(bytes, outputs)
		if set := setSize(all); !known[set] {
			known[set] = true
			n.Sets = append(n.Sets, set)
		}
	}
	return n
}

// LimitTime is the time of [Problem.Limit]; NaN where there is none.
func (p *Problem) LimitTime(c space.Configuration, d Device) float64 {
	l, err := p.Limit(c, d)
	if err != nil {
		return math.NaN()
	}
	return l.Time
}

// AddLimits puts «% of limit» into the correct results that have none, beside the other metrics
// of the roofline: for a device whose peaks are known only now.
func (p *Problem) AddLimits(results []Result, d Device) {
	place := slices.Index(p.roofline.metrics(d), MetricOfLimit)
	if place < 0 {
		return
	}
	for i := range results {
		if results[i].Status == Correct {
			results[i].AddLimit(place, p.LimitTime(results[i].Configuration, d))
		}
	}
}

// AddLimit puts «% of limit» at a place among the metrics of a result that has none, those of its
// final measurement too, by its limit in milliseconds.
func (r *Result) AddLimit(place int, ms float64) {
	if r.Status != Correct {
		return
	}
	// New metrics: others may hold the old ones.
	r.Metrics = withLimit(r.Metrics, place, ms, r.Times, r.Time())
	if r.AtFinal != nil {
		r.AtFinal = &Judgement{withLimit(r.AtFinal.Metrics, place, ms, r.Final, r.FinalTime()), r.AtFinal.Objective}
	}
}

// withLimit are metrics with «% of limit» at the time of some launches.
func withLimit(metrics []MetricValue, place int, ms float64, launches []float64, time float64) []MetricValue {
	if _, has := metricNamed(metrics, MetricOfLimit); has || len(launches) == 0 {
		return metrics
	}
	return slices.Insert(slices.Clip(metrics), min(place, len(metrics)), MetricValue{MetricOfLimit, Limit{Time: ms}.Share(time)})
}

// ReadsPeaks reports whether the search itself needs the peaks of the device: its objective is
// % of limit, or an expression reads device.peak.
func (p *Problem) ReadsPeaks() bool {
	return p.Objective().Name == MetricOfLimit || slices.ContainsFunc(p.definition.expressions(), func(e Expr) bool {
		return strings.Contains(e, "device") && strings.Contains(e, "peak")
	})
}

// expressions are all expressions of a definition.
func (d *Definition) expressions() []Expr {
	all := slices.Concat(d.ProblemSize, d.BlockSize[:], d.GridDiv[0], d.GridDiv[1], d.GridDiv[2])
	for _, a := range d.Arguments {
		all = append(all, a.Size, a.LocalSize, fmt.Sprint(a.Value))
	}
	for _, r := range d.Restrictions {
		all = append(all, r.Expression)
	}
	for _, m := range d.Metrics {
		all = append(all, m.Expression)
	}
	if r := d.Roofline; r != nil {
		all = append(all, r.Flops, r.Bytes)
	}
	if v := d.Verify; v != nil {
		all = append(all, v.Launches, v.ATol, v.RTol)
		if v.Problem != nil {
			all = append(all, v.Problem.expressions()...)
		}
	}
	return all
}
