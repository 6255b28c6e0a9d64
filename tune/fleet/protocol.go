package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/worker"
)

// Protocol is the version of the messages. Programs of different versions do not work together.
const Protocol = 6

// The names in JetStream.
const (
	agentsBucket    = "ndtune_agents"
	searchesBucket  = "ndtune_searches"
	problemsBucket  = "ndtune_problems"
	workStream      = "NDTUNE_WORK"
	workSubjects    = "ndtune.work."
	resultStream    = "NDTUNE_RESULTS"
	resultSubjects  = "ndtune.results."
	bestSubjects    = "ndtune.best."
	measureSubjects = "ndtune.measure."
)

const (
	renewal       = 3 * time.Second  // between announcements of an agent or a search
	expiry        = 15 * time.Second // of an announcement that is not renewed
	silent        = 2 * renewal      // after which a device counts as not heard of
	maxDeliveries = 3                // of a configuration
	resultsAge    = 24 * time.Hour
	problemsAge   = 7 * 24 * time.Hour // and of work
	maxWaiting    = 1 << 14            // agents that wait for work of a search
	noteTries     = 10                 // until the user hears of it
	maxRefusals   = 20                 // that a device announces
	maxWork       = 1 << 20            // messages of all queues; no more are taken then
	maxResults    = 1 << 22            // of all searches; the oldest are dropped
	maxBucket     = 32 << 20           // bytes of all announcements of agents, and of searches; the server reserves them on its disk
)

// ackWait is the time until work that no agent renews goes to another. Tests shorten it.
var ackWait = 20 * time.Second

// An Announcement says what a device of an agent is and does.
type Announcement struct {
	header
	Tool     string          `json:"tool"` // the program of the agent, with its version
	Agent    string          `json:"agent"`
	Machine  string          `json:"machine"` // host name
	Process  int             `json:"process"` // id
	Selector string          `json:"selector"`
	Device   hardware.Device `json:"device"`

	Capacity  int       `json:"capacity"`           // configurations that it can usefully hold
	Search    string    `json:"search,omitempty"`   // that it works for; "": none
	Problem   string    `json:"problem,omitempty"`  // the name of the search's kernel
	Since     time.Time `json:"since,omitzero"`     // of this search, or of being idle
	Evaluated int       `json:"evaluated"`          // configurations, since the agent began
	Refused   []Refusal `json:"refused,omitempty"`  // the last ones, also of searches that have ended
	Dropped   int64     `json:"dropped,omitempty"`  // messages that the agent could not read
	Announced time.Time `json:"announced,omitzero"` // by the agent's clock

	// Silence is the time since the last announcement. [Connection.Devices] sets it.
	Silence time.Duration `json:"silence_ns,omitempty"`
}

// Doing says what the device does, and for how long it has done so: «idle», the kernel of its search, or «not heard of» if
// announcements are missing.
func (a *Announcement) Doing() (what string, since time.Duration) {
	switch since = max(0, a.Announced.Sub(a.Since)); { // the agent's clock may have been set back
	case a.Silence > silent:
		return "not heard of", a.Silence
	case a.Search == "":
		return "idle", since
	}
	return a.Problem, since
}

// A Refusal says why a device does not work for a search.
type Refusal struct {
	Search string `json:"search"` // its begun
	Why    string `json:"why"`
}

// Name returns the name of the device in the fleet: «machine/selector».
func (a *Announcement) Name() string { return a.Machine + "/" + a.Selector }

// A search tells agents what to evaluate.
type search struct {
	header
	ID     string          `json:"id"`
	Begun  string          `json:"begun"` // tells the evaluators of an id from each other
	Kernel string          `json:"kernel"`
	Digest string          `json:"digest"` // of the problem
	Object string          `json:"object"` // name in the object store
	Device hardware.Device `json:"device"` // of the kind that the search is for
	Worker worker.Options  `json:"settings"`
}

// work is a configuration to evaluate.
type work struct {
	header
	Key    string      `json:"key"` // of the configuration and this evaluation; the result has the same
	Values space.Named `json:"values"`
}

// answer is the result of a work, or of a measurement.
type answer struct {
	header
	Search string       `json:"search"` // its id
	Key    string       `json:"key"`
	Device string       `json:"device"` // its name in the fleet
	Result tune.Result  `json:"result,omitzero"`
	Turns  []tune.Turns `json:"turns,omitempty"`  // of a measurement in turn
	Failed string       `json:"failed,omitempty"` // why there is no measurement in turn

	GivenBack bool `json:"given_back,omitempty"` // there is no result: the agent leaves, or has other work
}

// resultOf returns the result of a work, or of a retest, which has no times. An answer that has none that a log can keep counts as a failure.
func (a answer) resultOf(c space.Configuration, again tune.Retest) tune.Result {
	r := a.Result
	wrong := ""
	switch {
	case r.Status != "" && !slices.Contains(tune.Statuses(), r.Status):
		wrong = fmt.Sprintf("a result with the status %q", r.Status)
	case r.Status == "" || r.Status == tune.Correct && len(r.Times) == 0 && again.Launches == 0:
		wrong = "a result without times"
	case slices.ContainsFunc(r.Times, func(t float64) bool { return t < 0 }):
		wrong = "a result with negative times"
	}
	if wrong != "" {
		r = tune.Result{Status: tune.Runtime, Reason: "the agent " + a.Device + " sent " + wrong, Timestamp: time.Now()}
	}
	r.Configuration, r.Device = c, a.Device
	return r
}

// bestOf is the best result so far of a search.
type bestOf struct {
	header
	Values space.Named `json:"values"`
	Result tune.Result `json:"result"`
}

func valuesOf(c space.Configuration) space.Named {
	v := space.Named{}
	c.Assign(v)
	return v
}

// keySeparator stands in a key between the configuration and the text that tells its evaluations from each other.
const keySeparator = "."

// aboutOf returns the part of a key that is the same for all evaluations of a configuration.
func aboutOf(key string) string {
	about, _, _ := strings.Cut(key, keySeparator)
	return about
}

// keyOf returns a short text that is the same for equal configurations.
func keyOf(c space.Configuration) string {
	sum := sha256.Sum256([]byte(c.Key()))
	return hex.EncodeToString(sum[:12])
}

// A header is in each message: the version of its protocol.
type header struct {
	Protocol int `json:"protocol"`
}

var ours = header{Protocol}

func (h header) version() int { return h.Protocol }

// A versioned message has a header.
type versioned interface{ version() int }

// errOther means that a message is of another version.
var errOther = errors.New("the message is of another version of the protocol")

// decode reads a message.
func decode[T versioned](data []byte) (T, error) {
	var m T
	if err := json.Unmarshal(data, &m); err != nil {
		return m, err
	}
	if v := m.version(); v != Protocol {
		return m, fmt.Errorf("%w: %d, not %d", errOther, v, Protocol)
	}
	return m, nil
}

func encode(m versioned) []byte {
	data, err := json.Marshal(m)
	if err != nil {
		panic(err) // times are finite, and all else can be encoded
	}
	return data
}
