package capture

import (
	"fmt"
	"os"
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
	c, err := readCalls(f)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestKindsOfMemory has a log of launches with a sub-buffer, with shared virtual memory, and with a buffer that got the handle of the
// released sub-buffer.
func TestKindsOfMemory(t *testing.T) {
	c := readTestLog(t, "testdata/mem.log")
	if got, want := fmt.Sprint(c.memory), "map[0:map[0:sub-buffer] 1:map[1:svm]]"; got != want {
		t.Errorf("the launches have %s, want %s", got, want)
	}
	if s := c.shapeOf(2); s == nil || !s.Sized([]int{16, 16}, []int{4, 4}, []int{1, 0}) || s.Build() != "add$A3905236_00000000" {
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
	shape := func(kernel string, global int) Shape {
		return Shape{Kernel: kernel, Hash: "00000001", OptionsHash: "00000002", Global: []int{global}}
	}
	log := line(0, "a", 1) + line(1, "b", 1) + line(4, "a", 2) + line(5, "b", 1) + line(6, "b", 2) + line(9, "a", 1) +
		line(10, "a", 2) + ">>>> clEnqueueNDRangeKernel( a$0000"
	c, err := readCalls(strings.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct {
		wanted        []Shape
		number, found int
	}{
		"nothing":       {nil, 0, 0},
		"the first":     {[]Shape{shape("a", 1)}, 0, 1},
		"a later one":   {[]Shape{shape("a", 2)}, 1, 1},
		"both":          {[]Shape{shape("a", 2), shape("b", 1)}, 1, 2},
		"never at once": {[]Shape{shape("a", 1), shape("b", 2)}, 6, 2},
		"missing":       {[]Shape{shape("a", 3)}, 0, 0},
	} {
		if number, found := c.begin(want.wanted); number != want.number || found != want.found {
			t.Errorf("%s: begins at %d, with %d, want %d, %d", name, number, found, want.number, want.found)
		}
	}
}
