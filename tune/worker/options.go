package worker

import (
	"io"
	"runtime"
	"time"

	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
)

// Options of a [Pool]. Zero fields have the defaults named. In JSON, they are those that are the same on all machines of a fleet.
type Options struct {
	// Workers is how many processes build at most; 0: one for each core, within the memory of the device. On a CPU device
	// each of them evaluates whole configurations. On other devices one more process for each device measures, and builds
	// for itself as long as another process is not worth its start.
	Workers int `json:"-"`

	// Single lets one worker build and measure, for a single configuration.
	Single bool `json:"-"`

	Iterations int     `json:"iterations,omitempty"` // timed launches of a configuration, or device.Untimed; those of the problem
	EarlyStop  float64 `json:"early_stop"`           // as in device.Options

	BuildTimeout  time.Duration `json:"build_timeout,omitempty"`  // for a build, with the first launch if the driver compiles in it; DefaultBuildTimeout
	KernelTimeout time.Duration `json:"kernel_timeout,omitempty"` // for each other launch; DefaultKernelTimeout

	Outputs string `json:"-"` // as in device.Options

	Timer string `json:"-"` // as in device.Options

	// Peaks are the measured peaks of the devices, for metrics and objectives; nil: unknown.
	Peaks *hardware.Peaks `json:"peaks,omitempty"`

	// Set changes the settings that configurations have, for each of the devices in their order; nil: that is not allowed. The
	// pool calls it in this process, one call at a time. Its owner restores the settings after the pool is closed.
	Set []device.Setter `json:"-"`

	// Maker is the name of the registered function that makes the problem, and Input its
	// input, for problems that hold Go functions.
	Maker string `json:"-"`
	Input string `json:"-"`

	// Output gets the lines that workers print; nil: they only serve as reasons of failures.
	Output io.Writer `json:"-"`

	// Reserve has workers of earlier pools, and gets those of this one; nil: they end with the pool. Its Output takes the
	// place of that in these options.
	Reserve *Reserve `json:"-"`

	// Note gets sentences for the user; nil: they go to standard error.
	Note func(text string) `json:"-"`
}

const (
	// contextMemory is the device memory of a process with a context, and processMemory the host
	// memory of a process that compiles: some hundred MB each.
	contextMemory = 512 << 20
	processMemory = 384 << 20
	// bufferCopies is how many copies of the buffers an evaluating process holds: the working one,
	// the original, the right outputs, and the outputs that are read back.
	bufferCopies = 4
)

// defaultWorkers is how many processes build for a problem on some devices of one model by default: one for each core,
// within the memory of the devices. Builders may take a quarter of what the buffers leave of each
// device's own memory, but need none of CUDA's; if the memory is the host's, all processes together may take half of it.
func defaultWorkers(p *problem.Problem, d hardware.Device, devices int) int {
	return workersFor(runtime.GOMAXPROCS(0), d, int64(devices), bufferBytes(p, d))
}

func workersFor(cores int, d hardware.Device, devices, buffers int64) int {
	n := int64(cores)
	if d.GlobalMemory > 0 {
		switch {
		case needsNoBuilders(d):
			n = min(n, d.GlobalMemory/2/(processMemory+bufferCopies*buffers))
		case d.IsCUDA() && !sharesHost(d): // a process that only compiles has no context
		case sharesHost(d):
			n = min(n, (d.GlobalMemory/2-bufferCopies*buffers)/processMemory)
		default:
			n = min(n, devices*((d.GlobalMemory-bufferCopies*buffers)/4/contextMemory))
		}
	}
	return int(max(1, n))
}

// bufferBytes is the total size of a problem's buffers in one configuration.
func bufferBytes(p *problem.Problem, d hardware.Device) int64 {
	c, err := p.Parameters().ConfigureFirst(nil)
	if err != nil {
		return 0
	}
	v, err := p.Variant(c, d)
	if err != nil {
		return 0
	}
	all := int64(0)
	for i, a := range p.Arguments() {
		if a.Kind.HasContent() {
			all += int64(v.Elements[i]) * int64(a.Element.Size())
		}
	}
	return all
}

// needsNoBuilders reports whether every worker both builds and measures. A CPU device has the memory
// and the processors of the host: a build need not be carried to another process.
func needsNoBuilders(d hardware.Device) bool { return d.Type == "cpu" }

// sharesHost reports whether work on the host can disturb the device.
func sharesHost(d hardware.Device) bool { return d.Type != "gpu" || d.UnifiedMemory }
