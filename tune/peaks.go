package tune

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Peaks are what a device was measured to give at most: what a kernel can be held against.
// A figure that could not be had says why, and is no 0.
type Peaks struct {
	Method   int             `json:"method"`   // the version of measuring: figures of two cannot be compared
	Measured time.Time       `json:"measured"` // UTC, to the second
	Timer    string          `json:"timer"`    // TimerEvent or TimerHost
	Figures  map[string]Peak `json:"figures"`  // by name, see PeakFigures

	// Quick says that only what one search needed was measured, in a few seconds: with fewer
	// variants of kernels and fewer sizes of buffers. Partial is what the time did not suffice
	// for; "": nothing.
	Quick   bool   `json:"quick,omitempty"`
	Partial string `json:"partial,omitempty"`

	// Copy and Read are the rates of a copy and of a read by the bytes of all buffers that it
	// goes over again and again, in ascending order: small ones stay in the caches.
	Copy []Bandwidth `json:"copy,omitempty"`
	Read []Bandwidth `json:"read,omitempty"`
}

// A Peak is one figure of Peaks: Value, or else Missing, is set.
type Peak struct {
	Value   float64 `json:"value,omitempty"`
	Unit    string  `json:"unit"`
	Variant string  `json:"variant,omitempty"` // of the kernel that gave it, for people
	Missing string  `json:"missing,omitempty"` // why there is none
}

// A Bandwidth is the rate at which a set of buffers is moved.
type Bandwidth struct {
	Bytes int64   `json:"bytes"` // of all buffers together
	Rate  float64 `json:"rate"`  // GB/s, of 10^9 bytes, read and written together
}

// The names of the figures.
const (
	PeakMemoryCopy  = "memory_copy"
	PeakMemoryRead  = "memory_read"
	PeakCacheCopy   = "cache_copy"
	PeakCacheRead   = "cache_read"
	PeakLocalMemory = "local_memory"
	PeakFloat32     = "float32"
	PeakFloat64     = "float64"
	PeakFloat16     = "float16"
	PeakLaunch      = "launch"
	PeakLaunchWait  = "launch_wait"
)

// A PeakFigure is a figure that Peaks can have.
type PeakFigure struct{ Name, Unit, Title string }

// PeakFigures are all of them, in the order in which they are shown. GB are 10^9 bytes.
func PeakFigures() []PeakFigure {
	return []PeakFigure{
		{PeakMemoryCopy, "GB/s", "copy, beyond the caches"},
		{PeakMemoryRead, "GB/s", "read, beyond the caches"},
		{PeakCacheCopy, "GB/s", "copy, in the caches"},
		{PeakCacheRead, "GB/s", "read, in the caches"},
		{PeakLocalMemory, "GB/s", "read of local memory"},
		{PeakFloat32, "GFLOP/s", "float multiply-adds"},
		{PeakFloat64, "GFLOP/s", "double multiply-adds"},
		{PeakFloat16, "GFLOP/s", "half multiply-adds"},
		{PeakLaunch, "µs", "a launch, in a long queue"},
		{PeakLaunchWait, "µs", "a launch that is waited for"},
	}
}

// Value is a figure in its unit, 0 where it is not known. Peaks may be nil.
func (p *Peaks) Value(name string) float64 {
	if p == nil {
		return 0
	}
	return p.Figures[name].Value
}

// Add takes over what part has measured.
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

// AddPartial notes something more that the time did not suffice for.
func (p *Peaks) AddPartial(what string) {
	if p.Partial != "" && what != "" {
		what = p.Partial + "; " + what
	}
	p.Partial = cmp.Or(what, p.Partial)
}

// Miss notes that a figure could not be had, and why.
func (p *Peaks) Miss(name, why string) {
	if p.Figures == nil {
		p.Figures = map[string]Peak{}
	}
	i := slices.IndexFunc(PeakFigures(), func(f PeakFigure) bool { return f.Name == name })
	p.Figures[name] = Peak{Unit: PeakFigures()[i].Unit, Missing: why}
}

// environment is device.peak.* in expressions.
func (p *Peaks) environment() map[string]any {
	env := map[string]any{}
	for _, f := range PeakFigures() {
		env[f.Name] = p.Value(f.Name)
	}
	return env
}

// rateAt is the highest rate of sets as large as this one or larger, in GB/s, beginning with
// the largest that was measured below: a set that nearly fits a cache may move as fast as one
// that does. Beyond all that were measured it is that of memory. 0: it is not known.
func rateAt(curve []Bandwidth, bytes, memory float64) float64 {
	rate := memory
	for i, b := range curve {
		if i+1 == len(curve) || float64(curve[i+1].Bytes) > bytes {
			rate = max(rate, b.Rate)
		}
	}
	return rate
}
