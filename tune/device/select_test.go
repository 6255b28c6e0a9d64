package device

import (
	"errors"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/cl"
)

func TestSelect(t *testing.T) {
	devices := []Listed{
		{Index: 0, Platform: 0, Place: 0, Name: "pthread-AMD EPYC", Type: "cpu"},
		{Index: 1, Platform: 2, Place: 0, Name: "NVIDIA H200", Type: "gpu"},
		{Index: 2, Platform: 2, Place: 1, Name: "NVIDIA H200 NVL", Type: "gpu"},
		{Index: 3, Platform: 3, Place: 0, Name: "GeForce RTX 4090", Type: "gpu"},
		{Index: 4, Platform: 3, Place: 1, Name: "GeForce RTX 4090", Type: "gpu"},
		{Index: 5, Platform: 4, Place: 0, Name: "llvmpipe (LLVM 15, 256 bits)", Type: "cpu"},
	}
	for _, c := range []struct {
		selector string
		want     int // the index, -1: refused
		problem  string
	}{
		{"", 1, ""}, {"  ", 1, ""}, {"cpu", 0, ""}, {"CPU", 0, ""}, {"gpu", 1, ""}, {"accelerator", -1, "of that type"},
		{"0", 0, ""}, {"4", 4, ""}, {" 3 ", 3, ""}, {"7", -1, "neither an index nor a whole word"}, {"99999", -1, "neither an index nor a whole word"}, {"99999999999999999999", -1, "whole word"},
		{"0:0", 0, ""}, {"2:1", 2, ""}, {"3:1", 4, ""}, {"1:0", -1, "platform and device"}, {"2:2", -1, "platform and device"},
		{"epyc", 0, ""}, {"nvl", 2, ""}, {"nvidia h200", 1, ""}, {"h200", -1, "2 devices"}, {"NVIDIA", -1, "2 devices"},
		{"geforce", 3, ""}, {"4090", 3, ""}, {"radeon", -1, "in its name"}, {"-1", -1, "in its name"}, {"e", -1, "4 devices"},
		{"1", 1, ""}, {"15", 5, ""}, {"256", 5, ""}, {"40", -1, "neither an index nor a whole word"}, {"20", -1, "neither an index nor a whole word"},
		{"0,1", -1, "not a list"}, {"3:0, 3:1", -1, "not a list"}, {"gpu,cpu", -1, "not a list"}, {"15, 256 B", 5, ""},
	} {
		got, err := Select(devices, c.selector)
		var refused *SelectionError
		switch {
		case c.want >= 0 && (err != nil || got != devices[c.want]):
			t.Errorf("%q: %+v, %v; want %s", c.selector, got, err, devices[c.want].Name)
		case c.want < 0 && (!errors.As(err, &refused) || !strings.Contains(refused.Problem, c.problem) || refused.Selector != c.selector):
			t.Errorf("%q: %+v, %v; want an error with %q", c.selector, got, err, c.problem)
		}
	}
	one := []Listed{{Name: "pthread-skylake-avx512-AMD EPYC", Type: "cpu"}}
	for _, selector := range []string{"1", "512", "2"} {
		if got, err := Select(one, selector); err == nil {
			t.Errorf("--device %s is %s, whose name has the digits inside a word", selector, got.Name)
		}
	}
	if _, err := Select(devices[:1], ""); err != nil {
		t.Errorf("the only device is no GPU: %v", err)
	}
	if _, err := Select(nil, ""); !errors.Is(err, cl.ErrNoDevice) {
		t.Errorf("no device: %v", err)
	}
	_, err := Select(devices, "h200")
	if text := err.Error(); !strings.Contains(text, "1  2:0  NVIDIA H200 (gpu)\n") || strings.Count(text, "\n") != len(devices) {
		t.Errorf("the devices are not listed: %s", text)
	}
}

func TestEveryListedDeviceIsSelectedByItsNames(t *testing.T) {
	testDevice(t)
	all, err := List()
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range all {
		if l.Index != i {
			t.Errorf("%s has the index %d, not %d", l.Name, l.Index, i)
		}
		if got, err := Select(all, l.Selector()); err != nil || got != l {
			t.Errorf("%s: %+v, %v", l.Selector(), got, err)
		}
		if got, err := SelectAlike(all, l.Selector()); err != nil || len(got) != 1 || got[0] != l {
			t.Errorf("%s alone: %+v, %v", l.Selector(), got, err)
		}
		identity, err := Describe(l.Device)
		if err != nil || identity.Timer != "" || identity.Type != l.Type || identity.MaxWorkGroupSize <= 0 {
			t.Errorf("%s: %+v, %v", l.Selector(), identity, err)
		}
	}
}
