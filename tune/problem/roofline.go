package problem

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/space"
)

// A Roofline says what a launch must do at least, whatever the configuration does beyond it.
// Its metrics are GFLOP/s and GB/s, for what is given, and where the peaks of the device are
// known «% of limit»: the part of the time that the device needs for it (see [Problem.Limit]).
type Roofline struct {
	Flops     Expr   // floating point operations of a launch; "": not known
	Bytes     Expr   // bytes that a launch must move, each once; "": not known
	Precision string // of the operations: float64, float32, float16, or an expression of constants that is one of these; "": float32
}

// The metrics of a [Roofline].
const (
	MetricFlops   = "GFLOP/s"
	MetricBytes   = "GB/s"
	MetricOfLimit = "% of limit"
)

// precisions are the figures of a device that stand for the arithmetic of a type.
var precisions = map[string]string{
	"float32": hardware.PeakFloat32, "float": hardware.PeakFloat32,
	"float64": hardware.PeakFloat64, "double": hardware.PeakFloat64,
	"float16": hardware.PeakFloat16, "half": hardware.PeakFloat16,
}

// roofline is a compiled Roofline.
type roofline struct {
	flops, bytes *expression.Expression // nil: not given
	precision    string
}

func (p *Problem) compileRoofline(errs *fieldErrors, scope expression.Scope) {
	given := p.definition.Roofline
	if given == nil {
		return
	}
	r := &roofline{precision: hardware.PeakFloat32}
	if given.Precision != "" {
		r.precision = p.compilePrecision(errs, given.Precision, scope)
	}
	if given.Flops == "" && given.Bytes == "" {
		errs.addf("roofline", "give flops, bytes or both")
	}
	r.flops = p.compileAmount(errs, "roofline.flops", given.Flops, scope)
	r.bytes = p.compileAmount(errs, "roofline.bytes", given.Bytes, scope)
	p.roofline = r
}

// compilePrecision is the figure that a precision, or the expression of constants that names it,
// stands for.
func (p *Problem) compilePrecision(errs *fieldErrors, given string, scope expression.Scope) string {
	if figure, known := precisions[given]; known {
		return figure
	}
	e, err := expression.Compile(given, scope)
	var value any
	if err == nil && p.fixed(e) {
		value, err = e.Eval(p.constants)
	}
	if err != nil || value == nil {
		errs.addf("roofline.precision", "%q is none of float32, float64 and float16, nor an expression of constants that is one of them%s", given, nearest.Hint(given, slices.Sorted(maps.Keys(precisions))))
		return ""
	}
	figure, known := precisions[strings.TrimSpace(fmt.Sprint(value))]
	if !known {
		errs.addf("roofline.precision", "%s is %#v, which is none of float32, float64 and float16", given, value)
	}
	return figure
}

// compileAmount compiles what a launch must do and, where it is fixed, computes it once.
func (p *Problem) compileAmount(errs *fieldErrors, field string, source Expr, scope expression.Scope) *expression.Expression {
	if source == "" {
		return nil
	}
	e, err := expression.Compile(source, scope)
	if err != nil {
		errs.add(field, err)
		return nil
	}
	if p.fixed(e) {
		_, err := amount(e, p.constants)
		errs.add(field, err)
	}
	return e
}

// amount computes how much a launch must do; 0 where that is not given.
func amount(e *expression.Expression, env map[string]any) (float64, error) {
	if e == nil {
		return 0, nil
	}
	n, err := e.Float(env)
	if err == nil && !(Finite(n) && n >= 0) {
		err = fmt.Errorf("%s is %v; want a number that is not negative", e, n)
	}
	return n, err
}

// metrics are the names of those that the roofline has on a device.
func (r *roofline) metrics(d hardware.Device) []string {
	if r == nil {
		return nil
	}
	var names []string
	if r.flops != nil {
		names = append(names, MetricFlops)
	}
	if r.bytes != nil {
		names = append(names, MetricBytes)
	}
	if r.known(d.Peaks) == nil {
		names = append(names, MetricOfLimit)
	}
	return names
}

// reserved are the names that metrics of the user's own cannot have.
func (r *roofline) reserved() []string {
	if r == nil {
		return nil
	}
	names := r.metrics(hardware.Device{})
	if !slices.Contains(names, MetricOfLimit) {
		names = append(names, MetricOfLimit)
	}
	return names
}

// known says why no limit can be computed with these peaks.
func (r *roofline) known(p *hardware.Peaks) error {
	if p == nil {
		return errors.New("the peaks of the device are not known")
	}
	lacks := func(name string) error {
		if p.Value(name) > 0 {
			return nil
		}
		why := p.Figures[name].Missing
		if why == "" {
			why = "it was not measured"
		}
		return fmt.Errorf("the device's peak %s is not known: %s", name, why)
	}
	if r.flops != nil {
		if err := lacks(r.precision); err != nil {
			return err
		}
	}
	if r.bytes != nil {
		return lacks(hardware.PeakMemoryCopy)
	}
	return nil
}

// LimitKnown says why results on a device have no % of limit; nil: they have it, or there is no
// roofline.
func (p *Problem) LimitKnown(d hardware.Device) error {
	if p.roofline == nil {
		return nil
	}
	return p.roofline.known(d.Peaks)
}

// A Resource is what limits a kernel.
type Resource string

// The resources.
const (
	Arithmetic Resource = "arithmetic"
	Memory     Resource = "memory"
	Caches     Resource = "caches"
)

// A Limit is the least that a device needs for a launch: what its arithmetic needs for the
// operations or what its memory needs for the bytes, whichever is longer.
type Limit struct {
	Time      float64 // milliseconds
	Resource  Resource
	Rate      float64 // what the resource gives, in GFLOP/s or GB/s
	Precision string  // of the arithmetic
	Set       int64   // bytes of all buffers together
}

// Share is the limit's part of a time in milliseconds, in percent.
func (l Limit) Share(ms float64) float64 { return 100 * l.Time / ms }

// Limit is the limit of a configuration on a device whose peaks are known. The error says
// why there is none.
//
// Arithmetic is held against the device's rate of multiply-adds, two operations each, of the
// precision; matrix units are not counted. Memory is held against the device's copy: what is
// written, which is the size of the outputs, and as much that is read, moves at the rate of a copy.
// What is read or written beyond that moves at the rate of a read or of a copy, whichever is
// higher: memory that need not turn around is faster than a copy. Both rates are those of sets of
// buffers as large as those of the problem are together, so that what fits the caches is held
// against them.
func (p *Problem) Limit(c space.Configuration, d hardware.Device) (Limit, error) {
	env := p.environment(d)
	c.Assign(env)
	return p.limit(env, d.Peaks)
}

func (p *Problem) limit(env map[string]any, peaks *hardware.Peaks) (Limit, error) {
	r := p.roofline
	if r == nil {
		return Limit{}, errors.New("the specification has no roofline")
	}
	if err := r.known(peaks); err != nil {
		return Limit{}, err
	}
	flops, err := amount(r.flops, env)
	if err != nil {
		return Limit{}, fmt.Errorf("roofline.flops: %w", err)
	}
	bytes, err := amount(r.bytes, env)
	if err != nil {
		return Limit{}, fmt.Errorf("roofline.bytes: %w", err)
	}
	l := Limit{}
	if r.bytes != nil {
		if l, err = p.memoryLimit(env, peaks, bytes); err != nil {
			return Limit{}, err
		}
	}
	if r.flops != nil {
		if t := milliseconds(flops, peaks.Value(r.precision)); t > l.Time || r.bytes == nil {
			l.Time, l.Resource, l.Rate, l.Precision = t, Arithmetic, peaks.Value(r.precision), r.precision
		}
	}
	return l, nil
}

// clearlyFaster is how much faster than memory a rate is that is called one of the caches.
const clearlyFaster = 1.25

func (p *Problem) memoryLimit(env map[string]any, peaks *hardware.Peaks, bytes float64) (Limit, error) {
	all, outputs, err := p.bufferBytes(env)
	if err != nil {
		return Limit{}, err
	}
	l := Limit{Resource: Memory, Set: setSize(all)}
	memory := movingTime(peaks, bytes, outputs, math.Inf(1))
	l.Time = movingTime(peaks, bytes, outputs, all)
	if l.Time*clearlyFaster < memory {
		l.Resource = Caches
	}
	if l.Rate = peaks.Value(hardware.PeakMemoryCopy); l.Time > 0 {
		l.Rate = bytes / l.Time / 1e6
	}
	return l, nil
}

// movingTime returns the least time in milliseconds for moving bytes, of which so many are written,
// in a set of buffers.
func movingTime(p *hardware.Peaks, bytes, written, set float64) float64 {
	c := copied(bytes, written)
	return milliseconds(c, p.CopyRate(set)) + milliseconds(bytes-c, p.ReadRate(set))
}

// copied are the bytes, of all that are moved, that move at the rate of a copy: those that are
// written, and as many that are read.
func copied(bytes, written float64) float64 { return 2 * min(written, max(0, bytes-written)) }

// setSize is the size of all buffers together.
func setSize(bytes float64) int64 { return int64(min(bytes, math.MaxInt64/2)) }

// milliseconds is the time of so many operations or bytes at 10^9 a second times rate.
func milliseconds(amount, rate float64) float64 { return amount / rate / 1e6 }

// bufferBytes are the bytes of all buffers, and of the outputs among them.
func (p *Problem) bufferBytes(env map[string]any) (all, outputs float64, err error) {
	for i := range p.arguments {
		a := &p.arguments[i]
		if a.kind != BufferArgument {
			continue
		}
		elements := 0
		if a.size == nil {
			elements = a.data.Len()
		} else if elements, err = positive("size", a.size, env); err != nil {
			return 0, 0, fmt.Errorf("argument %s: %w", a.Name, err)
		}
		bytes := float64(elements) * float64(a.typ.Size())
		all += bytes
		if a.Output {
			outputs += bytes
		}
	}
	return all, outputs, nil
}

// rooflineMetrics computes the metrics of the roofline at a time in milliseconds. One that
// cannot be computed is NaN, with the error.
func (p *Problem) rooflineMetrics(env map[string]any, d hardware.Device, time float64) (metrics []MetricValue, failed error) {
	for _, name := range p.roofline.metrics(d) {
		value := math.NaN()
		var err error
		switch name {
		case MetricFlops:
			if value, err = amount(p.roofline.flops, env); err == nil {
				value /= time * 1e6
			}
		case MetricBytes:
			if value, err = amount(p.roofline.bytes, env); err == nil {
				value /= time * 1e6
			}
		case MetricOfLimit:
			var l Limit
			if l, err = p.limit(env, d.Peaks); err == nil {
				value = l.Share(time)
			}
		}
		if err != nil {
			value, failed = math.NaN(), fmt.Errorf("metric %s: %w", name, err)
		}
		metrics = append(metrics, MetricValue{name, value})
	}
	return metrics, failed
}

// Needs are the peaks of a device that the limits of some results are computed from.
type Needs struct {
	Precision string  // the figure of the arithmetic; "": none
	Sets      []int64 // bytes of all buffers together, the best result's first; none: no bandwidth
	Read      bool    // bytes are read beyond those that are copied
}

// LimitNeeds returns the peaks that [Problem.Limit] needs for some configurations, the best first.
func (p *Problem) LimitNeeds(configurations iter.Seq[space.Configuration], d hardware.Device) Needs {
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
	for c := range configurations {
		env := p.environment(d)
		c.Assign(env)
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
func (p *Problem) LimitTime(c space.Configuration, d hardware.Device) float64 {
	l, err := p.Limit(c, d)
	if err != nil {
		return math.NaN()
	}
	return l.Time
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
