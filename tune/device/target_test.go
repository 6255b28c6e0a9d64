package device

import (
	"fmt"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/space"
)

// TestTarget builds a kernel of which one configuration needs the target sm_90a, on compute capability 9.0, and is refused with a
// reason on other devices. Another one needs more local memory than the device says.
func TestTarget(t *testing.T) {
	d := definition.Definition{
		Kernel: definition.Kernel{Name: "k", Target: "{special == 1 ? 'sm_90a' : ''}", Source: `
// standin: k uses kib * 1024; k is index(out, 2, 2 * (kib * 256 - 127)); k is set(out, 127, 2 * (kib * 256 - 128)); build fails "error: no such instruction" when special
__kernel __attribute__((reqd_work_group_size(128, 1, 1))) void k(__global int *out)
{
#if special
#ifdef __NV_CL_C_VERSION
	__asm__ volatile("wgmma.fence.sync.aligned;" ::: "memory");
#else
#error no such instruction
#endif
#endif
	__local int shared[kib * 256];
	const int i = get_local_id(0);
	for (int j = i; j < kib * 256; j += 128)
		shared[j] = 2 * j;
	barrier(CLK_LOCAL_MEM_FENCE);
	out[i] = shared[kib * 256 - 128 + (i + 1) % 128];
}`},
		ProblemSize: []definition.Expr{"128"},
		Arguments:   []definition.Argument{{Name: "out", Type: "int32", Size: "128", Output: true}},
		Parameters: []space.Parameter{
			{Name: "block_size_x", Values: []space.Value{128}}, {Name: "special", Values: []space.Value{0, 1}}, {Name: "kib", Values: []space.Value{1, 200, 300}},
		},
		Verify: &definition.Verification{Check: func(c space.Configuration, outputs map[string]*array.Array) error {
			for i := range outputs["out"].Len() {
				if got, want := outputs["out"].Float(i), float64(2*(c.Int("kib")*256-128+(i+1)%128)); got != want {
					return fmt.Errorf("out[%d] = %v, not %v", i, got, want)
				}
			}
			return nil
		}},
	}
	e := open(t, d)
	wantCorrect(t, "without the target", e.evaluateFor(t, nil))
	special := e.evaluateFor(t, map[string]space.Value{"special": 1})
	if reason := e.session.targetReason("sm_90a"); reason != "" {
		wantStatus(t, "with the target", special, tune.Constraints, "the kernel is for the target sm_90a, and "+reason)
	} else {
		wantCorrect(t, "with the target", special)
		wantCorrect(t, "200 KiB", e.evaluateFor(t, map[string]space.Value{"special": 1, "kib": 200}))
	}
	if e.session.Info.HasExtension(nvidiaCompiler) {
		wantStatus(t, "300 KiB", e.evaluateFor(t, map[string]space.Value{"kib": 300}), tune.Constraints, "local memory")
	}
}

func TestRetarget(t *testing.T) {
	const text = "//\n// .target sm_1 is a remark\n\n.version 8.8\n.target sm_90, texmode_independent\n.address_size 64\n"
	if got, want := string(retarget([]byte(text), "sm_90a")), "//\n// .target sm_1 is a remark\n\n.version 8.8\n.target sm_90a, texmode_independent\n.address_size 64\n"; got != want {
		t.Errorf("%q; want %q", got, want)
	}
	for _, c := range []struct{ binary, target string }{{text, "sm_90"}, {"\x7fELF", "sm_90a"}, {"", "sm_90a"}} {
		if got := retarget([]byte(c.binary), c.target); got != nil {
			t.Errorf("%q for %s: %q", c.binary, c.target, got)
		}
	}
}
