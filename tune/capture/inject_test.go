package capture

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestWhatCanBeInjected adds changes to applications that launch the kernels f and g of one program, and h of another.
func TestWhatCanBeInjected(t *testing.T) {
	program := &Launch{Kernel: "f", Options: "-D TILE=4 -DWIDE=8 -cl-mad-enable", Source: `
__kernel void f(__global int *x) { x[get_global_id(0)] = TILE * WIDE; }
__kernel void g(__global int *x) { x[get_global_id(0)] = WIDE; }`}
	launches := func(kernel, hash string, local []int, global ...int) Launches {
		return Launches{Kernel: kernel, Hash: hash, OptionsHash: "00000002", Global: global, Local: local}
	}
	f, fixed := launches("f", "00000001", nil, 64), launches("f", "00000001", []int{16}, 64)
	g, h := launches("g", "00000001", []int{8}, 64), launches("h", "00000003", nil, 32)
	tile, wide := [3]string{"TILE", "4", "8"}, [3]string{"WIDE", "8", "16"}
	for name, c := range map[string]struct {
		captured Launches
		macros   [][3]string
		local    []int
		all      []Launches
		judged   bool
		want     string // the options and the local size, or a part of the error
	}{
		"a macro":               {f, [][3]string{tile}, nil, []Launches{f, g, h}, false, "-D TILE=8 -DWIDE=8 -cl-mad-enable []"},
		"a macro and the local": {f, [][3]string{tile}, []int{64}, []Launches{f, g, h}, false, "-D TILE=8 -DWIDE=8 -cl-mad-enable [64]"},
		"a shared macro":        {f, [][3]string{wide}, nil, []Launches{f, g}, false, "the kernel g of the same program depends on"},
		"judged":                {f, [][3]string{wide}, nil, []Launches{f, g}, true, "-D TILE=4 -DWIDE=16 -cl-mad-enable []"},
		"of no kernel else":     {f, [][3]string{wide}, nil, []Launches{f, h}, false, "-D TILE=4 -DWIDE=16 -cl-mad-enable []"},
		"another value":         {f, [][3]string{{"TILE", "2", "8"}}, nil, []Launches{f}, true, "do not give -D TILE=2 once"},
		"no option":             {f, [][3]string{{"TIL", "4", "8"}}, nil, []Launches{f}, true, "do not give -D TIL=4 once"},
		"other sizes":           {f, [][3]string{tile}, nil, []Launches{f, launches("f", "00000001", nil, 32)}, false, "global size 32 and the local size NULL, where nothing"},
		"other sizes, judged":   {f, [][3]string{tile}, nil, []Launches{f, launches("f", "00000001", nil, 32)}, true, "-D TILE=8 -DWIDE=8 -cl-mad-enable []"},
		"not launched":          {f, [][3]string{tile}, nil, []Launches{g, h}, true, "does not launch it this time with the global size 64"},
		"a local of its own":    {fixed, nil, []int{64}, []Launches{fixed}, true, "launches it with the global size 64 and the local size 16"},
		"sometimes of its own":  {f, nil, []int{64}, []Launches{f, fixed}, true, "launches it with the global size 64 and the local size 16"},
		"does not divide":       {f, nil, []int{64}, []Launches{f, launches("f", "00000001", nil, 96)}, true, "global size 96 and the local size NULL"},
		"another kernel, too":   {f, nil, []int{32}, []Launches{f, h}, false, "would give its local size to the kernel h, too"},
		"another one, judged":   {f, nil, []int{32}, []Launches{f, h}, true, " [32]"},
		"another one, by X":     {launches("f", "00000001", nil, 64, 64), nil, []int{32, 2}, []Launches{launches("f", "00000001", nil, 64, 64), h}, false, "kernel h, too"},
		"not another one in 2-D": {
			f, nil, []int{32}, []Launches{f, launches("h", "00000003", nil, 32, 32)}, true, " [32]",
		},
	} {
		var j Injection
		err := j.Add(&Change{Launch: program, Launches: c.captured, Macros: c.macros, Local: c.local}, c.all, c.judged)
		got := strings.Join(slices.Collect(maps.Values(j.Options)), "") + fmt.Sprint(" ", j.Local)
		if err != nil && (len(j.Options) > 0 || j.Local != nil) {
			t.Errorf("%s: an error, and %s", name, got)
		} else if err != nil {
			got = err.Error()
		}
		if err == nil && got != c.want || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestChangesOfOneProgram: two kernels of one build change its options one after the other.
func TestChangesOfOneProgram(t *testing.T) {
	program := &Launch{Options: "-DA=1 -DB=1", Source: "__kernel void f(__global int *x) { x[0] = A; } __kernel void g(__global int *x) { x[0] = B; }"}
	f := Launches{Kernel: "f", Hash: "1", Global: []int{8}, Local: []int{8}}
	g := Launches{Kernel: "g", Hash: "1", Global: []int{8}}
	var j Injection
	for _, c := range []*Change{
		{Launch: program, Launches: f, Macros: [][3]string{{"A", "1", "2"}}}, {Launch: program, Launches: g, Macros: [][3]string{{"B", "1", "3"}}},
	} {
		if err := j.Add(c, []Launches{f, g}, false); err != nil {
			t.Fatal(err)
		}
	}
	if got := j.Options["1_"]; got != "-DA=2 -DB=3" {
		t.Errorf("the options are %s", got)
	}
	j.Local = []int{4}
	for want, local := range map[string][]int{"the layer sets one local size, and another kernel gets 4": {8}, "<nil>": {4}} {
		if err := j.Add(&Change{Launch: program, Launches: g, Local: local}, []Launches{f, g}, false); fmt.Sprint(err) != want {
			t.Errorf("the local size %v: %v, want %s", local, err, want)
		}
	}
	c := Change{Launches: f, Macros: [][3]string{{"A", "1", "2"}}, Local: []int{4, 2}}
	if got, want := c.String(), "-D A=2 in place of 1, the local size 4×2 in place of 8"; got != want {
		t.Errorf("the change is %q, want %q", got, want)
	}
}
