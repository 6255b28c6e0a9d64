package record

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// The formats of a [Header].
const (
	FormatLog   = "ndtune-run-log"
	FormatT4    = "T4"
	FormatCache = "Kernel Tuner cache"
)

// LogVersion is the version of the run log that this package writes and reads.
const LogVersion = 2

// StrategyCompare is the strategy of a record that a comparison made: not of a search, but of
// configurations that were found elsewhere.
const StrategyCompare = "compare"

// A Header says what a record is about. It is the first line of a run log. [Open] sets
// Format and Version, and Started where it is zero; the other fields are the caller's.
// Records of other formats fill what they know.
type Header struct {
	Format  string `json:"format"`            // where the record comes from: one of the constants above
	Version int    `json:"version,omitempty"` // of the run log; 0 in other formats

	Digest string `json:"digest,omitempty"` // of the problem: specification, sources and data; opaque here

	// OpenCLDigest is the digest of the same problem in OpenCL C, where one in CUDA C has one: see [problem.Problem.OpenCLDigest].
	OpenCLDigest string `json:"opencl_digest,omitempty"`

	// KernelDigest is the digest of the problem without its sizes and data: see
	// [problem.Problem.KernelDigest]. It is "" in other formats.
	KernelDigest string `json:"kernel_digest,omitempty"`

	// MeasurementDigest is the digest of the problem without its search space: see
	// [problem.Problem.MeasurementDigest]. It is "" in other formats.
	MeasurementDigest string `json:"measurement_digest,omitempty"`

	Kernel string `json:"kernel,omitempty"` // name of the kernel function
	Source string `json:"source,omitempty"` // name of the specification or program, for people
	Size   string `json:"size,omitempty"`   // the constants that tell this size from the others of its search, as n=1024; "": there is one size

	Device      hardware.Device        `json:"device"`
	Parameters  []space.Parameter      `json:"-"`                    // in order
	SpaceSize   int                    `json:"space_size,omitempty"` // configurations in the search space; 0: unknown
	Constants   []definition.Constant  `json:"-"`                    // in order
	Options     string                 `json:"options,omitempty"`    // of the compiler, the same for all configurations, constants included
	ProblemSize []int                  `json:"problem_size,omitempty"`
	Objective   score.Objective        `json:"-"`
	Baseline    map[string]space.Value `json:"-"`                    // the configuration that the best is compared with; nil: none
	Metrics     []string               `json:"metrics,omitempty"`    // names in order
	Iterations  int                    `json:"iterations,omitempty"` // timed launches of a configuration
	Cache       definition.CacheState  `json:"cache,omitempty"`      // of timed launches; "": warm
	Verified    bool                   `json:"verified"`             // outputs are compared with a reference

	Strategy string    `json:"strategy,omitempty"` // of the search that began the run
	Seed     uint64    `json:"seed,omitempty"`
	Capacity int       `json:"capacity,omitempty"` // of the evaluators when the run began: see [tune.Evaluator]; 0: unknown, in logs of older programs
	Priors   []string  `json:"priors,omitempty"`   // the records that it learnt from, for people
	Started  time.Time `json:"started,omitzero"`
	Tool     string    `json:"tool,omitempty"` // the program that wrote the record, with its version

	// Medians says that the metrics are those at the median of the launches. Older programs, and Kernel Tuner, took the mean.
	// MeansOnly is the number of results of which a file holds only the mean of the launches, which is their time then.
	Medians   bool `json:"medians,omitempty"`
	MeansOnly int  `json:"means_only,omitempty"`

	// Reused is the number of results of older search spaces that a run log had when it went on with this one.
	// They are the first of the record.
	Reused int `json:"reused,omitempty"`

	// Older are the names of the logs of older search spaces, in the folder of this one: see [OpenReusing].
	Older []string `json:"older,omitempty"`
}

// NewHeader returns the header of a record of a problem, without a device and a search. Source is
// [Header.Source].
func NewHeader(p *problem.Problem, source string) Header {
	h := Header{
		Digest: p.Digest(), OpenCLDigest: p.OpenCLDigest(), KernelDigest: p.KernelDigest(), MeasurementDigest: p.MeasurementDigest(), Kernel: p.KernelName(), Source: source,
		ProblemSize: p.FixedProblemSize(), Constants: p.Constants(), Options: p.FixedOptions(), Objective: p.Objective(),
		Parameters: p.Parameters().List(), Medians: true,
	}
	if state := p.Timing().Cache; state != definition.CacheWarm {
		h.Cache = state
	}
	if c, ok := p.Baseline(); ok {
		h.Baseline = map[string]space.Value{}
		c.Assign(h.Baseline)
	}
	return h
}

// headerJSON is the form of a header in files: its fields, of which some have values whose types are kept.
type headerJSON struct {
	*plainHeader
	Parameters []parameterJSON `json:"parameters"`
	Constants  []constantJSON  `json:"constants,omitempty"`
	Objective  objectiveJSON   `json:"objective"`
	Baseline   space.Named     `json:"baseline,omitempty"`
}

// A plainHeader is a header without its methods.
type plainHeader Header

type parameterJSON struct {
	Name   string       `json:"name"`
	Values space.Values `json:"values"`
}

type constantJSON struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
	Host  bool            `json:"host,omitempty"`
}

// objectiveJSON is the first objective, with the further ones and the choice where there are several.
type objectiveJSON struct {
	Name     string          `json:"name"`
	Maximize bool            `json:"maximize,omitempty"`
	More     []objectiveJSON `json:"more,omitempty"`
	Choose   string          `json:"choose,omitempty"`
}

func newObjectiveJSON(o score.Objective) objectiveJSON {
	return objectiveJSON{Name: o.Name, Maximize: o.Maximize, Choose: o.Choose, More: each.Of(o.More, newObjectiveJSON)}
}

func (j objectiveJSON) objective() score.Objective {
	return score.Objective{Name: j.Name, Maximize: j.Maximize, Choose: j.Choose, More: each.Of(j.More, objectiveJSON.objective)}
}

// MarshalJSON is the first line of a run log.
func (h Header) MarshalJSON() ([]byte, error) {
	h.Started = h.Started.UTC()
	plain := plainHeader(h)
	j := headerJSON{plainHeader: &plain, Parameters: []parameterJSON{}, Objective: newObjectiveJSON(h.Objective), Baseline: h.Baseline}
	for _, p := range h.Parameters {
		j.Parameters = append(j.Parameters, parameterJSON{p.Name, p.Values})
	}
	for _, c := range h.Constants {
		value, err := space.MarshalValue(c.Value)
		if err != nil {
			return nil, err
		}
		j.Constants = append(j.Constants, constantJSON{c.Name, value, c.Host})
	}
	return marshal(j)
}

// UnmarshalJSON is the inverse of MarshalJSON. Fields that it does not know are left out.
func (h *Header) UnmarshalJSON(raw []byte) error {
	var plain plainHeader
	j := headerJSON{plainHeader: &plain}
	if err := json.Unmarshal(raw, &j); err != nil {
		return err
	}
	*h = Header(plain)
	h.Objective, h.Baseline = j.Objective.objective(), j.Baseline
	for _, p := range j.Parameters {
		h.Parameters = append(h.Parameters, space.Parameter{Name: p.Name, Values: p.Values})
	}
	for _, c := range j.Constants {
		value, err := space.ParseValue(c.Value)
		if err != nil {
			return fmt.Errorf("constant %s: %w", c.Name, err)
		}
		h.Constants = append(h.Constants, definition.Constant{Name: c.Name, Value: value, Host: c.Host})
	}
	return nil
}

// line is the header as the first line of a run log, and the header as it will be read
// back from it: texts of drivers that are not UTF-8 are mended.
func (h Header) line() ([]byte, Header, error) {
	h.Format, h.Version = FormatLog, LogVersion
	if h.Started.IsZero() {
		h.Started = time.Now()
	}
	line, err := h.MarshalJSON()
	var back Header
	if err == nil {
		err = back.UnmarshalJSON(line)
	}
	if err != nil {
		return nil, Header{}, fmt.Errorf("write the header of a run log: %w", err)
	}
	return endLine(line), back, nil
}
