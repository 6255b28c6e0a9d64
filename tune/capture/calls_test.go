package capture

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func readTestLog(t *testing.T, path string) *calls {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return readCalls(f)
}

// shapeOf returns the launches of which a launch is one; nil: the log does not have it.
func (c *calls) shapeOf(number int) *Launches {
	for _, l := range c.launches {
		if l.number == number {
			return &c.shapes[l.shape]
		}
	}
	return nil
}

// TestKindsOfMemory has a log of launches with a sub-buffer, with shared virtual memory, and with a buffer that got the handle of the
// released sub-buffer.
func TestKindsOfMemory(t *testing.T) {
	c := readTestLog(t, "testdata/mem.log")
	if got, want := fmt.Sprint(c.memory), "map[0:map[0:sub-buffer] 1:map[1:svm]]"; got != want {
		t.Errorf("the launches have %s, want %s", got, want)
	}
	want := Launches{Kernel: "add", Hash: "A3905236", OptionsHash: "00000000", Global: []int{16, 16}, Local: []int{4, 4}, Offset: []int{1, 0}}
	if s := c.shapeOf(2); s == nil || !s.Is(want) {
		t.Errorf("launch 2 has the shape %+v", s)
	}
	if a, b := c.shapeOf(0), c.shapeOf(1); a == nil || b == nil || !a.Is(*b) || a.Local != nil {
		t.Errorf("an offset of zero is another shape than none: %+v, %+v", a, b)
	}
	if c.shapeOf(3) != nil {
		t.Error("there is a launch 3")
	}
}

func TestWhereToBegin(t *testing.T) {
	line := func(number int, kernel string, global int) string {
		return fmt.Sprintf(">>>> clEnqueueNDRangeKernel( %s$00000001_0000_00000002 ): queue = 0x1, kernel = 0x2, global_work_size = < %d >, "+
			"local_work_size = < NULL >; EnqueueCounter: %d\n", kernel, global, number)
	}
	shape := func(kernel string, global int) Launches {
		return Launches{Kernel: kernel, Hash: "00000001", OptionsHash: "00000002", Global: []int{global}}
	}
	log := line(0, "a", 1) + line(1, "b", 1) + line(4, "a", 2) + line(5, "b", 1) + line(6, "b", 2) + line(9, "a", 1) +
		line(10, "a", 2) + ">>>> clEnqueueNDRangeKernel( a$0000"
	c := readCalls(strings.NewReader(log))
	for name, want := range map[string]struct {
		wanted        []Launches
		number, found int
	}{
		"nothing":       {nil, 0, 0},
		"the first":     {[]Launches{shape("a", 1)}, 0, 1},
		"a later one":   {[]Launches{shape("a", 2)}, 1, 1},
		"both":          {[]Launches{shape("a", 2), shape("b", 1)}, 1, 2},
		"never at once": {[]Launches{shape("a", 1), shape("b", 2)}, 6, 2},
		"missing":       {[]Launches{shape("a", 3)}, 0, 0},
	} {
		if number, found := c.begin(want.wanted); number != want.number || found != want.found {
			t.Errorf("%s: begins at %d, with %d, want %d, %d", name, number, found, want.number, want.found)
		}
	}
}

// TestLogAndReportAgree compares both for all scenes: the launches, how often each was made, and the memory that is no buffer.
func TestLogAndReportAgree(t *testing.T) {
	kinds := map[string]string{"subbuffer": "sub-buffer", "svm": "svm", "usm": "usm"}
	scenes, err := filepath.Glob("testdata/captures/*")
	if err != nil || len(scenes) < 20 {
		t.Fatalf("found %v (%v)", scenes, err)
	}
	for _, folder := range scenes {
		scene := filepath.Base(folder)
		p, c := &Profile{}, readTestLog(t, filepath.Join(folder, logFile))
		if err := p.readReports([]string{folder}); err != nil {
			t.Fatal(err)
		}
		if len(p.Launches) == 0 {
			continue // it crashes
		}
		made := map[string]int{}
		for _, l := range c.launches {
			s := c.shapes[l.shape]
			made[fmt.Sprint(s.Kernel, s.Build(), s.Global, s.Local, s.Offset)]++
		}
		for _, l := range p.Launches {
			if key := fmt.Sprint(l.Kernel, l.Build(), l.Global, l.Local, l.Offset); made[key] != l.Calls {
				t.Errorf("%s: %s was launched %d times by the report, %d times by the log", scene, key, l.Calls, made[key])
			}
		}
		if len(made) != len(p.Launches) {
			t.Errorf("%s: the log has %v, the report %v", scene, made, p.Launches)
		}
		found := ""
		for _, arguments := range c.memory {
			for _, kind := range arguments {
				found = kind
			}
		}
		if found != kinds[scene] {
			t.Errorf("%s: found memory of the kind %q, want %q", scene, found, kinds[scene])
		}
	}
}
