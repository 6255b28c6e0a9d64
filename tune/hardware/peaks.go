package hardware

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/internal/figure"
)

// Peaks are the highest rates that were measured on a device. They are the limits of kernels. A
// figure that could not be measured has a reason instead of a value.
type Peaks struct {
	Method   int             `json:"method"`   // version of the measurement; figures of two versions cannot be compared
	Measured time.Time       `json:"measured"` // UTC, to the second
	Timer    string          `json:"timer"`    // TimerEvent or TimerHost
	Figures  map[string]Peak `json:"figures"`  // by name, see PeakFigures

	// Partial names the measurements for which the time did not suffice; "": none.
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
}

// A Bandwidth is the rate at which a set of buffers is moved.
type Bandwidth struct {
	Bytes int64   `json:"bytes"` // of all buffers together
	Rate  float64 `json:"rate"`  // GB/s, of 10^9 bytes, read and written together
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

// Lacking returns those of some figures that nobody has measured. Peaks may be nil.
func (p *Peaks) Lacking(figures []string) (lacking []string) {
	for _, name := range figures {
		if p == nil || p.Figures[name] == (Peak{}) {
			lacking = append(lacking, name)
		}
	}
	return lacking
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
	if p.Partial != "" && part.Partial != "" {
		p.Partial += "; "
	}
	p.Partial += part.Partial
}

// Set sets a figure, whose unit is that of its name.
func (p *Peaks) Set(name string, f Peak) {
	if p.Figures == nil {
		p.Figures = map[string]Peak{}
	}
	i := slices.IndexFunc(PeakFigures(), func(f PeakFigure) bool { return f.Name == name })
	f.Unit = PeakFigures()[i].Unit
	p.Figures[name] = f
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

// Write writes a table of the peaks.
func (p *Peaks) Write(w io.Writer) {
	timer := ""
	if p.Timer == TimerHost {
		timer = ", timer: host"
	}
	fmt.Fprintf(w, "    peaks, measured %s%s\n", p.Measured.Format("2006-01-02 15:04 MST"), timer)
	if p.Partial != "" {
		fmt.Fprintf(w, "      in part: %s\n", p.Partial)
	}
	for _, f := range PeakFigures() {
		known, is := p.Figures[f.Name]
		switch {
		case !is:
		case known.Missing != "":
			fmt.Fprintf(w, "      %-27s %8s          %s\n", f.Title, "–", excerpt.FirstLine(known.Missing))
		default:
			line := fmt.Sprintf("      %-27s %8s %-8s %s", f.Title, figure.Number(known.Value), known.Unit, known.Variant)
			fmt.Fprintln(w, strings.TrimRight(line, " "))
		}
	}
}
