package tune

import (
	"testing"
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

func TestDoubtOf(t *testing.T) {
	for reason, want := range map[string]Doubt{
		"the process ended with exit status 1; it printed last:\nLLVM ERROR: IO failure on output stream: No space left on device": NoSpace,
		"build k: clBuildProgram: CL_OUT_OF_HOST_MEMORY": HostMemory,
		"launch: CL_OUT_OF_RESOURCES":                    "",
		"y[3]=1, want 2":                                 "",
	} {
		if got := DoubtOf(reason); got != want {
			t.Errorf("%q: %q, want %q", reason, got, want)
		}
	}
}
