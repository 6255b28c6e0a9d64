package worker

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/device"
)

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
		fresh := ""
		if wanted {
			fresh = "-DNDTUNE_FRESH_7=1"
		}
		c.say(request{Build: &job{Values: faultyValues(t, p, faultNone), WantBinary: wanted, Fresh: fresh}})
		a := c.hear()
		c.wantHeard("[build] built")
		if !standin.OnSystem() && strings.Contains(a.Built.Result.Warnings, "built anew") != wanted {
			t.Errorf("built with %q: %+v", fresh, a.Built.Result)
		}
		if r := a.Built.Result; r.Status != "" || r.Durations.Build <= 0 || wanted != (len(a.Built.Binary) > 0) {
			t.Errorf("built: %+v, %d bytes", r, len(a.Built.Binary))
		}
	}
	c.say(request{Build: &job{Values: faultyValues(t, p, faultCompile), WantBinary: true}})
	a := c.hear()
	c.wantHeard("[build] built")
	if r := a.Built.Result; r.Status != tune.Compile || !strings.Contains(r.Reason, "build faulty: ") || len(a.Built.Binary) > 0 {
		t.Errorf("built: %+v", r)
	}
	c.say(request{Evaluate: &job{Values: faultyValues(t, p, faultNone)}})
	if a := c.hear(); a.Failed == "" {
		t.Errorf("a builder was asked to evaluate: %+v", a)
	}
	c.ends(1, "")
}

// TestABuilderOfCUDANeedsNoContext: a process that only builds takes nothing of the device, which an evaluator does.
func TestABuilderOfCUDANeedsNoContext(t *testing.T) {
	if standin.OnSystem() {
		t.Skip("needs a device that refuses contexts")
	}
	t.Parallel()
	l := deviceFor(t, onCUDA)
	p := in(t, l, faulty(t))
	c := talk(t, standin.FaultsVariable+"=device refuses contexts")
	h := greetingFrom(t, l, p)
	h.Builds = true
	c.greet(h)
	c.say(request{Build: &job{Values: faultyValues(t, p, faultNone), WantBinary: true}})
	if a := c.hear(); a.Built == nil || a.Built.Result.Status != "" || len(a.Built.Binary) == 0 {
		t.Errorf("%+v", a)
	}
	evaluator := talk(t, standin.FaultsVariable+"=device refuses contexts")
	evaluator.say(request{Hello: greetingFrom(t, l, p)})
	if a := evaluator.hear(); !strings.Contains(a.Failed, "cuDevicePrimaryCtxRetain") {
		t.Errorf("%+v", a)
	}
}

func TestProtocolOfAnEvaluator(t *testing.T) {
	t.Parallel()
	p := faulty(t)
	c := talk(t)
	timer := c.greet(greeting(t, p)).Timer
	if timer == "" {
		t.Error("ready without a timer")
	}

	c.say(request{Evaluate: &job{Values: faultyValues(t, p, faultNone)}})
	a := c.hear()
	if a.Need == "" {
		t.Fatalf("%+v, want need", a)
	}
	key := a.Need
	c.say(request{Outputs: &outputs{Key: key}})
	a = c.hear()
	if a.Outputs == nil || a.Outputs.Key != key || a.Outputs.Arrays["y"] == nil {
		t.Fatalf("%+v, want outputs", a)
	}
	right := a.Outputs.Arrays
	if a = c.hear(); !a.Ask {
		t.Fatalf("%+v, want ask", a)
	}
	c.wantHeard("[build] [buffers] need [reference] outputs [buffers] [first launch] [verify] ask")
	c.silence()
	c.say(request{Time: &permission{}})
	a = c.hear()
	c.wantHeard("[measure] [verify] result")
	if r := a.Result; r == nil || r.Status != tune.Correct || len(r.Times) != 3 || !r.Verified || r.Durations.Build <= 0 || r.Timestamp.IsZero() {
		t.Errorf("%+v", r)
	}

	// What it made it keeps. What fails is not timed.
	c.say(request{Evaluate: &job{Values: faultyValues(t, p, faultOutput)}})
	a = c.hear()
	c.wantHeard("[build] [first launch] [verify] result")
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
		c.say(request{Evaluate: &job{Values: faultyValues(t, p, faultNone)}})
		if a := c.hear(); a.Need == "" || a.Need != key {
			t.Fatalf("%+v, want need %q", a, key)
		}
		c.say(request{Outputs: &outputs{key, map[string]*array.Array{"y": arrays}}})
		a := c.hear()
		if a.Ask {
			c.wantHeard("[build] [buffers] need [buffers] [first launch] [verify] ask")
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

// TestProtocolOfAWorkerThatIsAlone: outputs that only one worker needs, and that are made soon, do not cross the pipe.
func TestProtocolOfAWorkerThatIsAlone(t *testing.T) {
	t.Parallel()
	p := faulty(t)
	h := greeting(t, p)
	h.Alone = true
	c := talk(t)
	c.greet(h)
	c.say(request{Evaluate: &job{Values: faultyValues(t, p, faultNone)}})
	key := c.hear().Need
	c.say(request{Outputs: &outputs{Key: key}})
	if a := c.hear(); a.Outputs == nil || a.Outputs.Key != key || a.Outputs.Arrays != nil {
		t.Errorf("%+v, want outputs without arrays", a)
	}
	if a := c.hear(); !a.Ask {
		t.Errorf("%+v, want ask", a)
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
		c.say(request{Evaluate: &job{Values: faultyValues(t, p, faultSlow)}})
		a := c.hear()
		if a.Need != "" {
			c.say(request{Outputs: &outputs{Key: a.Need}})
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
		for a = c.hear(); a.Turn != nil || a.Ask || a.Need != "" || a.Outputs != nil; a = c.hear() {
			switch {
			case a.Ask:
				c.say(request{Time: &permission{}})
			case a.Need != "":
				c.say(request{Outputs: &outputs{Key: a.Need}})
			case a.Turn != nil:
				turns = append(turns, a.Turn.Index)
			}
		}
		if a.Remeasured == nil || len(a.Remeasured) != 3 {
			t.Fatalf("%+v, want remeasured", a)
		}
		for i, want := range []int{2, 0, 2} {
			if got := a.Remeasured[i]; len(got.Times) != want || (want == 0) != (got.Reason != "") {
				t.Errorf("configuration %d has the times %v, want %d", i, got, want)
			}
		}
		want, heard := []int{0, 1, 2, -1, -1, 0, 2}, "turn [build] [buffers] [first launch] turn [build] turn [build] [first launch] ask "+
			"turn [measure] turn [measure] turn need [reference] outputs [buffers] [verify] turn [verify] remeasured"
		if singly {
			want = []int{0, 1, 2, 0, 2, 0, 2, 0, 2}
			heard = "turn [build] [first launch] turn [build] turn [build] [first launch] ask " +
				"turn [measure] turn [measure] turn [measure] turn [measure] turn [verify] turn [verify] remeasured"
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
			if a := conversation.hear(); a.Failed == "" || !strings.Contains(a.Failed, c.want) {
				t.Errorf("%+v, want failed with %q", a.Failed, c.want)
			}
			conversation.ends(1, "")
		})
	}
}

func TestProtocolOutOfOrder(t *testing.T) {
	t.Parallel()
	p := faulty(t)
	evaluation := request{Evaluate: &job{Values: faultyValues(t, p, faultNone)}}
	t.Run("no hello", func(t *testing.T) {
		c := talk(t)
		c.say(evaluation)
		c.ends(1, "hello must be the first message")
	})
	t.Run("two hellos", func(t *testing.T) {
		c := talk(t)
		c.greet(greeting(t, p))
		c.say(request{Hello: greeting(t, p)})
		if a := c.hear(); a.Failed == "" {
			t.Errorf("%+v", a)
		}
		c.ends(1, "")
	})
	t.Run("another problem", func(t *testing.T) {
		c := talk(t)
		c.greet(greeting(t, p))
		c.say(request{Release: true})
		c.greet(greeting(t, tiny(t, 2, "another")))
		c.say(request{Release: true})
		c.say(evaluation) // of no problem
		if a := c.hear(); a.Failed == "" {
			t.Errorf("%+v", a)
		}
		c.ends(1, "")
	})
	t.Run("nothing at all", func(t *testing.T) {
		c := talk(t)
		c.greet(greeting(t, p))
		c.say(request{})
		if a := c.hear(); a.Failed == "" {
			t.Errorf("%+v", a)
		}
		c.ends(1, "")
	})
	t.Run("no configuration", func(t *testing.T) {
		c := talk(t)
		c.greet(greeting(t, p))
		c.say(request{Evaluate: &job{Values: values{"nonsense": 1}}})
		if a := c.hear(); a.Failed == "" || !strings.Contains(a.Failed, "nonsense") {
			t.Errorf("%+v", a)
		}
		c.ends(1, "")
	})
	t.Run("the wrong reply", func(t *testing.T) {
		c := talk(t)
		c.greet(greeting(t, p))
		c.say(evaluation)
		if a := c.hear(); a.Need == "" {
			t.Fatalf("%+v", a)
		}
		c.say(request{Time: &permission{}})
		if a := c.hear(); a.Failed == "" || !strings.Contains(a.Failed, "asked for right outputs") {
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
	c.say(request{Evaluate: &job{Values: faultyValues(t, p, faultLoop)}})
	for a := c.next(); a.Stage == nil || a.Stage.Stage != device.StageFirstLaunch; a = c.next() {
		if a.Need != "" {
			c.say(request{Outputs: &outputs{Key: a.Need}})
		}
	}
	c.silence() // it has been launched by now, most likely
	if err := c.in.Close(); err != nil {
		t.Fatal(err)
	}
	c.ends(0, "")
}
