package tune

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/space"
)

// TestCauseOf has pairs of reasons that are of one cause, and others that are not.
func TestCauseOf(t *testing.T) {
	for _, c := range []struct {
		status Status
		a, b   string
		alike  bool
	}{
		{Compile, "build k: CL_BUILD_PROGRAM_FAILURE\nwarning: unused 'a'\n/tmp/x1.cl:4:7: error: use of undeclared identifier 'a'",
			"build k: CL_BUILD_PROGRAM_FAILURE\n/tmp/y22.cl:99:1: error: use of undeclared identifier 'a'", true},
		{Compile, "build k: CL_BUILD_PROGRAM_FAILURE\nx.cl:1:1: error: no 'a'", "build k: CL_BUILD_PROGRAM_FAILURE\nx.cl:1:1: error: no 'b'", false},
		{Runtime, "launch:CL_OUT_OF_RESOURCES", "launch: CL_OUT_OF_RESOURCES", true},
		{Runtime, "launch: CL_OUT_OF_RESOURCES\nat 0x12", "launch: CL_OUT_OF_RESOURCES", true},
		{Runtime, "launch: CL_OUT_OF_RESOURCES", "launch: CL_INVALID_WORK_GROUP_SIZE", false},
		{Correctness, "y[12]=NaN, want 3.5", "y[7]=+Inf, want 1", true},
		{Runtime, "", " \n", true},
	} {
		if got := CauseOf(c.status, c.a) == CauseOf(c.status, c.b); got != c.alike {
			t.Errorf("alike %v, want %v:\n%q\n%q", got, c.alike, CauseOf(c.status, c.a), CauseOf(c.status, c.b))
		}
	}
	if CauseOf(Runtime, "no") == CauseOf(Compile, "no") {
		t.Error("failures of two statuses are alike")
	}
}

func TestARunIsHopelessWhenAllFailsForOneReason(t *testing.T) {
	f := &fake{answer: func(c space.Configuration) Result {
		return Result{Status: Compile, Reason: fmt.Sprintf("build k: CL_BUILD_PROGRAM_FAILURE\nerror: /tmp/tempfile_%c%d.cl:4:%d: use of undeclared identifier 'a'", 'a'+rune(c.Int("i")%26), c.Int("i"), c.Int("i"))}
	}}
	o := mustRun(t, line(t, 100), f, Options{})
	f.checkStopped(t)
	if o.Stop != Hopeless || len(o.Results) != hopelessAfter || o.Best != nil {
		t.Errorf("stop %s after %d", o.Stop, len(o.Results))
	}
	for _, want := range []string{"the first 24 configurations", "compile", "i=0", "undeclared identifier 'a'"} {
		if !strings.Contains(o.Cause, want) {
			t.Errorf("cause %q lacks %q", o.Cause, want)
		}
	}
}

func TestARunIsNotHopeless(t *testing.T) {
	except := func(place int, other Result) func(space.Configuration) Result {
		return func(c space.Configuration) Result {
			if c.Int("i") == place {
				return other
			}
			return Result{Status: Runtime, Reason: "launch: CL_OUT_OF_RESOURCES"}
		}
	}
	for name, answer := range map[string]func(space.Configuration) Result{
		"where all are skipped":      always(Constraints, "local memory 65536 B > device limit 49152 B"),
		"where the first is correct": except(0, Result{Status: Correct, Times: []float64{1}}),
		"where the last is correct":  except(23, Result{Status: Correct, Times: []float64{1}}),
		"where a reason differs":     except(5, Result{Status: Runtime, Reason: "launch: CL_INVALID_WORK_GROUP_SIZE"}),
		"where a status differs":     except(23, Result{Status: Compile, Reason: "launch: CL_OUT_OF_RESOURCES"}),
	} {
		if o := mustRun(t, line(t, 60), &fake{answer: answer}, Options{}); o.Stop != Exhausted || len(o.Results) != 60 || o.Cause != "" {
			t.Errorf("%s: stop %s after %d: %s", name, o.Stop, len(o.Results), o.Cause)
		}
	}
	// What is skipped is not counted.
	o := mustRun(t, line(t, 60), &fake{answer: func(c space.Configuration) Result {
		if c.Int("i")%2 == 0 {
			return Result{Status: Constraints, Reason: "even"}
		}
		return Result{Status: Timeout, Reason: "more than 1 s"}
	}}, Options{})
	if o.Stop != Hopeless || len(o.Results) != 2*hopelessAfter {
		t.Errorf("stop %s after %d", o.Stop, len(o.Results))
	}
}

func TestAResumedRunIsHopelessWhereAnUninterruptedOneIs(t *testing.T) {
	p, f := line(t, 100), &fake{answer: always(Compile, "no")}
	log := &memory{}
	mustRun(t, p, f, Options{Log: log, MaxEvaluations: 20})
	o := mustRun(t, p, f, Options{Log: log.reopened()})
	f.checkStopped(t)
	if o.Stop != Hopeless || len(o.Results) != hopelessAfter {
		t.Errorf("stop %s after %d", o.Stop, len(o.Results))
	}
}

func TestEqualOutputs(t *testing.T) {
	for _, c := range []struct {
		digests      []uint64
		equal, wrong int
	}{
		{nil, 0, 0}, {[]uint64{0, 0}, 0, 0}, {[]uint64{5}, 1, 1}, {[]uint64{7, 0, 5, 7, 7, 9}, 3, 5},
	} {
		var results []Result
		for _, d := range c.digests {
			results = append(results, Result{Outputs: d})
		}
		if equal, wrong := EqualOutputs(results); equal != c.equal || wrong != c.wrong {
			t.Errorf("%v: %d of %d", c.digests, equal, wrong)
		}
	}
}
