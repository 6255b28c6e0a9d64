package hardware

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Peaks are the highest rates that were measured on a device. They are the limits of kernels. A
// figure that could not be measured has a reason instead of a value.
type Peaks struct {
	Method   int             `json:"method"`   // version of the measurement; figures of two versions cannot be compared
	Measured time.Time       `json:"measured"` // UTC, to the second
	Timer    string          `json:"timer"`    // TimerEvent or TimerHost
	Figures  map[string]Peak `json:"figures"`  // by name, see PeakFigures

	// Quick means that only the figures that searches needed were measured, with fewer sizes of buffers, and
	// on a CPU with as many variants of kernels as a few seconds allow. Each figure and each point of a curve
	// was then measured several times: see Repeats. Partial names the measurements for which the time did not
	// suffice; "": none.
	Quick   bool   `json:"quick,omitempty"`
	Partial string `json:"partial,omitempty"`

	// Copy and Read are the rates of a copy and of a read that go over a set of buffers again and
	// again, by the bytes of the set in ascending order. Small sets stay in the caches.
	Copy []Bandwidth `json:"copy,omitempty"`
	Read []Bandwidth `json:"read,omitempty"`
}

// A Peak is one figure of Peaks. Either Value or Missing is set.
type Peak struct {
	Value   float64 `json:"value,omitempty"`
	Unit    string  `json:"unit"`
	Variant string  `json:"variant,omitempty"` // of the kernel that reached it, for people
	Missing string  `json:"missing,omitempty"` // the reason why there is no value

	// Repeats are the values that were measured quickly, by the best variant of each measurement. Value is the
	// highest that another one confirms: see Confirmed. None if the peaks are not quick.
	Repeats []float64 `json:"repeats,omitempty"`
}

// A Bandwidth is the rate at which a set of buffers is moved.
type Bandwidth struct {
	Bytes int64   `json:"bytes"` // of all buffers together
	Rate  float64 `json:"rate"`  // GB/s, of 10^9 bytes, read and written together

	Repeats []float64 `json:"repeats,omitempty"` // as those of a Peak
}

// agreement is the share of a value that another one must reach to confirm it.
const agreement = 0.95

// Confirmed returns the highest of some measured values that another one confirms: it is at most 5 % lower.
// So neither a measurement that something else has disturbed counts, nor a single one that is too high. If no
// value is confirmed, it returns the highest, and false.
func Confirmed(values []float64) (float64, bool) {
	sorted := slices.Sorted(slices.Values(values))
	for i := len(sorted) - 1; i > 0; i-- {
		if sorted[i-1] >= agreement*sorted[i] {
			return sorted[i], true
		}
	}
	return slices.Max(append(sorted, 0)), false
}

// mostRepeats is how many values are kept of each figure.
const mostRepeats = 8

// merge adds the repeats of another measurement.
func (p Peak) merge(other Peak) Peak {
	if len(other.Repeats) == 0 && len(p.Repeats) > 0 { // it could not be measured again
		return p
	}
	merged := other
	merged.Repeats = slices.Concat(p.Repeats, other.Repeats)
	merged.Repeats = merged.Repeats[max(0, len(merged.Repeats)-mostRepeats):]
	if merged.Value, _ = Confirmed(merged.Repeats); merged.Value == p.Value && p.Value > 0 {
		merged.Variant = p.Variant
	}
	return merged
}

// LeastRepeats returns how often every figure of quick peaks was measured.
func (p *Peaks) LeastRepeats() int {
	least := 0
	for _, figure := range p.Figures {
		if n := len(figure.Repeats); n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

// MergeQuick returns peaks with the figures and the repeats of both, of one device. Both are quick, and may be nil.
func (p *Peaks) MergeQuick(later *Peaks) *Peaks {
	if p == nil || later == nil {
		return cmp.Or(p, later)
	}
	merged := *later
	merged.Figures = maps.Clone(p.Figures)
	for name, figure := range later.Figures {
		merged.Figures[name] = p.Figures[name].merge(figure)
	}
	merged.Copy, merged.Read = mergeCurves(p.Copy, later.Copy), mergeCurves(p.Read, later.Read)
	return &merged
}

func mergeCurves(a, b []Bandwidth) []Bandwidth {
	points := map[int64]Peak{}
	for _, point := range slices.Concat(a, b) {
		points[point.Bytes] = points[point.Bytes].merge(Peak{Value: point.Rate, Repeats: point.Repeats})
	}
	var curve []Bandwidth
	for _, bytes := range slices.Sorted(maps.Keys(points)) {
		curve = append(curve, Bandwidth{bytes, points[bytes].Value, points[bytes].Repeats})
	}
	return curve
}

// The names of the figures.
const (
	PeakMemoryCopy = "memory_copy"
	PeakMemoryRead = "memory_read"
	PeakCacheCopy  = "cache_copy"
	PeakCacheRead  = "cache_read"
	PeakFloat32    = "float32"
	PeakFloat64    = "float64"
	PeakFloat16    = "float16"
)

// A PeakFigure is a figure that Peaks can have.
type PeakFigure struct{ Name, Unit, Title string }

// PeakFigures returns all of them in the order of the tables. A GB is 10^9 bytes.
func PeakFigures() []PeakFigure {
	return []PeakFigure{
		{PeakMemoryCopy, "GB/s", "copy, beyond the caches"},
		{PeakMemoryRead, "GB/s", "read, beyond the caches"},
		{PeakCacheCopy, "GB/s", "copy, in the caches"},
		{PeakCacheRead, "GB/s", "read, in the caches"},
		{PeakFloat32, "GFLOP/s", "float multiply-adds"},
		{PeakFloat64, "GFLOP/s", "double multiply-adds"},
		{PeakFloat16, "GFLOP/s", "half multiply-adds"},
	}
}

// Value returns a figure in its unit, 0 if it is unknown. Peaks may be nil.
func (p *Peaks) Value(name string) float64 {
	if p == nil {
		return 0
	}
	return p.Figures[name].Value
}

// Add adds the figures of part.
func (p *Peaks) Add(part *Peaks) {
	if p.Figures == nil {
		p.Figures = map[string]Peak{}
	}
	maps.Copy(p.Figures, part.Figures)
	if len(part.Copy) > 0 {
		p.Copy = part.Copy
	}
	if len(part.Read) > 0 {
		p.Read = part.Read
	}
	if part.Timer != "" {
		p.Timer = part.Timer
	}
	p.AddPartial(part.Partial)
}

// AddPartial adds a measurement for which the time did not suffice.
func (p *Peaks) AddPartial(measurement string) {
	if p.Partial != "" && measurement != "" {
		measurement = p.Partial + "; " + measurement
	}
	p.Partial = cmp.Or(measurement, p.Partial)
}

// Miss sets the reason why a figure could not be measured.
func (p *Peaks) Miss(name, reason string) {
	if p.Figures == nil {
		p.Figures = map[string]Peak{}
	}
	i := slices.IndexFunc(PeakFigures(), func(f PeakFigure) bool { return f.Name == name })
	p.Figures[name] = Peak{Unit: PeakFigures()[i].Unit, Missing: reason}
}

// environment returns device.peak.* for expressions.
func (p *Peaks) environment() map[string]any {
	env := map[string]any{}
	for _, f := range PeakFigures() {
		env[f.Name] = p.Value(f.Name)
	}
	return env
}

// CopyRate returns the rate of a copy in GB/s that goes over a set of so many bytes again and again;
// 0: unknown.
func (p *Peaks) CopyRate(set float64) float64 { return rateAt(p.Copy, set, p.Value(PeakMemoryCopy)) }

// ReadRate returns the same for reads. It is not below the rate of a copy: memory that need not turn
// around is faster.
func (p *Peaks) ReadRate(set float64) float64 {
	return max(p.CopyRate(set), rateAt(p.Read, set, p.Value(PeakMemoryRead)))
}

// clearlyFaster is how many times faster than memory a set moves that stays in the caches.
const clearlyFaster = 1.3

// CacheSize returns the size in bytes of the largest measured set that stays in the caches: it and all smaller ones
// move clearly faster than memory. It returns 0 if that is unknown. Peaks may be nil.
func (p *Peaks) CacheSize() int64 {
	if p == nil {
		return 0
	}
	within := func(curve []Bandwidth, memory float64) (bytes int64) {
		for _, b := range curve {
			if memory == 0 || b.Rate < clearlyFaster*memory {
				break
			}
			bytes = b.Bytes
		}
		return bytes
	}
	return max(within(p.Copy, p.Value(PeakMemoryCopy)), within(p.Read, p.Value(PeakMemoryRead)))
}

// rateAt returns the highest rate of sets as large as this one or larger, beginning with the largest
// measured set below: a set that nearly fits a cache may move as fast as one that does. Larger sets
// than all that were measured move at the rate of memory.
func rateAt(curve []Bandwidth, bytes, memory float64) float64 {
	rate := memory
	for i, b := range curve {
		if i+1 == len(curve) || float64(curve[i+1].Bytes) > bytes {
			rate = max(rate, b.Rate)
		}
	}
	return rate
}
