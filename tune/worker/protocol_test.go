package worker

import (
	"bytes"
	"encoding/gob"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// A conversation is one with a worker, by the protocol and nothing else.
type conversation struct {
	t       *testing.T
	command *exec.Cmd
	in      io.WriteCloser
	encoder *gob.Encoder
	answers chan answer // closed when the worker says no more
	errors  lines       // what it prints
	heard   []string    // stages are merged where the same one begins again
}

// talk starts the program as a worker.
func talk(t *testing.T) *conversation {
	t.Helper()
	c := &conversation{t: t, answers: make(chan answer, 64)}
	mark := nextMark()
	c.command = exec.Command(os.Args[0])
	c.command.Env = append(os.Environ(), environment+"=1", mark)
	c.command.Stderr = &c.errors
	var err error
	if c.in, err = c.command.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, outOfChild, err := os.Pipe() // not StdoutPipe: Wait would close what is still to be read
	if err != nil {
		t.Fatal(err)
	}
	c.command.Stdout = outOfChild
	c.encoder = gob.NewEncoder(c.in)
	if err := c.command.Start(); err != nil {
		t.Fatal(err)
	}
	outOfChild.Close()
	go func() {
		defer close(c.answers)
		decoder := gob.NewDecoder(out)
		for {
			var a answer
			if decoder.Decode(&a) != nil {
				return
			}
			c.answers <- a
		}
	}()
	t.Cleanup(func() {
		_ = c.command.Process.Kill()
		_ = c.command.Wait()
		out.Close()
		checkGone(t, mark)
	})
	return c
}

func (c *conversation) say(r request) {
	c.t.Helper()
	if err := c.encoder.Encode(r); err != nil {
		c.t.Fatalf("say %+v: %v", r, err)
	}
}

// hear is the next answer that is no stage.
func (c *conversation) hear() answer {
	c.t.Helper()
	for {
		a := c.next()
		what := a.what()
		if n := len(c.heard); n == 0 || a.Stage == nil || c.heard[n-1] != what {
			c.heard = append(c.heard, what)
		}
		if a.Stage == nil {
			return a
		}
	}
}

// next is the next answer.
func (c *conversation) next() answer {
	c.t.Helper()
	select {
	case a, ok := <-c.answers:
		if !ok {
			c.t.Fatalf("the worker ended after %q; it printed:\n%s", c.heard, &c.errors)
		}
		return a
	case <-time.After(watchdog):
		c.t.Fatalf("the worker says nothing more after %q; it printed:\n%s", c.heard, &c.errors)
	}
	panic("not reached")
}

// watchdog bounds the wait for an event: none takes so long unless something is wrong, on a busy
// machine neither.
const watchdog = 10 * time.Minute

// what is an answer in a word: the stage, or the field that is set. It is an error where the
// answer has not exactly one.
func (a answer) what() string {
	var all []string
	add := func(is bool, word string) {
		if is {
			all = append(all, word)
		}
	}
	add(a.Ready != nil, "ready")
	if a.Stage != nil {
		all = append(all, "["+string(a.Stage.Stage)+"]")
	}
	add(a.Need != nil, "need")
	add(a.Outputs != nil, "outputs")
	add(a.Ask, "ask")
	add(a.Built != nil, "built")
	add(a.Result != nil, "result")
	add(a.Turn != nil, "turn")
	add(a.Remeasured != nil, "remeasured")
	add(a.Failed != nil, "failed")
	if len(all) != 1 {
		return "not one message but: " + strings.Join(all, " ")
	}
	return all[0]
}

// wantHeard wants what was heard since it was last called.
func (c *conversation) wantHeard(want string) {
	c.t.Helper()
	if got := strings.Join(c.heard, " "); got != want {
		c.t.Errorf("heard:\n%s\nwant:\n%s", got, want)
	}
	c.heard = nil
}

// ends wants the worker to end with a status, and to have printed something.
func (c *conversation) ends(status int, printed string) {
	c.t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- c.command.Wait() }()
	select {
	case <-ended:
	case <-time.After(watchdog):
		c.t.Fatalf("the worker does not end after %q", c.heard)
	}
	if got := c.command.ProcessState.ExitCode(); got != status || !strings.Contains(c.errors.String(), printed) {
		c.t.Errorf("ended with status %d and %q; want %d and %q", got, &c.errors, status, printed)
	}
}

// greeting is what a pool says to a worker first.
func greeting(t *testing.T, p *problem.Problem) *hello {
	t.Helper()
	problem, err := encodeProblem(p)
	if err != nil {
		t.Fatal(err)
	}
	l := testDevice(t)
	return &hello{Selector: l.Selector(), Device: testIdentity(t), Problem: problem, Digest: p.Digest(), Iterations: 3}
}

func (c *conversation) greet(h *hello) hardware.Device {
	c.t.Helper()
	c.say(request{Hello: h})
	a := c.hear()
	if a.Ready == nil {
		c.t.Fatalf("%+v, want ready", a)
	}
	c.wantHeard("ready")
	return a.Ready.Device
}

func TestProtocolOfABuilder(t *testing.T) {
	t.Parallel()
	p := faulty(t)
	h := greeting(t, p)
	h.Builds = true
	c := talk(t)
	if d := c.greet(h); d.Name != h.Device.Name || d.Timer != "" {
		t.Errorf("ready: %+v", d)
	}
	for _, wanted := range []bool{false, true} {
		c.say(request{Build: &build{Values: faultyValues(t, p, faultNone), WantBinary: wanted}})
		a := c.hear()
		c.wantHeard("[build] built")
		if r := a.Built.Result; r.Status != "" || r.Durations.Build <= 0 || wanted != (len(a.Built.Binary) > 0) {
			t.Errorf("built: %+v, %d bytes", r, len(a.Built.Binary))
		}
	}
	c.say(request{Build: &build{Values: faultyValues(t, p, faultCompile), WantBinary: true}})
	a := c.hear()
	c.wantHeard("[build] built")
	if r := a.Built.Result; r.Status != tune.Compile || !strings.Contains(r.Reason, "build faulty: ") || len(a.Built.Binary) > 0 {
		t.Errorf("built: %+v", r)
	}
	c.say(request{Evaluate: &evaluate{Values: faultyValues(t, p, faultNone)}})
	if a := c.hear(); a.Failed == nil {
		t.Errorf("a builder was asked to evaluate: %+v", a)
	}
	c.ends(1, "")
}

func TestProtocolOfAnEvaluator(t *testing.T) {
	t.Parallel()
	p := faulty(t)
	c := talk(t)
	timer := c.greet(greeting(t, p)).Timer
	if timer == "" {
		t.Error("ready without a timer")
	}

	c.say(request{Evaluate: &evaluate{Values: faultyValues(t, p, faultNone)}})
	a := c.hear()
	if a.Need == nil || a.Need.Key == "" {
		t.Fatalf("%+v, want need", a)
	}
	key := a.Need.Key
	c.say(request{Outputs: &outputs{Key: key}})
	a = c.hear()
	if a.Outputs == nil || a.Outputs.Key != key || a.Outputs.Arrays["y"] == nil {
		t.Fatalf("%+v, want outputs", a)
	}
	right := a.Outputs.Arrays
	if a = c.hear(); !a.Ask {
		t.Fatalf("%+v, want ask", a)
	}
	c.wantHeard("[build] need [reference] outputs [build] [first launch] [verify] ask")
	c.silence()
	c.say(request{Time: &permission{}})
	a = c.hear()
	c.wantHeard("[measure] result")
	if r := a.Result; r == nil || r.Status != tune.Correct || len(r.Times) != 3 || !r.Verified || r.Durations.Build <= 0 || r.Timestamp.IsZero() {
		t.Errorf("%+v", r)
	}

	// What it made it keeps. What fails is not timed.
	c.say(request{Evaluate: &evaluate{Values: faultyValues(t, p, faultOutput)}})
	a = c.hear()
	c.wantHeard("[build] [first launch] [verify] [first launch] [verify] result")
	if r := a.Result; r == nil || r.Status != tune.Correctness {
		t.Errorf("%+v", r)
	}

	// Another one takes what the first has made.
	wrong := right["y"].Clone()
	for i := range wrong.Bytes {
		wrong.Bytes[i] ^= 0x40
	}
	for arrays, want := range map[*array.Array]tune.Status{right["y"]: tune.Correct, wrong: tune.Correctness} {
		h := greeting(t, p)
		h.Device.Timer = timer // is not found out again
		c := talk(t)
		c.greet(h)
		c.say(request{Evaluate: &evaluate{Values: faultyValues(t, p, faultNone)}})
		if a := c.hear(); a.Need == nil || a.Need.Key != key {
			t.Fatalf("%+v, want need %q", a, key)
		}
		c.say(request{Outputs: &outputs{key, map[string]*array.Array{"y": arrays}}})
		a := c.hear()
		if a.Ask {
			c.wantHeard("[build] need [build] [first launch] [verify] ask")
			c.say(request{Time: &permission{Known: true, Best: 1e-9}})
			a = c.hear()
		}
		if r := a.Result; r == nil || r.Status != want {
			t.Errorf("given outputs: %+v, want %s", r, want)
		}
		if err := c.in.Close(); err != nil {
			t.Fatal(err)
		}
		c.ends(0, "")
	}
}

// silence makes sure that a worker that has asked to time does not go on by itself. It waits
// a moment for the worker to do wrong: too short a moment hides a fault, and fails nothing.
func (c *conversation) silence() {
	c.t.Helper()
	select {
	case a, ok := <-c.answers:
		c.t.Fatalf("%+v, %v before it was allowed to time", a, ok)
	case <-time.After(50 * time.Millisecond):
	}
}

// TestProtocolTellsTheBest lets a worker know of a best that makes all others hopeless.
func TestProtocolTellsTheBest(t *testing.T) {
	t.Parallel()
	p := faulty(t)
	h := greeting(t, p)
	h.EarlyStop, h.Iterations = 2, 100
	c := talk(t)
	c.greet(h)
	for _, known := range []bool{false, true} {
		c.say(request{Evaluate: &evaluate{Values: faultyValues(t, p, faultSlow)}})
		a := c.hear()
		if a.Need != nil {
			c.say(request{Outputs: &outputs{Key: a.Need.Key}})
			c.hear()
			a = c.hear()
		}
		if !a.Ask {
			t.Fatalf("%+v, want ask", a)
		}
		c.say(request{Time: &permission{known, 1e-6}})
		if r := c.hear().Result; r == nil || r.Status != tune.Correct || r.EarlyStopped != known || known != (len(r.Times) == 1) {
			t.Errorf("best known: %v: %+v", known, r)
		}
	}
}

func TestProtocolOfRemeasuring(t *testing.T) {
	t.Parallel()
	p := faulty(t)
	c := talk(t)
	c.greet(greeting(t, p))
	list := []values{faultyValues(t, p, faultNone), faultyValues(t, p, faultCompile), faultyValues(t, p, faultSlow)}
	for _, singly := range []bool{false, true} {
		c.say(request{Remeasure: &remeasure{Values: list, Rounds: 2, Singly: singly}})
		var turns []int
		var a answer
		for a = c.hear(); a.Turn != nil || a.Ask; a = c.hear() {
			if a.Ask {
				c.say(request{Time: &permission{}})
			} else {
				turns = append(turns, a.Turn.Place)
			}
		}
		if a.Remeasured == nil || len(a.Remeasured.Times) != 3 {
			t.Fatalf("%+v, want remeasured", a)
		}
		for i, want := range []int{2, 0, 2} {
			if got := a.Remeasured.Times[i]; len(got) != want {
				t.Errorf("configuration %d has the times %v, want %d", i, got, want)
			}
		}
		want, heard := []int{0, 1, 2, -1, -1}, "turn [build] [first launch] turn [build] turn [build] [first launch] ask turn [measure] turn [measure] remeasured"
		if singly {
			want = []int{0, 1, 2, 0, 2, 0, 2}
			heard = "turn [build] [first launch] turn [build] turn [build] [first launch] ask turn [measure] turn [measure] turn [measure] turn [measure] remeasured"
		}
		if !slices.Equal(turns, want) {
			t.Errorf("turns %v, want %v", turns, want)
		}
		c.wantHeard(heard)
	}
}

func TestProtocolRefuses(t *testing.T) {
	t.Parallel()
	p := faulty(t)
	right := greeting(t, p)
	for name, c := range map[string]struct {
		change func(*hello)
		want   string
	}{
		"another problem":  {func(h *hello) { h.Digest = "d41d8cd9" }, "the problem is another one in the worker than in the program"},
		"no problem":       {func(h *hello) { h.Problem, h.Maker = nil, "nobody" }, `no problem is registered as "nobody" (registered: broken, doubling, not the same`},
		"a broken maker":   {func(h *hello) { h.Problem, h.Maker = nil, "broken" }, "make the problem: it rains"},
		"garbage":          {func(h *hello) { h.Problem = []byte("garbage") }, "make the problem: "},
		"another device":   {func(h *hello) { h.Device.Name = "Voodoo 2" }, "in a worker, and Voodoo 2 in the program"},
		"another card":     {func(h *hello) { h.Device.PCI = "0000:99:00.0" }, "in a worker, and "},
		"no such selector": {func(h *hello) { h.Selector = "99:99" }, "99:99"},
	} {
		t.Run(name, func(t *testing.T) {
			h := *right
			c.change(&h)
			conversation := talk(t)
			conversation.say(request{Hello: &h})
			if a := conversation.hear(); a.Failed == nil || !strings.Contains(a.Failed.Reason, c.want) {
				t.Errorf("%+v, want failed with %q", a.Failed, c.want)
			}
			conversation.ends(1, "")
		})
	}
}

func TestProtocolOutOfOrder(t *testing.T) {
	t.Parallel()
	p := faulty(t)
	evaluation := request{Evaluate: &evaluate{Values: faultyValues(t, p, faultNone)}}
	t.Run("no hello", func(t *testing.T) {
		c := talk(t)
		c.say(evaluation)
		c.ends(1, "hello must be the first message")
	})
	t.Run("two hellos", func(t *testing.T) {
		c := talk(t)
		c.greet(greeting(t, p))
		c.say(request{Hello: greeting(t, p)})
		c.ends(1, "the only one of its kind")
	})
	t.Run("nothing at all", func(t *testing.T) {
		c := talk(t)
		c.greet(greeting(t, p))
		c.say(request{})
		if a := c.hear(); a.Failed == nil {
			t.Errorf("%+v", a)
		}
		c.ends(1, "")
	})
	t.Run("no configuration", func(t *testing.T) {
		c := talk(t)
		c.greet(greeting(t, p))
		c.say(request{Evaluate: &evaluate{Values: values{"nonsense": 1}}})
		if a := c.hear(); a.Failed == nil || !strings.Contains(a.Failed.Reason, "nonsense") {
			t.Errorf("%+v", a)
		}
		c.ends(1, "")
	})
	t.Run("the wrong reply", func(t *testing.T) {
		c := talk(t)
		c.greet(greeting(t, p))
		c.say(evaluation)
		if a := c.hear(); a.Need == nil {
			t.Fatalf("%+v", a)
		}
		c.say(request{Time: &permission{}})
		if a := c.hear(); a.Failed == nil || !strings.Contains(a.Failed.Reason, "asked for right outputs") {
			t.Errorf("%+v", a)
		}
		c.ends(1, "")
	})
	t.Run("garbage", func(t *testing.T) {
		c := talk(t)
		if _, err := c.in.Write(bytes.Repeat([]byte("garbage "), 100)); err != nil {
			t.Fatal(err)
		}
		c.ends(0, "ndtune worker: read a message: ")
	})
	t.Run("the end", func(t *testing.T) {
		c := talk(t)
		if err := c.in.Close(); err != nil {
			t.Fatal(err)
		}
		c.ends(0, "")
	})
}

// TestTheEndOfInputEndsALaunch has a worker in a launch that never ends.
func TestTheEndOfInputEndsALaunch(t *testing.T) {
	t.Parallel()
	needPoCL(t)
	p := faulty(t)
	c := talk(t)
	c.greet(greeting(t, p))
	c.say(request{Evaluate: &evaluate{Values: faultyValues(t, p, faultLoop)}})
	for a := c.next(); a.Stage == nil || a.Stage.Stage != device.StageFirstLaunch; a = c.next() {
		if a.Need != nil {
			c.say(request{Outputs: &outputs{Key: a.Need.Key}})
		}
	}
	c.silence() // it has been launched by now, most likely
	if err := c.in.Close(); err != nil {
		t.Fatal(err)
	}
	c.ends(0, "")
}

// The faults of the faulty problem.
const (
	faultNone    = "none"
	faultSlow    = "slow"
	faultOutput  = "output"
	faultCompile = "compile"
	faultBounds  = "bounds"
	faultGroup   = "group"
	faultLarge   = "large"
	faultLoop    = "loop"
	faultDies    = "dies"
)

// survivable are the faults that a process survives, and none.
var survivable = []string{faultNone, faultSlow, faultOutput, faultCompile, faultBounds, faultGroup, faultLarge}

const faultySource = `
#if fault == group
__attribute__((reqd_work_group_size(7, 1, 1)))
#endif
__kernel void faulty(volatile __global float *y, volatile __global int *counter) {
    int i = get_global_id(0);
    float sum = i;
#if fault == compile
    no such statement;
#endif
    for (int n = 0; n < (fault == slow ? 20000 : 0); n++) sum += counter[1]; // is 0
    y[i] = sum;
    if (fault == output && i == 77) y[i] = sum + 0.25f;
    if (fault == bounds && i == 0) y[256 + 3] = 1;
    if (fault == loop && i == 0) while (counter[0] == 0) ;
    if (fault == dies && i == 0) *(volatile __global int *)0x10 = 1;
}
`

// faulty has one configuration for each fault.
func faulty(t testing.TB, faults ...string) *problem.Problem {
	t.Helper()
	if len(faults) == 0 {
		faults = append(append(faults, survivable...), faultLoop, faultDies)
	}
	y := make([]float32, 256)
	for i := range y {
		y[i] = float32(i)
	}
	d := problem.Definition{
		Kernel:      problem.Kernel{Name: "faulty", Source: faultySource},
		ProblemSize: []problem.Expr{"256"},
		BlockSize:   [3]problem.Expr{`fault == "large" ? 1000000 : 64`},
		Arguments: []problem.Argument{
			{Name: "y", Type: "float32", Size: "256", Output: true},
			{Name: "counter", Type: "int32", Size: "16"},
		},
		Verify: &problem.Verification{Expected: map[string]any{"y": y}},
	}
	for i, name := range []string{faultNone, faultSlow, faultOutput, faultCompile, faultBounds, faultGroup, faultLarge, faultLoop, faultDies} {
		d.Constants = append(d.Constants, problem.Constant{Name: name, Value: i})
	}
	var values []space.Value
	for _, f := range faults {
		values = append(values, f)
	}
	d.Parameters = []space.Parameter{{Name: "fault", Values: values}}
	return mustProblem(t, d)
}

func faultyValues(t testing.TB, p *problem.Problem, fault string) values {
	t.Helper()
	return valuesOf(configurationOf(t, p, map[string]space.Value{"fault": fault}))
}

// TestAWorkerRefusesWhatIsNoConfiguration: its problem has no search space that would.
func TestAWorkerRefusesWhatIsNoConfiguration(t *testing.T) {
	p := faulty(t)
	s := &server{problem: p}
	for what, given := range map[string]values{
		"a value that is not listed": {"fault": "none of them"},
		"an unknown name":            {"fault": faultNone, "other": 1},
		"a missing value":            {},
	} {
		if configuration, err := s.configure(given); err == nil {
			t.Errorf("%s: %v", what, configuration)
		}
	}
	if _, err := s.configure(valuesOf(configurationOf(t, p, nil))); err != nil {
		t.Error(err)
	}
}
