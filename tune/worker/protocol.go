package worker

import (
	"encoding/json"
	"io"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/process"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
)

// The processes of a pool, and of the measuring of peaks.
type (
	host  = process.Host[request, answer]
	child = process.Child[request, answer]
	event = process.Event[request, answer]
)

func newHost(output io.Writer) *host {
	return process.NewHost[request, answer]("worker", environment, output)
}

// A request is a message to a worker: one of its fields is set.
type request struct {
	Hello     *hello
	Build     *job
	Evaluate  *job
	Remeasure *remeasure
	Time      *permission
	Outputs   *outputs
	Applied   *applied
	Release   bool
}

// An answer is a message of a worker: one of its fields is set.
type answer struct {
	Ready      *hardware.Device // as the worker found it
	Starting   time.Duration    // with Ready: what its start has taken, without waiting for requests
	Stage      *stage
	Need       string // the key of right outputs
	Outputs    *outputs
	Ask        bool
	First      time.Duration      // with Ask: the time of the first launch
	Set        []hardware.Setting // of the device, at which the next configuration is timed
	Built      *built
	Result     *result
	Turn       *turn
	Remeasured []tune.Turns    // of each configuration
	Measured   *hardware.Peaks // of the part that a hello wants
	Described  *described
	Failed     string             // why
	Timer      *device.TimerError // with Failed: that
}

// hello tells a worker what it is for.
type hello struct {
	Load     source.Language // load the drivers of its devices, for another hello to come, and do nothing else; "": no
	Warm     bool            // open the device, for the hello of a problem to come
	Builds   bool            // or else it evaluates
	Selector string          // of the device, such as «0:1» or «cuda:0»
	Device   hardware.Device
	Visible  string             // device.Listed.Visible
	Known    map[uintptr][]byte // of a builder for CUDA, which does without its driver: cl.Device.Known; nil: it loads the drivers

	Problem []byte               // by problem.Problem.Encode; nil: a registered function makes it
	Bulk    int                  // length of Problem, if it follows the message or is in a segment
	Segment process.SegmentPlace // zero: there is none
	Maker   string               // its name
	Input   string               // for it
	Digest  string               // that the problem must have; "": any

	Iterations int
	EarlyStop  float64
	Outputs    string // as in device.Options
	Scratch    string // a folder for temporary files, which outlives the worker
	Alone      bool   // no other worker of the device needs the right outputs, unless this one dies

	Survey string // measure the part of the peaks with this figure, and do nothing else; "": none

	Program *program // whose kernels to declare, and nothing else
}

// Bulk implements process.Bulky.
func (r *request) Bulk() (*[]byte, int) {
	if r.Hello == nil || r.Hello.Segment.Number > 0 {
		return nil, 0
	}
	return &r.Hello.Problem, r.Hello.Bulk
}

// values are a configuration.
type values = map[string]space.Value

// A job is to build or to evaluate a configuration.
type job struct {
	Values     values
	WantBinary bool               // of a build
	Binary     []byte             // of the program to evaluate, or nil
	Readings   []hardware.Reading // of its build, or nil
	Fresh      string             // a device.FreshOption, or "", for both
	Retest     tune.Retest
}

type built struct {
	Result result // without a status if it can be evaluated
	Binary []byte
}

// A result is a [tune.Result] without its configuration, in which encoding/gob would see no field. So it travels as JSON.
type result struct {
	tune.Result
	Lost bool // the worker has lost the device, and ends
}

// GobEncode implements gob.GobEncoder.
func (r result) GobEncode() ([]byte, error) { return json.Marshal(r) }

// GobDecode implements gob.GobDecoder.
func (r *result) GobDecode(data []byte) error { return json.Unmarshal(data, r) }

// of returns the result of a configuration.
func (r result) of(c space.Configuration) tune.Result {
	r.Configuration = c
	return r.Result
}

type remeasure struct {
	Values   []values
	Binaries [][]byte // of the programs, as far as they are known; nil: none
	Rounds   int
	Singly   bool
	Observe  bool
}

// turn is the index of a configuration of a remeasure, or -1 for all together.
type turn struct{ Index int }

// stage says what begins now.
type stage struct {
	Stage    device.Stage
	Launches int
}

// permission lets a worker use the device, and tells it the best so far.
type permission struct {
	Known bool // there is one
	Best  float64
}

// applied says that the device has the settings that were asked for.
type applied struct{ Changed bool }

// outputs are right outputs by argument name; nil: there are none yet, or the worker that made them keeps them.
type outputs struct {
	Key    string
	Arrays map[string]*array.Array
}

func valuesOf(c space.Configuration) values {
	v := make(values, c.Len())
	c.Assign(v)
	return v
}
