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

// A Roofline is the least work of a launch, which no configuration can avoid. It adds the metrics
// GFLOP/s and GB/s for the amounts that are given. If the peaks of the device are known, it also adds
// «% of limit», the share of the time that the device needs for this work: see [Problem.Limit].
type Roofline struct {
	Flops     Expr   // floating point operations of a launch; "": not known
	Bytes     Expr   // bytes that a launch must read or write, each counted once; "": not known
	Precision string // of the operations: float64, float32, float16, or an expression of constants that is one of these; "": float32
}

// The metrics of a [Roofline].
const (
	MetricFlops   = "GFLOP/s"
	MetricBytes   = "GB/s"
	MetricOfLimit = "% of limit"
)

// precisions maps the names of types to the peaks of their arithmetic.
var precisions = map[string]string{
	"float32": hardware.PeakFloat32, "float": hardware.PeakFloat32,
	"float64": hardware.PeakFloat64, "double": hardware.PeakFloat64,
	"float16": hardware.PeakFloat16, "half": hardware.PeakFloat16,
}

// A work is a compiled [Roofline].
type work struct {
	flops, bytes *expression.Expression // nil: not given
	precision    string
}

func (p *Problem) compileRoofline(errs *fieldErrors, scope expression.Scope) {
	given := p.definition.Roofline
	if given == nil {
		return
	}
	r := &work{precision: hardware.PeakFloat32}
	if given.Precision != "" {
		r.precision = p.compilePrecision(errs, given.Precision, scope)
	}
	if given.Flops == "" && given.Bytes == "" {
		errs.addf("roofline", "give flops, bytes or both")
	}
	r.flops = p.compileAmount(errs, "roofline.flops", "", given.Flops, scope)
	r.bytes = p.compileAmount(errs, "roofline.bytes", "", given.Bytes, scope)
	p.roofline = r
}

// compilePrecision returns the peak of a precision, or of an expression of constants whose value is one.
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

// metrics returns the names of the metrics that the roofline adds on a device.
func (r *work) metrics(d hardware.Device) []string {
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

// reserved returns the names that metrics of the definition cannot have.
func (r *work) reserved() []string {
	if r == nil {
		return nil
	}
	return append(r.metrics(hardware.Device{}), MetricOfLimit)
}

// known returns an error that says why no limit can be computed with these peaks, or nil.
func (r *work) known(p *hardware.Peaks) error {
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

// LimitKnown returns an error that says why results on a device have no «% of limit». It returns nil if
// they have it, and if there is no roofline.
func (p *Problem) LimitKnown(d hardware.Device) error {
	if p.roofline == nil {
		return nil
	}
	return p.roofline.known(d.Peaks)
}

// A Resource is a part of a device that limits a kernel.
type Resource string

// The resources.
const (
	Arithmetic Resource = "arithmetic"
	Memory     Resource = "memory"
	Caches     Resource = "caches"
)

// A Limit is the least time that a device needs for a launch: the time of its arithmetic for the
// operations or of its memory for the bytes, whichever is longer.
type Limit struct {
	Time      float64 // milliseconds
	Resource  Resource
	Rate      float64 // of the resource, in GFLOP/s or GB/s
	Precision string  // of the arithmetic
	Set       int64   // bytes of all buffers together
}

// Share returns the limit as a percentage of a time in milliseconds.
func (l Limit) Share(ms float64) float64 { return 100 * l.Time / ms }

// Limit returns the limit of a configuration on a device whose peaks are known. It is an error if there
// is none.
//
// The rate of arithmetic is that of multiply-adds of the precision, two operations each; it does not
// count matrix units. The rate of memory is that of a copy for the bytes that are written, which are the
// outputs, and as many that are read. The remaining bytes move at the rate of a read or of a copy,
// whichever is higher: memory is faster if it need not alternate between reads and writes. Both rates
// are those of sets of buffers as large as all buffers of the problem together. Sets that fit the
// caches have the rates of the caches, unless the caches are cold: then they are full of other data, which go to
// memory when the kernel writes its own.
func (p *Problem) Limit(c space.Configuration, d hardware.Device) (Limit, error) {
	env := p.environmentOf(c, d)
	return p.limit(env, d.Peaks)
}

func (p *Problem) limit(env map[string]any, peaks *hardware.Peaks) (l Limit, err error) {
	if p.roofline == nil {
		return l, errors.New("the specification has no roofline")
	}
	if err := p.roofline.known(peaks); err != nil {
		return l, err
	}
	var b buffers
	if p.roofline.bytes != nil {
		if b, err = p.buffers(env); err != nil {
			return l, err
		}
	}
	return p.roofline.limit(env, peaks, b)
}

// buffers are the sizes of buffers in bytes.
type buffers struct {
	all, outputs float64
	cold         bool // the caches hold other data before a launch
}

// limit returns the limit of a work in an environment. The peaks that it needs are known.
func (r *work) limit(env map[string]any, peaks *hardware.Peaks, b buffers) (l Limit, err error) {
	flops, err := amount("", r.flops, env)
	if err != nil {
		return l, fmt.Errorf("roofline.flops: %w", err)
	}
	bytes, err := amount("", r.bytes, env)
	if err != nil {
		return l, fmt.Errorf("roofline.bytes: %w", err)
	}
	if r.bytes != nil {
		l = memoryLimit(peaks, bytes, b)
	}
	if r.flops != nil {
		if t := milliseconds(flops, peaks.Value(r.precision)); t > l.Time || r.bytes == nil {
			l.Time, l.Resource, l.Rate, l.Precision = t, Arithmetic, peaks.Value(r.precision), r.precision
		}
	}
	return l, nil
}

// clearlyFaster is the factor over the rate of memory from which a rate counts as one of the caches.
const clearlyFaster = 1.25

// memoryLimit is the limit of memory or of the caches for moving bytes.
func memoryLimit(peaks *hardware.Peaks, bytes float64, b buffers) Limit {
	l := Limit{Resource: Memory, Set: b.set()}
	set := b.all
	if b.cold {
		set = math.Inf(1)
	}
	memory := movingTime(peaks, bytes, b.outputs, math.Inf(1))
	l.Time = movingTime(peaks, bytes, b.outputs, set)
	if l.Time*clearlyFaster < memory {
		l.Resource = Caches
	}
	if l.Rate = peaks.Value(hardware.PeakMemoryCopy); l.Time > 0 {
		l.Rate = bytes / l.Time / 1e6
	}
	return l
}

// movingTime returns the least time in milliseconds for moving bytes, of which some are written, in a
// set of buffers of a size.
func movingTime(p *hardware.Peaks, bytes, written, set float64) float64 {
	c := copied(bytes, written)
	return milliseconds(c, p.CopyRate(set)) + milliseconds(bytes-c, p.ReadRate(set))
}

// copied returns how many of the bytes move at the rate of a copy: the written ones, and as many that
// are read.
func copied(bytes, written float64) float64 { return 2 * min(written, max(0, bytes-written)) }

// reads reports whether some of the bytes that a launch moves are read beyond those that are copied.
func (b buffers) reads(bytes float64) bool { return bytes > copied(bytes, b.outputs) }

// set returns the size of all buffers together as an integer.
func (b buffers) set() int64 { return int64(min(b.all, math.MaxInt64/2)) }

// milliseconds returns the time of an amount of operations or bytes at a rate of 10⁹ a second.
func milliseconds(amount, rate float64) float64 { return amount / rate / 1e6 }

// buffers returns the sizes of all buffers, and of the outputs among them.
func (p *Problem) buffers(env map[string]any) (buffers, error) {
	b := buffers{cold: p.Timing().Cache == CacheCold}
	p = p.in(env)
	for i := range p.arguments {
		a := &p.arguments[i]
		if !a.Kind.HasContent() {
			continue
		}
		elements, err := a.ElementsIn(env)
		if err != nil {
			return b, fmt.Errorf("argument %s: %w", a.Name, err)
		}
		bytes := float64(elements) * float64(a.Element.Size())
		b.all += bytes
		if a.Output {
			b.outputs += bytes
		}
	}
	return b, nil
}

// rooflineMetrics computes the metrics of the roofline at a time in milliseconds. A metric that cannot
// be computed is NaN, and its error is added to failed.
func (p *Problem) rooflineMetrics(env map[string]any, d hardware.Device, time float64, failed map[string]error) (metrics []MetricValue) {
	for _, name := range p.roofline.metrics(d) {
		var value float64
		var err error
		switch name {
		case MetricFlops:
			value, err = amount("", p.roofline.flops, env)
			value /= time * 1e6
		case MetricBytes:
			value, err = amount("", p.roofline.bytes, env)
			value /= time * 1e6
		case MetricOfLimit:
			var l Limit
			l, err = p.limit(env, d.Peaks)
			value = l.Share(time)
		}
		if err != nil {
			value, failed[name] = math.NaN(), fmt.Errorf("metric %s: %w", name, err)
		}
		metrics = append(metrics, MetricValue{name, value})
	}
	return metrics
}

// Needs are the peaks of a device from which the limits of some results are computed.
type Needs struct {
	Precision string  // the peak of the arithmetic; "": none
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
		env := p.environmentOf(c, d)
		bytes, err := amount("", p.roofline.bytes, env)
		if err != nil {
			continue // no limit either
		}
		b, err := p.buffers(env)
		if err != nil {
			continue
		}
		n.Read = n.Read || b.reads(bytes)
		if set := b.set(); !known[set] {
			known[set] = true
			n.Sets = append(n.Sets, set)
		}
	}
	return n
}

// LimitTime returns the time of [Problem.Limit], or NaN if there is no limit.
func (p *Problem) LimitTime(c space.Configuration, d hardware.Device) float64 {
	l, err := p.Limit(c, d)
	if err != nil {
		return math.NaN()
	}
	return l.Time
}

// ReadsPeaks reports whether the search itself needs the peaks of the device, because its objective is
// «% of limit» or an expression reads device.peak.
func (p *Problem) ReadsPeaks() bool {
	return p.Objective().Has(MetricOfLimit) || slices.ContainsFunc(p.definition.Fields(), func(f Field) bool {
		return f.Kind == ExpressionField && strings.Contains(f.Text, "device") && strings.Contains(f.Text, "peak")
	})
}
