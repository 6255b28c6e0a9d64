package device

import (
	"context"
	"encoding/binary"
	"math"
	"testing"
	"time"

	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/space"
)

// chase follows pointers through 256 KiB, one load after the other, so that its time is that of the loads.
func chase(cache definition.CacheState) definition.Definition {
	return definition.Definition{
		Kernel: definition.Kernel{Name: "chase", Source: `
__kernel void chase(__global int *out, __global const int *next) {
    int at = 0;
    for (int i = 0; i < 4096; i++) at = next[at];
    out[0] = at + 1;
}`},
		ProblemSize: []definition.Expr{"1"},
		Arguments: []definition.Argument{
			{Name: "out", Type: "int32", Size: "1", Output: true},
			{Name: "next", Type: "int32", Size: "65536", Fill: definition.Fill{Expression: "(index + 16 * 1597) % 65536"}},
		},
		Parameters: []space.Parameter{{Name: "block_size_x", Values: []space.Value{1}}},
		Verify:     expect(map[string]any{"out": []int32{1}}),
		Measure:    definition.Measure{Timing: definition.Timing{Cache: cache}},
	}
}

func TestColdLaunchesFindTheirDataInMemory(t *testing.T) {
	warm, cold := evaluateFirst(t, chase(definition.CacheWarm)), evaluateFirst(t, chase(definition.CacheCold))
	wantCorrect(t, "warm", warm)
	wantCorrect(t, "cold", cold)
	t.Logf("warm: %v, cold: %v", warm.Stats(), cold.Stats())
	if warm, cold := warm.Stats().Min, cold.Stats().Min; cold < 1.5*warm {
		t.Errorf("%v ms with cold caches, %v ms with warm ones", cold, warm)
	}
}

// evictions returns how often a session has overwritten the caches: each time adds 1 to a number.
func (s *session) evictions(t testing.TB) uint32 {
	t.Helper()
	number := make([]byte, 4)
	if err := s.Queue.Read(s.evictor.buffer, s.evictor.buffer.Size()-4, number); err != nil {
		t.Fatal(err)
	}
	return binary.LittleEndian.Uint32(number)
}

// TestEveryTimedLaunchIsCold counts launches and evictions: of a kernel, of one that works in place, of a pipeline, and
// of the final measurement.
func TestEveryTimedLaunchIsCold(t *testing.T) {
	d := definition.Definition{
		Kernel:      definition.Kernel{Name: "count", Source: "__kernel void count(__global int *launches) { launches[0] += by; } // standin: count is increment(launches, by)"},
		ProblemSize: []definition.Expr{"1"},
		Arguments:   []definition.Argument{{Name: "launches", Type: "int32", Size: "1", Output: true}},
		Parameters:  []space.Parameter{{Name: "by", Values: []space.Value{1, 2}}},
		Measure:     definition.Measure{Timing: definition.Timing{Cache: definition.CacheCold, Launches: 3, Warmup: 2}},
	}
	inPlace := d
	inPlace.Arguments = []definition.Argument{{Name: "launches", Type: "int32", Size: "1", Output: true, RestoreEachLaunch: true}}
	inPlace.Verify = &definition.Verification{Check: func(c space.Configuration, outputs map[string]*array.Array) error { return nil }}
	pipeline := d
	pipeline.Stages = []definition.Stage{{Kernel: "count"}, {Kernel: "count", Repeat: "2"}}
	for _, test := range []struct {
		name       string
		definition definition.Definition
		launches   float64 // of the second configuration, first one included
	}{
		{"one kernel", d, 6},
		{"in place", inPlace, 1},
		{"pipeline", pipeline, 6 * 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := open(t, test.definition)
			all := []space.Configuration{configurationOf(t, e.problem, nil), configurationOf(t, e.problem, map[string]space.Value{"by": 2})}
			e.evaluateFor(t, nil)
			before := e.session.evictions(t)
			r := e.evaluateFor(t, map[string]space.Value{"by": 2})
			if n := e.session.evictions(t) - before; r.Status != tune.Correct || len(r.Times) != 3 || n != 2+3 {
				t.Errorf("%s %s, times %v, caches overwritten %d times, want 2 to warm up and 3", r.Status, r.Reason, r.Times, n)
			}
			if got := e.read(t, "launches").Float(0) / 2; got != test.launches {
				t.Errorf("the buffer counts %v launches, want %v", got, test.launches)
			}
			before = e.session.evictions(t)
			times, err := e.Remeasure(context.Background(), "", all, 4, false)
			if err != nil || len(times[0].Times) != 4 || len(times[1].Times) != 4 {
				t.Fatalf("%v, %v", times, err)
			}
			if n := e.session.evictions(t) - before; n != 2*4 {
				t.Errorf("caches overwritten %d times in the final measurement, want once for each of two configurations in four rounds", n)
			}
		})
	}
}

// TestTimingSettings counts the launches on a buffer that nothing restores.
func TestTimingSettings(t *testing.T) {
	for _, test := range []struct {
		timing   definition.Timing
		launches float64 // with the first one
		timed    int
	}{
		{definition.Timing{}, 1 + 1 + 7, 7},
		{definition.Timing{Launches: 3, Warmup: 4}, 1 + 4 + 3, 3},
		{definition.Timing{Launches: 2, Warmup: definition.NoWarmup}, 1 + 2, 2},
		{definition.Timing{Launches: 1000, Time: 1}, 1 + 1 + 1, 1},
		{definition.Timing{Launches: 3, Time: time.Hour, Warmup: definition.NoWarmup}, 1 + 3, 3},
	} {
		e := open(t, definition.Definition{
			Kernel:      definition.Kernel{Name: "count", Source: "__kernel void count(__global int *launches) { launches[0]++; } // standin: count is increment(launches, 1); count takes 1000 * launch"},
			ProblemSize: []definition.Expr{"1"},
			Arguments:   []definition.Argument{{Name: "launches", Type: "int32", Size: "1"}},
			Parameters:  []space.Parameter{{Name: "block_size_x", Values: []space.Value{1}}},
			Measure:     definition.Measure{Timing: test.timing},
		})
		r := e.evaluateFor(t, nil)
		if got := e.read(t, "launches").Float(0); got != test.launches || len(r.Times) != test.timed || r.EarlyStopped {
			t.Errorf("%+v: %v launches, %d timed, early stopped %v; want %v, %d, false", test.timing, got, len(r.Times), r.EarlyStopped, test.launches, test.timed)
		}
		for i, ms := range r.Times { // those of the last launches
			if want := (test.launches - float64(test.timed-1-i)) / 1000; !standin.OnSystem() && math.Abs(ms-want) > 1e-9 {
				t.Errorf("%+v: launch %d of the timed ones took %v ms, want %v", test.timing, i, ms, want)
			}
		}
	}
}

func TestCachesOf(t *testing.T) {
	measured := &hardware.Peaks{
		Figures: map[string]hardware.Peak{hardware.PeakMemoryCopy: {Value: 100}, hardware.PeakMemoryRead: {Value: 120}},
		Copy:    []hardware.Bandwidth{{Bytes: 1 << 20, Rate: 400}, {Bytes: 2 << 20, Rate: 110}, {Bytes: 4 << 20, Rate: 180}},
		Read:    []hardware.Bandwidth{{Bytes: 1 << 20, Rate: 500}, {Bytes: 2 << 20, Rate: 300}, {Bytes: 4 << 20, Rate: 121}},
	}
	for _, test := range []struct {
		device         hardware.Device
		reported, want int64
	}{
		{hardware.Device{Type: "cpu"}, 32 << 20, 32 << 20},
		{hardware.Device{Type: "cpu"}, 0, unknownCaches},
		{hardware.Device{Type: "gpu"}, 4 << 20, unknownCaches},
		{hardware.Device{Type: "gpu"}, 2 * unknownCaches, 2 * unknownCaches},
		{hardware.Device{Type: "gpu", Peaks: measured}, 1 << 20, 2 << 20},
		{hardware.Device{Type: "cpu", Peaks: measured}, 32 << 20, 32 << 20},
		{hardware.Device{Type: "gpu", Peaks: &hardware.Peaks{Copy: measured.Copy}}, 0, unknownCaches},
	} {
		if got := cachesOf(test.device, test.reported); got != test.want {
			t.Errorf("%s with %d B reported, peaks %v: %d B, want %d", test.device.Type, test.reported, test.device.Peaks != nil, got, test.want)
		}
	}
}
