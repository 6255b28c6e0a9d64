package worker

import (
	"io"
	"time"

	"github.com/ndtune/ndtune/tune"
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
