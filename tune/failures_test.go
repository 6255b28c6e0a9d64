package tune

import "testing"

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
