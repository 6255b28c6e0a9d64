package wisdom

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
)

// groups is a verified problem of one parameter, the size of a work-group. More are further constants.
func groups(t *testing.T, n int, more ...definition.Constant) *problem.Problem {
	t.Helper()
	p, err := problem.New(definition.Definition{
		Kernel:      definition.Kernel{Name: "k", Source: "__kernel void k(__global int *out) { out[get_global_id(0)] = 1; } // standin: k is fill(out, 1)"},
		Constants:   append([]definition.Constant{{Name: "n", Value: n}}, more...),
		ProblemSize: []definition.Expr{"n"},
		Arguments:   []definition.Argument{{Name: "out", Type: "int32", Size: "n", Output: true}},
		Parameters:  []space.Parameter{{Name: "block_size_x", Values: []space.Value{1, 2, 4, 8, 16, 32}}},
		Verify:      &definition.Verification{Check: func(space.Configuration, map[string]*array.Array) error { return nil }},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func entry(t *testing.T, path string, p *problem.Problem, d hardware.Device) *Entry {
	t.Helper()
	e, err := NewEntry(path, p, d, Source{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// ran is the record of a search in which work-groups of 1, 2, 4, … work-items had these times.
func ran(t *testing.T, p *problem.Problem, d hardware.Device, times ...float64) *record.Record {
	t.Helper()
	o := &tune.Outcome{Device: d}
	for i, ms := range times {
		c, err := p.Parameters().Configure(map[string]space.Value{"block_size_x": 1 << i})
		if err != nil {
			t.Fatal(err)
		}
		o.Results = append(o.Results, tune.Result{Configuration: c, Status: tune.Correct, Times: []float64{ms}, Objective: ms, Verified: true})
	}
	o.Best = tune.Best(p.Objective(), o.Results)
	r, err := RecordOf(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestKnownWithinTheLimits: of the records of the device and the size, the best one counts that the
// limits of the device and the space of the problem admit.
func TestKnownWithinTheLimits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "k.wisdom")
	p := groups(t, 64)
	if _, err := entry(t, path, p, h200).Keep(t.Context(), ran(t, p, h200, 6, 5, 4, 3, 2, 1)); err != nil {
		t.Fatal(err)
	}
	limited := with(h200, func(d *hardware.Device) { d.MaxWorkGroupSize = 8 })
	found, known, err := entry(t, path, p, limited).Known()
	if err != nil || !known || found.Configuration.String() != "block_size_x=8" || found.Searched {
		t.Errorf("%v %v %v", found, known, err)
	}
	if got := strings.Join(found.Excluded, "; "); !strings.Contains(got, "block_size_x=32: work-group of 32 = 32 work-items > device limit 8") || len(found.Excluded) != 2 {
		t.Error(got)
	}
	tiny := with(h200, func(d *hardware.Device) { d.MaxWorkGroupSize = 1 })
	if found, known, err := entry(t, path, p, tiny).Known(); known || err != nil || len(found.Excluded) != MaxKept {
		t.Errorf("the file keeps 2 to 32: %v %v %v", found, known, err)
	}
	for name, d := range map[string]hardware.Device{"another device": h100, "another vendor": with(h200, func(d *hardware.Device) { d.Vendor = "V" })} {
		if found, known, err := entry(t, path, p, d).Known(); known || err != nil || found.Excluded != nil {
			t.Errorf("%s: %v %v %v", name, found, known, err)
		}
	}
	if _, known, _ := entry(t, path, groups(t, 128), h200).Known(); known {
		t.Error("another size is known")
	}
	found, known, err = entry(t, path, p, newer).Known()
	if err != nil || !known || found.String() != "the same device and size 64; the driver was 570.1, and is 580.2" {
		t.Errorf("another driver: %v %v %v", found, known, err)
	}
}

// TestKnownWithTheSameConstants: a constant that is no part of the problem size, as the inner dimension of a matrix
// multiplication, makes another entry, whose records stay apart in the file.
func TestKnownWithTheSameConstants(t *testing.T) {
	path := filepath.Join(t.TempDir(), "k.wisdom")
	inner := func(k int) *problem.Problem {
		return groups(t, 64, definition.Constant{Name: "k", Value: k}, definition.Constant{Name: "dt", Value: "0.225f"}, definition.Constant{Name: "big", Value: 1e30})
	}
	for k, times := range map[int][]float64{512: {5, 4, 3, 2, 1}, 8: {500, 100, 400, 300, 200}} {
		p := inner(k)
		if _, err := entry(t, path, p, h200).Keep(t.Context(), ran(t, p, h200, times...)); err != nil {
			t.Fatal(err)
		}
	}
	for k, want := range map[int]string{512: "block_size_x=16", 8: "block_size_x=2", 16: ""} {
		found, known, err := entry(t, path, inner(k), h200).Known()
		if err != nil || known != (want != "") || known && found.Configuration.String() != want {
			t.Errorf("k=%d: %v %v %v", k, found, known, err)
		}
	}
	f, err := Read(path)
	if err != nil || len(f.Records) != 2*MaxKept || len(f.Skipped) > 0 {
		t.Fatalf("%v: %+v", err, f)
	}
	e := entry(t, path, inner(16), h200)
	f, err = e.read()
	neighbours := e.neighbours(f)
	if err != nil || len(neighbours) != 5 || neighbours[0].Key() == neighbours[1].Key() {
		t.Errorf("%v: %v", err, neighbours)
	}
}

// TestFindSearchesOnce: many parts of a process find an entry at once. The first search fails, the second one
// succeeds, and there is no third.
func TestFindSearchesOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "k.wisdom")
	p := groups(t, 64)
	var mutex sync.Mutex
	searches, waited, searched, failed := 0, 0, 0, 0
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			waits := func() { mutex.Lock(); defer mutex.Unlock(); waited++ }
			found, err := entry(t, path, p, h200).Find(t.Context(), waits, func(context.Context, []space.Configuration) (*record.Record, error) {
				mutex.Lock()
				defer mutex.Unlock()
				if searches++; searches == 1 {
					return nil, errors.New("no device")
				}
				return ran(t, p, h200, 3, 1, 2), nil
			})
			mutex.Lock()
			defer mutex.Unlock()
			switch {
			case err != nil && err.Error() == "no device":
				failed++
			case err != nil || found.Configuration.String() != "block_size_x=2" || found.Level != SameSize:
				t.Errorf("%v: %+v", err, found)
			case found.Searched:
				searched++
			}
		})
	}
	all.Wait()
	if searches != 2 || searched != 1 || failed != 1 || waited > 7 {
		t.Errorf("%d searches, %d found something, %d failed, %d waited", searches, searched, failed, waited)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("the folder has %v", left)
	}
}

// TestFindBeginsWithNeighbours: a search begins with the bests of the two nearest sizes, in turns.
func TestFindBeginsWithNeighbours(t *testing.T) {
	path := filepath.Join(t.TempDir(), "k.wisdom")
	for n, times := range map[int][]float64{32: {1, 2}, 128: {3, 2, 1}, 4096: {9, 9, 9, 9, 1}} {
		p := groups(t, n)
		if _, err := entry(t, path, p, h200).Keep(t.Context(), ran(t, p, h200, times...)); err != nil {
			t.Fatal(err)
		}
	}
	p, other := groups(t, 64), groups(t, 65)
	if _, err := entry(t, path, other, h100).Keep(t.Context(), ran(t, other, h100, 9, 9, 9, 9, 9, 1)); err != nil {
		t.Fatal(err)
	}
	got := ""
	_, err := entry(t, path, p, h200).Find(t.Context(), nil, func(_ context.Context, neighbours []space.Configuration) (*record.Record, error) {
		got = fmt.Sprint(neighbours)
		return nil, context.Canceled
	})
	if want := "[block_size_x=1 block_size_x=4 block_size_x=2]"; got != want || !errors.Is(err, context.Canceled) {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	if f, err := Read(path); err != nil || len(f.Records) != 2+3+5+5 {
		t.Errorf("%v: a search that was given up has left its results: %+v", err, f)
	}
}

// TestFindThatCannotKeep: if the result of a search cannot be added to the file, the error names the file.
func TestFindThatCannotKeep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "k.wisdom")
	p := groups(t, 64)
	_, err := entry(t, path, p, h200).Find(t.Context(), nil, func(context.Context, []space.Configuration) (*record.Record, error) {
		return ran(t, p, h200, 1), os.Mkdir(path, 0o777)
	})
	if err == nil || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
}

// TestNearest: a search can begin with the best configurations of other sizes and devices, the nearest first, each once, within
// the limits of the device.
func TestNearest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "k.wisdom")
	named := func(name, vendor, typ string) hardware.Device {
		return with(h200, func(d *hardware.Device) { d.Name, d.Vendor, d.Type, d.Architecture = name, vendor, typ, name })
	}
	for _, r := range []struct {
		n     int
		on    hardware.Device
		times []float64
	}{
		{128, h200, []float64{3, 1, 2}},                                 // 2, 4, 1
		{64, named("A100", h200.Vendor, h200.Type), []float64{2, 3, 4}}, // 1, 2, 4
		{64, named("CPU", h200.Vendor, "cpu"), []float64{9, 9, 9, 1}},
		{64, named("W7800", "AMD", h200.Type), []float64{9, 9, 9, 1}},
	} {
		p := groups(t, r.n)
		if _, err := entry(t, path, p, r.on).Keep(t.Context(), ran(t, p, r.on, r.times...)); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		n    int
		on   hardware.Device
		want string
	}{
		{64, h200, "2 4 1, the same device, nearest size 128"},
		{64, with(h200, func(d *hardware.Device) { d.MaxWorkGroupSize = 2 }), "2 1, the same device, nearest size 128"},
		{64, named("H100", h200.Vendor, h200.Type), "1 2 4, a device of the same vendor and type, nearest size 64: A100"},
		{64, named("Arc", "Intel", h200.Type), ""},
	} {
		configurations, choices, err := entry(t, path, groups(t, test.n), test.on).Nearest()
		var got []string
		for _, c := range configurations {
			got = append(got, c.Key())
		}
		text := strings.Join(got, " ")
		if len(choices) > 0 {
			text += ", " + choices[0].String()
		}
		if err != nil || text != test.want || len(choices) != len(configurations) {
			t.Errorf("for %s, %q, %v, want %q", test.on.Name, text, err, test.want)
		}
	}
}

// TestNewEntryRefuses: what cannot be kept is found before the search.
func TestNewEntryRefuses(t *testing.T) {
	p := groups(t, 64)
	path := filepath.Join(t.TempDir(), "k.wisdom")
	if _, err := entry(t, path, p, h200).Keep(t.Context(), ran(t, p, h200, 1)); err != nil {
		t.Fatal(err)
	}
	for says, s := range map[string]Source{
		`the key is "k", not "other"`:                         {Key: "other"},
		"the problem of k: its problem size is 64, not 32":    {ProblemSize: []int{32}},
		"the problem of k: its problem size is 64, not 64×64": {ProblemSize: []int{64, 64}},
	} {
		if _, err := NewEntry(path, p, h200, s); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %s", err, says)
		}
	}
}

func TestTunedNeedsAFile(t *testing.T) {
	if _, err := Tuned(t.Context(), testDevice(t), groups(t, 64), Options{}); err == nil || err.Error() != "the wisdom file has no name" {
		t.Error(err)
	}
}

func TestRecordOfRefuses(t *testing.T) {
	p := groups(t, 64)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for says, o := range map[string]*tune.Outcome{
		"tune k: context canceled":                                 {Stop: tune.Interrupted, Best: &tune.Result{}},
		"tune k: a disk is full":                                   {Stop: tune.Environment, Cause: "a disk is full", Best: &tune.Result{}},
		"tune k: no configuration is correct: it does not compile": {Stop: tune.Hopeless, Cause: "it does not compile"},
		"tune k: none of 1 configurations is correct":              {Results: []tune.Result{{Status: tune.Runtime}}},
	} {
		if _, err := RecordOf(ended, p, o); err == nil || err.Error() != says {
			t.Errorf("%v, want %s", err, says)
		}
	}
}
