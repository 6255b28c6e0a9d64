// Package compare compares records of one problem on several devices: the best configuration of
// each device, its cost on the other devices, and the one configuration that is best over all
// devices.
//
// Its types: a [Session] measures [Target]s and makes a [Comparison].
//
// It ranks by the objective, which must be positive because all results are ratios. The ratio of
// two configurations is the ratio of their times in one final measurement, which measures them in
// turn. If there is no such measurement, it is the ratio of their times in the searches. The package does not guess: cells
// that were not measured are missing. A configuration that fails on any device has a performance
// portability of 0.
//
// # Reasons
//
// A comparison is made of records alone, over cases: devices, sizes, or pairs of both. The measurements of one device's best
// configuration on another device have run logs of their own, so that an interrupted comparison goes on, and records of several machines
// can be joined. A ratio uses the times of the measurement in turn if both configurations took part in it. The diagonal is 1 by
// construction: a configuration that turns out better than the device's own best becomes its best.
//
// The lists of several constants go together, not as a product: users tune some shapes that they list. Near means near in each
// dimension, since shapes of one volume can need opposite blocks.
package compare

import (
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
)

// A Comparison holds the results for one problem on several devices. It is plain data, whose JSON
// form is written to files and reports. Numbers that may be unknown are pointers.
type Comparison struct {
	Tool        string    `json:"tool,omitempty"` // the program that made the comparison, with its version
	Kernel      string    `json:"kernel,omitempty"`
	Source      string    `json:"source,omitempty"` // of the kernel: a specification or a program
	Digest      string    `json:"digest,omitempty"` // of the problem
	ProblemSize []int     `json:"problem_size,omitempty"`
	Parameters  []string  `json:"parameters"`
	Objective   Objective `json:"objective"`
	Default     string    `json:"default,omitempty"` // the configuration that gains are relative to; empty: the median of the correct ones

	Devices []Device `json:"devices"`

	// Matrix[i][j] is the best configuration of device i, run on device j. The row of a device
	// without a best is empty.
	Matrix [][]Cell `json:"matrix"`

	Overall *Overall `json:"best_over_all"` // nil: see [Comparison.NoOverall]

	Missing []Place  `json:"missing"`           // cells of the matrix that were not measured
	Measure string   `json:"measure,omitempty"` // how to measure them
	Notices []string `json:"notices"`           // caveats that the reader must know
}

// An Objective is the objective that configurations are ranked by.
type Objective struct {
	Name     string `json:"name"`
	Maximize bool   `json:"maximize,omitempty"`
}

// A Device is one of the compared devices, or a device at one of several sizes.
type Device struct {
	Letter string `json:"letter"` // its name in tables: A, B, …
	Label  string `json:"label"`  // its name for people, different for each
	Size   string `json:"size,omitempty"`
	hardware.Device

	Records   []string `json:"records"`   // the names of its sources
	Evaluated int      `json:"evaluated"` // configurations, failures included
	Correct   int      `json:"correct"`
	Close     int      `json:"evaluations_to_5_percent,omitempty"` // of its search, until a result was within 5 % of the search's best; 0: unknown
	Best      *Best    `json:"best"`                               // nil: none is correct
	WhyNone   string   `json:"why_none,omitempty"`                 // why Best is nil
	Measured  bool     `json:"measured"`                           // whether anything was evaluated on it
}

// A Best is the best configuration of a device.
type Best struct {
	Configuration string         `json:"configuration"`
	Values        map[string]any `json:"values"`
	Time          float64        `json:"time_ms"` // in turn with others if InTurn, else the mean of the search
	InTurn        bool           `json:"in_turn"`
	Verified      bool           `json:"verified"`
	OfLimit       *float64       `json:"percent_of_limit"` // share of the device's limit, in percent; nil: unknown
	Gain          *float64       `json:"gain"`             // cost of the default over that of the best; nil: unknown
	WhyNoGain     string         `json:"why_no_gain,omitempty"`
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
	Reason   string      `json:"reason,omitempty"` // likewise; at most its first 4 KiB
	Time     *float64    `json:"time_ms"`
	Slowdown *float64    `json:"slowdown"` // cost over that of the device's best, at least 1
	InTurn   bool        `json:"in_turn"`  // the slow-down comes from measurements in turn
	OfLimit  *float64    `json:"percent_of_limit"`
	Verified bool        `json:"verified"`
}

// A Place is a cell of the matrix.
type Place struct {
	Row    int `json:"row"`    // the device whose best is run
	Column int `json:"column"` // the device that it is run on
}

// Overall is the configuration that is best over all devices that have a best.
type Overall struct {
	Configuration string         `json:"configuration"`
	Values        map[string]any `json:"values"`
	BestOf        []int          `json:"best_of"`     // the devices whose best it is
	Cells         []Cell         `json:"cells"`       // by device
	Portability   float64        `json:"portability"` // see [Portability]; an efficiency is 1 / slow-down
	Candidates    int            `json:"candidates"`  // number of configurations that are correct on all devices that have a best
	InTurn        bool           `json:"in_turn"`     // chosen among those that were measured in turn on all devices
}
