package record

import (
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/space"
)

// The formats of a [Header].
const (
	FormatLog   = "ndtune-run-log"
	FormatT4    = "T4"
	FormatCache = "Kernel Tuner cache"
	FormatCSV   = "CSV"
)

// LogVersion is the version of the run log that this package writes. Since version 2 every
// line has a checksum. A log of a later version is refused.
const LogVersion = 2

// A Header says what a record is about. It is the first line of a run log. [Open] sets
// Format and Version, and Started where it is zero; the other fields are the caller's.
// Records of other formats fill what they know.
type Header struct {
	Format  string // where the record comes from: one of the constants above
	Version int    // of the run log; 0 in other formats

	Digest string // of the problem: specification, sources and data; opaque here
	Kernel string // name of the kernel function
	Source string // name of the specification or program, for people

	Device      tune.Device
	Parameters  []space.Parameter // in order
	Constants   []tune.Constant   // in order
	ProblemSize []int
	Objective   tune.Objective
	Metrics     []string // names in order
	Iterations  int      // timed launches of a configuration
	Verified    bool     // outputs are compared with a reference

	Strategy string // of the search that began the run
	Seed     uint64
	Started  time.Time
	Tool     string // the program that wrote the record, with its version
}
