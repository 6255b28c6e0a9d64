package compare

import (
	"github.com/ndtune/ndtune/tune"
)

// A Comparison is what is known of one problem on several devices. It is plain data: its JSON
// form is what files and reports show. Numbers that can be unknown are pointers.
type Comparison struct {
	Tool        string    `json:"tool,omitempty"` // the program that made it, with its version
	Kernel      string    `json:"kernel,omitempty"`
	Source      string    `json:"source,omitempty"` // of the kernel: a specification or a program
	Digest      string    `json:"digest,omitempty"` // of the problem
	ProblemSize []int     `json:"problem_size,omitempty"`
	Parameters  []string  `json:"parameters"`
	Objective   Objective `json:"objective"`
	Default     string    `json:"default,omitempty"` // the configuration that gains are over; empty: the median of the correct ones

	Devices []Device `json:"devices"`

	// Matrix says what the best of device i (row) costs on device j (column). The row of a device
	// without a best is empty.
	Matrix [][]Cell `json:"matrix"`

	Overall   *Overall           `json:"best_over_all"` // nil: fewer than two devices have a best, or no configuration is known to be correct on all that do
	PerDevice PortabilityFigures `json:"per_device"`    // of the best of each device on that device
	Disagree  []Disagreement     `json:"disagreements"`

	Missing []Place  `json:"missing"`           // cells that nobody has measured
	Measure string   `json:"measure,omitempty"` // how to get them
	Notices []string `json:"notices"`           // what a reader must know before relying on it
}

// An Objective is what is ranked by.
type Objective struct {
	Name     string `json:"name"`
	Maximize bool   `json:"maximize,omitempty"`
}

// A Device is one of the devices that are compared.
type Device struct {
	Letter string `json:"letter"` // its name in tables: A, B, …
	Label  string `json:"label"`  // its name for people, different for each
	tune.Device

	Records   []string `json:"records"`   // the names of the sources that are of it
	Evaluated int      `json:"evaluated"` // configurations, failures included
	Correct   int      `json:"correct"`
	Best      *Best    `json:"best"`               // nil: none is correct
	WhyNone   string   `json:"why_none,omitempty"` // where Best is nil
	Measured  bool     `json:"measured"`           // whether anything was evaluated on it
}

// A Best is the best configuration of a device.
type Best struct {
	Configuration string         `json:"configuration"`
	Values        map[string]any `json:"values"`
	Time          float64        `json:"time_ms"` // in turn with others where InTurn, else the mean of the search
	InTurn        bool           `json:"in_turn"`
	Verified      bool           `json:"verified"`
	OfLimit       *float64       `json:"percent_of_limit"` // nil: the limit is not known
	Gain          *float64       `json:"gain"`             // cost of the default over that of the best; nil: not known
	WhyNoGain     string         `json:"why_no_gain,omitempty"`
	TunedFor      string         `json:"tuned_for,omitempty"` // the letters of the devices whose search found it, where that is not this device's
}

// The states of a Cell.
const (
	StateMeasured = "measured"
	StateFailed   = "failed"
	StateMissing  = "missing"
)

// A Cell is one configuration on one device.
type Cell struct {
	State    string      `json:"state"`
	Status   tune.Status `json:"status,omitempty"` // with StateFailed
	Reason   string      `json:"reason,omitempty"` // likewise
	Time     *float64    `json:"time_ms"`
	Slowdown *float64    `json:"slowdown"` // cost over that of the device's best, at least 1
	InTurn   bool        `json:"in_turn"`  // the ratio is of measurements that were taken in turn
	OfLimit  *float64    `json:"percent_of_limit"`
	Verified bool        `json:"verified"`
}

// A Place is a cell of the matrix.
type Place struct {
	Row    int `json:"row"`    // the device that the configuration is the best of
	Column int `json:"column"` // the device that it is run on
}

// PortabilityFigures are the performance portability over all devices that have a best (see the
// function [Portability]), by two measures of efficiency.
type PortabilityFigures struct {
	Application   *float64 `json:"application"`   // best known / time; nil: not everything is measured
	Architectural *float64 `json:"architectural"` // limit / time; nil: a limit is not known, or as above
	WhyNot        string   `json:"why_no_architectural,omitempty"`
}

// Overall is the configuration that is best over all devices that have a best.
type Overall struct {
	Configuration string             `json:"configuration"`
	Values        map[string]any     `json:"values"`
	BestOf        []int              `json:"best_of"` // the devices that it is the best of
	Cells         []Cell             `json:"cells"`   // by device
	Portability   PortabilityFigures `json:"portability"`
	Candidates    int                `json:"candidates"` // configurations that are correct on all devices that have a best
	InTurn        bool               `json:"in_turn"`    // it was chosen among those that were measured in turn everywhere
}

// A Disagreement is a parameter of which the bests of the devices have different values.
type Disagreement struct {
	Parameter string   `json:"parameter"`
	Values    []string `json:"values"` // of the best of each device; empty where it has none

	// Common is the value that costs least where all devices must share one and everything else
	// may differ; empty where none of the values is correct on all devices. Each device's cost is
	// the best that was measured on it with that value, over its best.
	Common string   `json:"common,omitempty"`
	Mean   *float64 `json:"mean"`  // of the devices' costs
	Worst  *float64 `json:"worst"` // the largest of them
	On     int      `json:"on"`    // the device where it is that
}
