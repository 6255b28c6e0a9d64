package check

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
)

// TestFaultsOnADevice finds faults that a search takes for correct results, by the content of buffers.
func TestFaultsOnADevice(t *testing.T) { faultsOnADevice(t, true) }

// TestFaultsOnPoCL has the faults that need a compiler. Where a driver places local memory is its own business, so that this fault is
// looked for with NDTUNE_LONG=1 only.
func TestFaultsOnPoCL(t *testing.T) {
	if standin.OnPoCL(t) {
		faultsOnADevice(t, false)
	}
}

func faultsOnADevice(t *testing.T, stated bool) {
	all, err := device.List(source.OpenCL)
	if err != nil {
		if os.Getenv("NDTUNE_REQUIRE_OPENCL") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	on, err := device.Select(all, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, body string
		kind       Kind // "": none
		text       string
		standin    string // its statements
		long       bool
	}{
		{name: "none", body: "out[i] = in[i];", standin: "k is copy(out, in)"},
		{name: "a write behind the buffer", body: "out[i] = in[i]; if (i < 4) out[n + i] = 1;", kind: OutOfBounds, text: "write out of bounds at out[4096]: behind", standin: "k is copy(out, in); k overflows out"},
		{name: "a write before the buffer", body: "out[i] = in[i]; if (i == 0) out[-3] = 1;", kind: OutOfBounds, text: "write out of bounds at out[-3]: before the 4096 elements, 4 bytes have changed"},
		{name: "a write 4 MiB behind the buffer", body: "out[i] = in[i]; if (i == 0) out[n + (1 << 20)] = 1;", kind: OutOfBounds, text: "write out of bounds at out[1052672]: behind"},
		{name: "a write into a constant buffer after it was read", body: "out[i] = in[i]; ((__global float *)in)[i] = 7;", kind: ConstWrite, text: "write to in[0], which the kernel declares constant", standin: "k is copy(out, in); k is fill(in, 7)"},
		{name: "an output that is read before it is written", body: "out[i] += in[i];", kind: Uninitialised, text: "depends on memory that nothing has written, or on the content of out before the launch", standin: "k is axpy(out, 1, in)"},
		{name: "a value from behind the buffer", body: "out[i] = in[i] + (i == n - 1 ? in[n + 5] : 0.0f);", kind: Uninitialised, text: "out[4095] depends on memory that nothing has written"},
		{name: "a result that depends on the order", body: "out[i] = in[i]; if (i > 0) out[i] = atomic_inc((volatile __global int *)out) < 2000;", kind: Order, text: "out["},
		{name: "local memory that nothing has written", body: "__local float t[block_size_x]; if (in[i] > 2) t[get_local_id(0)] = 1; barrier(CLK_LOCAL_MEM_FENCE); out[i] = t[get_local_id(0)];", kind: Uninitialised, text: "depends on memory that nothing has written", long: true},
	} {
		if stated != (c.standin != "") || c.long && os.Getenv("NDTUNE_LONG") == "" {
			continue
		}
		if c.kind == Order && on.Identity.Type != "cpu" { // work-groups run side by side: chance decides, and the finding may be another
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			d := sample()
			d.Kernel.Source = "__kernel void k(__global float *out, __global const float *in) { int i = get_global_id(0);\n" + c.body + "\n} // standin: " + c.standin
			p := problemOf(t, d)
			configuration, err := p.Parameters().ConfigureFirst(map[string]space.Value{"tile": 1})
			if err != nil {
				t.Fatal(err)
			}
			o := Options{Device: on.Selector(), Identity: *on.Identity, Limit: 10 * time.Minute}
			if c.kind == Order { // several launches would differ on their own
				o.Launches = 1
			}
			r, err := Run(t.Context(), p, []space.Configuration{configuration}, o)
			if err != nil {
				t.Fatal(err)
			}
			if c.kind == "" && (!r.Clean() || len(r.Findings) > 0) {
				t.Error(text(r))
			}
			found := func(f Finding) bool { return f.Kind == c.kind && !f.Note && strings.Contains(f.Text, c.text) }
			if c.kind != "" && (len(r.Findings) != 1 || !slices.ContainsFunc(r.Findings, found)) {
				t.Error(text(r))
			}
		})
	}
}

// TestLaunchesAreComparedBitByBit: a difference within the tolerance is a note.
func TestLaunchesAreComparedBitByBit(t *testing.T) {
	for _, c := range []struct {
		second float32
		want   string
	}{
		{1, ""},
		{1.5, "non-determinism out[1] differs between launches: out: element 1: got 1.5, want 1"},
		{1.0000001, "note: non-determinism out[1] differs between launches, within the tolerance"},
	} {
		v := &problem.Variant{Holders: []int{0, 1}}
		x := &examination{work: &work{Tolerance: score.Tolerance{Absolute: 1e-3}}, problem: problemOf(t, sample()), inspector: &device.Inspector{Variant: v}, done: &done{}}
		of := func(values ...float32) *device.Rehearsed {
			return &device.Rehearsed{Contents: [][]byte{cl.Bytes(values), nil}}
		}
		same := x.compare(Nondeterminism, "between launches", of(0, 1), of(0, c.second))
		got := ""
		for _, f := range x.done.Faults {
			got = fmt.Sprint(f.Kind, " ", f.Text)
			if f.Note {
				got = "note: " + got
			}
		}
		if same != (c.want == "") || !strings.HasPrefix(got, c.want) || got != "" && c.want == "" {
			t.Errorf("%g: %v %q, want %q", c.second, same, got, c.want)
		}
	}
}

// TestOutputsWrongInSomeLaunches: a fault says how many of the launches were wrong.
func TestOutputsWrongInSomeLaunches(t *testing.T) {
	x := &examination{work: &work{Launches: 4}, done: &done{}}
	x.verdict([]*device.Rehearsed{{Verified: true}, {Verified: true, Wrong: "out[3]=1, want 2"}, {Verified: true}, {Verified: true, Wrong: "out[4]=1, want 2"}})
	if want := "wrong in 2 of 4 launches: out[3]=1, want 2"; len(x.done.Faults) != 1 || x.done.Faults[0].Text != want || len(x.done.Skipped) > 0 {
		t.Errorf("%+v, want %q", x.done, want)
	}
	x.done = &done{}
	if x.verdict([]*device.Rehearsed{{Verified: true}, {Verified: true}}); len(x.done.Faults) > 0 {
		t.Error(fmt.Sprint(x.done))
	}
}
