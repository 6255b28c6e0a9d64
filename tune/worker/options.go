package worker

import (
	"io"
	"runtime"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/space"
)

// Options of a [Pool]. Zero fields have the defaults named.
type Options struct {
	// Workers is how many processes build; beside them one a device measures, where it is no
	// CPU. 0: DefaultWorkers. On a CPU device each evaluates whole configurations.
	Workers int

	// Single lets one worker do all there is to do, for a single configuration.
	Single bool

	Iterations int     // timed launches of a configuration; device.DefaultIterations
	EarlyStop  float64 // as in device.Options

	BuildTimeout  time.Duration // for building a configuration, its first launch included; DefaultBuildTimeout
	KernelTimeout time.Duration // for one later launch; DefaultKernelTimeout

	// Peaks are what the devices were measured to give, for metrics and objectives; nil: that
	// is not known.
	Peaks *tune.Peaks

	// Maker is the name of the registered function that makes the problem, and Input its
	// input, for problems that hold Go functions.
	Maker, Input string

	// Output gets what the workers print, line by line; nil: it is only kept for the reasons
	// of failures.
	Output io.Writer

	// Note is told, in a sentence, what the user should know; nil: it goes to standard error.
	Note func(text string)
}

const (
	// contextMemory is what a process with a context takes of a device's memory, and
	// processMemory what one takes of the host's that compiles: some hundred MB each.
	contextMemory = 512 << 20
	processMemory = 384 << 20
	// bufferCopies is how often an evaluating process holds the buffers of a problem: the
	// working ones, what restores them, the right outputs, and what is read back.
	bufferCopies = 4
)

// DefaultWorkers is how many processes build for a problem on a device unless the user says:
// as many as there are cores, and as the memory of the device lets be. On a device with a
// memory of its own, builders may take a quarter of what the buffers leave; where the
// memory is the host's, all of them half.
func DefaultWorkers(p *tune.Problem, d tune.Device) int {
	return workersFor(runtime.GOMAXPROCS(0), d, bufferBytes(p, d))
}

func workersFor(cores int, d tune.Device, buffers int64) int {
	n := int64(cores)
	if d.GlobalMemory > 0 {
		switch {
		case evaluateWhole(d):
			n = min(n, d.GlobalMemory/2/(processMemory+bufferCopies*buffers))
		case sharesHost(d):
			n = min(n, (d.GlobalMemory/2-bufferCopies*buffers)/processMemory)
		default:
			n = min(n, (d.GlobalMemory-bufferCopies*buffers)/4/contextMemory)
		}
	}
	return int(max(1, n))
}

// bufferBytes is the size of a problem's buffers together, judged by one configuration.
func bufferBytes(p *tune.Problem, d tune.Device) int64 {
	first := map[string]space.Value{}
	for i := range p.Parameters().Len() {
		q := p.Parameters().At(i)
		first[q.Name] = q.Values[0]
	}
	c, err := p.Parameters().Configure(first)
	if err != nil {
		return 0
	}
	v, err := p.Variant(c, d)
	if err != nil {
		return 0
	}
	all := int64(0)
	for i, a := range p.Arguments() {
		if a.Kind == tune.BufferArgument {
			all += int64(v.Elements[i]) * int64(a.Type.Size())
		}
	}
	return all
}

// evaluateWhole reports whether every worker evaluates on the device, whose memory and
// processors are the host's: a build need not be carried to where it is measured.
func evaluateWhole(d tune.Device) bool { return d.Type == "cpu" }

// sharesHost reports whether whatever a process does on the host can disturb what runs on
// the device.
func sharesHost(d tune.Device) bool { return d.Type != "gpu" || d.UnifiedMemory }
