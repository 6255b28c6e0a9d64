package definition

import "time"

// A Measure says how launches are timed, at which settings of the device, and what is observed beside the times. Quantities
// that metrics or the objective use are observed without being listed. A parameter, constant or metric hides the quantity of its name.
type Measure struct {
	Timing      Timing
	Observe     []string      // names of [hardware.Quantities], [footprint.Quantities] or of Instruments
	Window      time.Duration // for which a configuration is observed; 0: as long as the instruments need
	Instruments []Instrument
	Settings    []Setting
}

// An Instrument of the user's own gives further quantities. Exactly one of Command and Registered is set.
type Instrument struct {
	Quantities []string
	Window     time.Duration // for which a kernel is repeated, at least; 0: as long as ndtune's own instruments need

	Each string // one of [hardware.Frames]; "": hardware.EachWindow

	// Command answers lines of JSON: {"begin": …} before launches, and {"end": …} after them, with a JSON object of numbers. See
	// observe.Frame. Its Timeout is that of an answer.
	Command *Command

	// Registered is the name by which the program registered the instrument: see observe.Register.
	Registered string
}

// A Timing says how configurations are timed.
type Timing struct {
	Cache    CacheState    // of each timed launch; default: CacheWarm
	Launches int           // timed launches of a configuration; default: DefaultLaunches
	Time     time.Duration // of the timed launches together, after which no further one is made; 0: no limit
	Warmup   int           // untimed launches before the timed ones; default: 1; NoWarmup: none
	Timer    string        // hardware.TimerHost: the host's clock; default: the device's events, if their times can be right

	// EarlyStop is how many times worse than the best so far an objective may be after the first timed launch. A
	// configuration beyond it is not launched again. Default: DefaultEarlyStop; NoEarlyStop: all are measured in full.
	EarlyStop float64
}

// A CacheState says where a timed launch finds its data.
type CacheState string

// The states of the caches.
const (
	CacheWarm CacheState = "warm" // as the launch before left them
	CacheCold CacheState = "cold" // in memory: the caches were overwritten. A pipeline begins so, as a whole
)

// DefaultLaunches is the number of timed launches of a configuration, as in the tutorials.
const DefaultLaunches = 7

// NoWarmup is the [Timing.Warmup] of a measurement without untimed launches.
const NoWarmup = -1

const (
	DefaultEarlyStop = 3.0
	NoEarlyStop      = -1 // as a [Timing.EarlyStop]
)

// A Setting of the device belongs to a configuration, which is measured at it: one of [hardware.SettingNames]. The value 0
// leaves the setting as the device has it. A parameter that only settings read does not reach the kernel, so that
// configurations that differ in settings alone have the same program.
type Setting struct {
	Name       string
	Expression Expr
}

// SettingWarmup is the time for which the launches of a configuration are repeated after a change of settings, before they are timed:
// clocks and power need some tens of milliseconds under load to follow.
const SettingWarmup = 50 * time.Millisecond
