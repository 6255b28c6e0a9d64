package record

import (
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/space"
)

// TestSameRunNamesTheFirstDifference has logs that cannot be resumed.
func TestSameRunNamesTheFirstDifference(t *testing.T) {
	have := Header{
		Digest: "a", Kernel: "add", Source: "add.yaml", Iterations: 7,
		Constants:  []definition.Constant{{Name: "n", Value: 4096}},
		Parameters: []space.Parameter{{Name: "block_size_x", Values: []space.Value{16, 32}}},
	}
	for name, c := range map[string]struct {
		change func(*Header)
		want   string
	}{
		"another constant":   {func(h *Header) { h.Digest, h.Constants = "b", []definition.Constant{{Name: "n", Value: 100}} }, "the constants there: n=4096, here: n=100"},
		"other values":       {func(h *Header) { h.Digest, h.Parameters = "b", h.Parameters[:0] }, "the parameters there: block_size_x=16,32, here: "},
		"another source":     {func(h *Header) { h.Digest = "b" }, "the source, the data or the verification differ"},
		"other caches":       {func(h *Header) { h.Digest, h.Cache = "b", definition.CacheCold }, "the caches there: warm, here: cold"},
		"another iterations": {func(h *Header) { h.Iterations = 20 }, "times of 7 launches, and this run takes 20"},
		"nothing":            {func(*Header) {}, ""},
	} {
		want := have
		c.change(&want)
		switch err := sameRun(have, want); {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want one with %q", name, err, c.want)
		}
	}
}

// TestSameProblemInTwoLanguages: records of one kernel in OpenCL C and in CUDA C are compared, but not continued by each other.
func TestSameProblemInTwoLanguages(t *testing.T) {
	openCL, cuda, cudaAgain := Header{Digest: "a"}, Header{Digest: "b", OpenCLDigest: "a"}, Header{Digest: "b"}
	for _, pair := range [][2]Header{{openCL, cuda}, {cuda, openCL}, {cuda, cuda}} {
		if err := pair[0].SameProblem(pair[1]); err != nil {
			t.Error(err)
		}
	}
	if openCL.SameProblem(cudaAgain) == nil || cuda.SameProblem(Header{Digest: "c"}) == nil {
		t.Error("other digests are the same problem")
	}
	if sameRun(openCL, cuda) == nil {
		t.Error("a log of OpenCL C goes on in CUDA C")
	}
}
