package record

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
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
	Format  string // where the record comes from: one of the constants above
	Version int    // of the run log; 0 in other formats

	Digest string // of the problem: specification, sources and data; opaque here

	// KernelDigest is the digest of the problem without its sizes and data: see
	// [problem.Problem.KernelDigest]. It is "" in other formats.
	KernelDigest string

	// MeasurementDigest is the digest of the problem without its search space: see
	// [problem.Problem.MeasurementDigest]. It is "" in other formats.
	MeasurementDigest string

	Kernel string // name of the kernel function
	Source string // name of the specification or program, for people
	Size   string // the constants that tell this size from the others of its search, as n=1024; "": there is one size

	Device      hardware.Device
	Parameters  []space.Parameter  // in order
	SpaceSize   int                // configurations in the search space; 0: unknown
	Constants   []problem.Constant // in order
	Options     string             // of the compiler, the same for all configurations, constants included
	ProblemSize []int
	Objective   problem.Objective
	Baseline    map[string]space.Value // the configuration that the best is compared with; nil: none
	Metrics     []string               // names in order
	Iterations  int                    // timed launches of a configuration
	Cache       problem.CacheState     // of timed launches; "": warm
	Verified    bool                   // outputs are compared with a reference

	Strategy string // of the search that began the run
	Seed     uint64
	Priors   []string // the records that it learnt from, for people
	Started  time.Time
	Tool     string // the program that wrote the record, with its version

	// Reused is the number of results of older search spaces that a run log had when it went on with this one.
	// They are the first of the record.
	Reused int
}

// NewHeader returns the header of a record of a problem, without a device and a search. Source is
// [Header.Source].
func NewHeader(p *problem.Problem, source string) Header {
	h := Header{
		Digest: p.Digest(), KernelDigest: p.KernelDigest(), MeasurementDigest: p.MeasurementDigest(), Kernel: p.KernelName(), Source: source,
		ProblemSize: p.FixedProblemSize(), Constants: p.Constants(), Options: p.FixedOptions(), Objective: p.Objective(),
	}
	for i := range p.Parameters().Len() {
		h.Parameters = append(h.Parameters, p.Parameters().At(i))
	}
	if state := p.Timing().Cache; state != problem.CacheWarm {
		h.Cache = state
	}
	if c, ok := p.Baseline(); ok {
		h.Baseline = map[string]space.Value{}
		c.Assign(h.Baseline)
	}
	return h
}

// headerJSON is the form of a header in files.
type headerJSON struct {
	Format       string               `json:"format"`
	Version      int                  `json:"version,omitempty"`
	Digest       string               `json:"digest,omitempty"`
	KernelDigest string               `json:"kernel_digest,omitempty"`
	Measurement  string               `json:"measurement_digest,omitempty"`
	Kernel       string               `json:"kernel,omitempty"`
	Source       string               `json:"source,omitempty"`
	Size         string               `json:"size,omitempty"`
	Device       hardware.Device      `json:"device"`
	Parameters   []parameterJSON      `json:"parameters"`
	SpaceSize    int                  `json:"space_size,omitempty"`
	Constants    []constantJSON       `json:"constants,omitempty"`
	Options      string               `json:"options,omitempty"`
	ProblemSize  []int                `json:"problem_size,omitempty"`
	Objective    objectiveJSON        `json:"objective"`
	Baseline     map[string]JSONValue `json:"baseline,omitempty"`
	Metrics      []string             `json:"metrics,omitempty"`
	Iterations   int                  `json:"iterations,omitempty"`
	Cache        problem.CacheState   `json:"cache,omitempty"`
	Verified     bool                 `json:"verified"`
	Strategy     string               `json:"strategy,omitempty"`
	Seed         uint64               `json:"seed,omitempty"`
	Priors       []string             `json:"priors,omitempty"`
	Started      time.Time            `json:"started,omitzero"`
	Tool         string               `json:"tool,omitempty"`
	Reused       int                  `json:"reused,omitempty"`
}

type parameterJSON struct {
	Name   string      `json:"name"`
	Values []JSONValue `json:"values"`
}

type constantJSON struct {
	Name  string    `json:"name"`
	Value JSONValue `json:"value"`
	Host  bool      `json:"host,omitempty"`
}

// objectiveJSON is the first objective, with the further ones and the choice where there are several.
type objectiveJSON struct {
	Name     string          `json:"name"`
	Maximize bool            `json:"maximize,omitempty"`
	More     []objectiveJSON `json:"more,omitempty"`
	Choose   string          `json:"choose,omitempty"`
}

func newObjectiveJSON(o problem.Objective) objectiveJSON {
	j := objectiveJSON{Name: o.Name, Maximize: o.Maximize, Choose: o.Choose}
	for _, more := range o.More {
		j.More = append(j.More, newObjectiveJSON(more))
	}
	return j
}

func (j objectiveJSON) objective() problem.Objective {
	o := problem.Objective{Name: j.Name, Maximize: j.Maximize, Choose: j.Choose}
	for _, more := range j.More {
		o.More = append(o.More, more.objective())
	}
	return o
}

// A JSONValue is the value of a parameter in JSON. Numbers keep their types: a float that is a whole
// number has a point.
type JSONValue struct{ Value space.Value }

// MarshalJSON writes a number, a bool or a text.
func (v JSONValue) MarshalJSON() ([]byte, error) {
	n, err := space.NormalizeValue(v.Value)
	if err != nil {
		return nil, err
	}
	return appendValue(nil, n), nil
}

// UnmarshalJSON reads a number, a bool or a text.
func (v *JSONValue) UnmarshalJSON(raw []byte) (err error) {
	v.Value, err = parseValue(raw)
	return err
}

// MarshalJSON is the first line of a run log.
func (h Header) MarshalJSON() ([]byte, error) {
	j := headerJSON{
		Format: h.Format, Version: h.Version,
		Digest: h.Digest, KernelDigest: h.KernelDigest, Measurement: h.MeasurementDigest, Kernel: h.Kernel, Source: h.Source, Size: h.Size,
		Device: h.Device, Parameters: []parameterJSON{}, SpaceSize: h.SpaceSize,
		Options: h.Options, ProblemSize: h.ProblemSize, Metrics: h.Metrics,
		Objective:  newObjectiveJSON(h.Objective),
		Iterations: h.Iterations, Cache: h.Cache, Verified: h.Verified,
		Strategy: h.Strategy, Seed: h.Seed, Priors: h.Priors, Started: h.Started.UTC(), Tool: h.Tool, Reused: h.Reused,
	}
	for _, p := range h.Parameters {
		q := parameterJSON{Name: p.Name}
		for _, v := range p.Values {
			q.Values = append(q.Values, JSONValue{v})
		}
		j.Parameters = append(j.Parameters, q)
	}
	for name, v := range h.Baseline {
		if j.Baseline == nil {
			j.Baseline = map[string]JSONValue{}
		}
		j.Baseline[name] = JSONValue{v}
	}
	for _, c := range h.Constants {
		j.Constants = append(j.Constants, constantJSON{c.Name, JSONValue{c.Value}, c.Host})
	}
	return marshal(j)
}

// UnmarshalJSON is the inverse of MarshalJSON. Fields that it does not know are left out.
func (h *Header) UnmarshalJSON(raw []byte) error {
	var j headerJSON
	if err := json.Unmarshal(raw, &j); err != nil {
		return err
	}
	*h = Header{
		Format: j.Format, Version: j.Version,
		Digest: j.Digest, KernelDigest: j.KernelDigest, MeasurementDigest: j.Measurement, Kernel: j.Kernel, Source: j.Source, Size: j.Size,
		Device: j.Device, SpaceSize: j.SpaceSize,
		Options: j.Options, ProblemSize: j.ProblemSize, Metrics: j.Metrics,
		Objective:  j.Objective.objective(),
		Iterations: j.Iterations, Cache: j.Cache, Verified: j.Verified,
		Strategy: j.Strategy, Seed: j.Seed, Priors: j.Priors, Started: j.Started, Tool: j.Tool, Reused: j.Reused,
	}
	for _, p := range j.Parameters {
		q := space.Parameter{Name: p.Name}
		for _, v := range p.Values {
			q.Values = append(q.Values, v.Value)
		}
		h.Parameters = append(h.Parameters, q)
	}
	for name, v := range j.Baseline {
		if h.Baseline == nil {
			h.Baseline = map[string]space.Value{}
		}
		h.Baseline[name] = v.Value
	}
	for _, c := range j.Constants {
		h.Constants = append(h.Constants, problem.Constant{Name: c.Name, Value: c.Value.Value, Host: c.Host})
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
