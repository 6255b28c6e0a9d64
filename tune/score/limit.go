package score

import (
	"cmp"
	"fmt"
	"math"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/hardware"
)

// The metrics of a roofline.
const (
	MetricFlops   = "GFLOP/s"
	MetricBytes   = "GB/s"
	MetricOfLimit = "% of limit"
)

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

// Peak returns the name of the measured peak that the limit comes from, above all.
func (l Limit) Peak() string {
	switch l.Resource {
	case Arithmetic:
		return l.Precision
	case Caches:
		return hardware.PeakCacheCopy
	}
	return hardware.PeakMemoryCopy
}

// beatenShare is the share of a limit in percent from which its peaks or its work are doubted: measurements agree within 5 %.
const beatenShare = 105

// IsBeaten reports whether a share of a limit in percent is more than a kernel can reach.
func IsBeaten(share float64) bool { return share > beatenShare }

// ShareText returns a share of a limit for people.
func ShareText(share float64) string {
	if IsBeaten(share) {
		return "beaten"
	}
	return figure.Number(share)
}

// BeatenText says which peak to doubt if the limit is beaten, "" for any, and what to do.
func BeatenText(peak string) string {
	return "The limit is beaten: doubt the measured peak " + cmp.Or(peak, "of the memory or of the arithmetic") + ". Something else may have used the device while it was measured: measure it anew with " +
		"ndtune devices --peak while the device has nothing else to do. Or the roofline of the specification counts more work than the " +
		"kernel does, or does not count all units that it uses."
}

// ArithmeticLimit is the limit of the arithmetic of a precision for some operations.
func ArithmeticLimit(peaks *hardware.Peaks, flops float64, precision string) Limit {
	rate := peaks.Value(precision)
	return Limit{Time: milliseconds(flops, rate), Resource: Arithmetic, Rate: rate, Precision: precision}
}

// Buffers are the sizes of buffers in bytes.
type Buffers struct {
	All, Outputs float64
	Cold         bool // the caches hold other data before a launch
}

// clearlyFaster is the factor over the rate of memory from which a rate counts as one of the caches.
const clearlyFaster = 1.25

// MemoryLimit is the limit of memory or of the caches for moving bytes.
func MemoryLimit(peaks *hardware.Peaks, bytes float64, b Buffers) Limit {
	l := Limit{Resource: Memory, Set: int64(min(b.All, math.MaxInt64/2))}
	set := b.All
	if b.Cold {
		set = math.Inf(1)
	}
	memory := movingTime(peaks, bytes, b.Outputs, math.Inf(1))
	l.Time = movingTime(peaks, bytes, b.Outputs, set)
	if l.Time*clearlyFaster < memory {
		l.Resource = Caches
	}
	l.Rate = peaks.Value(hardware.PeakMemoryCopy)
	if l.Time > 0 {
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

// milliseconds returns the time of an amount of operations or bytes at a rate of 10⁹ a second.
func milliseconds(amount, rate float64) float64 { return amount / rate / 1e6 }

// Text says how far a time in milliseconds is from the limit, and which resource limits it:
// «limit: 83 % of what the device's memory gives (3909 GB/s)».
func (l Limit) Text(ms float64) string {
	reached, unit := l.Share(ms), "GB/s"
	if l.Resource == Arithmetic {
		unit = "GFLOP/s"
	}
	share := fmt.Sprintf("%.0f", reached)
	switch {
	case IsBeaten(reached):
		return fmt.Sprintf("limit: beaten: %s %s, and the peak %s is %s %s", figure.Number(l.Rate*reached/100), unit, l.Peak(), figure.Number(l.Rate), unit)
	case reached < 0.1:
		share = figure.Number(reached)
	case reached < 10:
		share = fmt.Sprintf("%.1f", reached)
	}
	what := "'s memory gives"
	switch l.Resource {
	case Arithmetic:
		what = " computes in " + l.Precision
	case Caches:
		what = "'s caches give for " + figure.Bytes(l.Set)
	}
	return fmt.Sprintf("limit: %s %% of what the device%s (%s %s)", share, what, figure.Number(l.Rate), unit)
}
