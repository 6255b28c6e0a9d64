package problem

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// precisions maps the names of types to the peaks of their arithmetic.
var precisions = map[string]string{
	"float32": hardware.PeakFloat32, "float": hardware.PeakFloat32,
	"float64": hardware.PeakFloat64, "double": hardware.PeakFloat64,
	"float16": hardware.PeakFloat16, "half": hardware.PeakFloat16,
}

// A roofline is a compiled definition.Roofline: the least work of a launch. It is zero if there is none.
type roofline struct {
	flops, bytes *expression.Expression // nil: not given
	precision    string
}

func (p compiler) compileRoofline() {
	given := p.definition.Roofline
	if given == nil {
		return
	}
	p.roofline.precision = hardware.PeakFloat32
	if given.Precision != "" {
		p.roofline.precision = p.compilePrecision(given.Precision)
	}
	if given.Flops == "" && given.Bytes == "" {
		p.addf("roofline", "give flops, bytes or both")
	}
	p.roofline.flops = p.compileAmount("roofline.flops", "", given.Flops)
	p.roofline.bytes = p.compileAmount("roofline.bytes", "", given.Bytes)
}

// compilePrecision returns the peak of a precision, or of an expression of constants whose value is one.
func (p compiler) compilePrecision(given string) string {
	if figure, known := precisions[given]; known {
		return figure
	}
	e, err := expression.Compile(given, p.scope)
	var value any
	if err == nil && p.fixed(e) {
		value, err = e.Eval(p.constants)
	}
	if err != nil || value == nil {
		p.addf("roofline.precision", "%q is none of float32, float64 and float16, nor an expression of constants that is one of them%s",
			given, nearest.Hint(given, slices.Sorted(maps.Keys(precisions))))
		return ""
	}
	figure, known := precisions[strings.TrimSpace(fmt.Sprint(value))]
	if !known {
		p.addf("roofline.precision", "%s is %#v, which is none of float32, float64 and float16", given, value)
	}
	return figure
}

// metrics returns the names of the metrics that the roofline adds on a device with some peaks.
func (r *roofline) metrics(peaks *hardware.Peaks) (names []string) {
	if r.flops != nil {
		names = append(names, score.MetricFlops)
	}
	if r.bytes != nil {
		names = append(names, score.MetricBytes)
	}
	if r.known(peaks) == nil {
		names = append(names, score.MetricOfLimit)
	}
	return names
}

// reserved returns the names that metrics of the definition cannot have.
func (r *roofline) reserved() []string {
	if names := r.metrics(nil); names != nil {
		return append(names, score.MetricOfLimit)
	}
	return nil
}

// peaks returns the names of the peaks of a device from which limits are computed.
func (r *roofline) peaks() (names []string) {
	if r.flops != nil {
		names = append(names, r.precision)
	}
	if r.bytes != nil {
		names = append(names, hardware.PeakMemoryCopy, hardware.PeakMemoryRead)
	}
	return names
}

// known returns an error that says why no limit can be computed with some peaks, or nil.
func (r *roofline) known(peaks *hardware.Peaks) error {
	needed := r.peaks()
	switch {
	case needed == nil:
		return errors.New("the specification has no roofline")
	case peaks == nil:
		return errors.New("the peaks of the device are not known")
	}
	for _, name := range needed {
		if name != hardware.PeakMemoryRead && !(peaks.Value(name) > 0) { // reads are at least as fast as copies
			return fmt.Errorf("the device's peak %s is not known: %s", name, cmp.Or(peaks.Figures[name].Missing, "it was not measured"))
		}
	}
	return nil
}

// LimitKnown returns an error that says why results on a device have no «% of limit». It returns nil if
// they have it, and if there is no roofline.
func (p *Problem) LimitKnown(d hardware.Device) error {
	if p.roofline.peaks() == nil {
		return nil
	}
	return p.roofline.known(d.Peaks)
}

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
func (p *Problem) Limit(c space.Configuration, d hardware.Device) (score.Limit, error) {
	return p.limit(p.environmentOf(c, d), d.Peaks)
}

func (p *Problem) limit(env map[string]any, peaks *hardware.Peaks) (l score.Limit, err error) {
	r := &p.roofline
	if err := r.known(peaks); err != nil {
		return l, err
	}
	if r.bytes != nil {
		bytes, err := amount("", r.bytes, env)
		if err != nil {
			return l, fmt.Errorf("roofline.bytes: %w", err)
		}
		b, err := p.buffers(env)
		if err != nil {
			return l, err
		}
		l = score.MemoryLimit(peaks, bytes, b)
	}
	if r.flops != nil {
		flops, err := amount("", r.flops, env)
		if err != nil {
			return l, fmt.Errorf("roofline.flops: %w", err)
		}
		if a := score.ArithmeticLimit(peaks, flops, r.precision); a.Time > l.Time || r.bytes == nil {
			a.Set = l.Set
			l = a
		}
	}
	return l, nil
}

// buffers returns the sizes of all buffers, and of the outputs among them.
func (p *Problem) buffers(env map[string]any) (score.Buffers, error) {
	b := score.Buffers{Cold: p.Timing().Cache == definition.CacheCold}
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
		b.All += bytes
		if a.Output {
			b.Outputs += bytes
		}
	}
	return b, nil
}

// rooflineMetrics computes the metrics of the roofline at a time in milliseconds. A metric that cannot
// be computed is NaN, and its error is added to failed.
func (p *Problem) rooflineMetrics(
	env map[string]any, d hardware.Device, time float64, failed map[string]error,
) (metrics []score.MetricValue) {
	for _, name := range p.roofline.metrics(d.Peaks) {
		var value float64
		var err error
		switch name {
		case score.MetricFlops:
			value, err = amount("", p.roofline.flops, env)
			value /= time * 1e6
		case score.MetricBytes:
			value, err = amount("", p.roofline.bytes, env)
			value /= time * 1e6
		case score.MetricOfLimit:
			var l score.Limit
			l, err = p.limit(env, d.Peaks)
			value = l.Share(time)
		}
		if err != nil {
			value, failed[name] = math.NaN(), fmt.Errorf("metric %s: %w", name, err)
		}
		metrics = append(metrics, score.MetricValue{Name: name, Value: value})
	}
	return metrics
}

// LimitPeaks returns the names of the peaks of a device from which [Problem.Limit] is computed; none without a roofline.
func (p *Problem) LimitPeaks() []string { return p.roofline.peaks() }

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
	d := p.portable()
	return p.Objective().Has(score.MetricOfLimit) || d.ReadsPeaks()
}
