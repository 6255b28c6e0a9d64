package problem

import (
	"testing"

	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/space"
)

func TestAdmit(t *testing.T) {
	d := lineDefinition(1)
	d.Parameters = []space.Parameter{{Name: "x", Values: []space.Value{1, 2, 4}}, {Name: "y", Values: []space.Value{1, 2}}}
	d.Restrictions = []space.Restriction{{Expression: "x >= y"}, {Expression: "x * y < device.max_work_group_size"}}
	p, err := New(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		x, y int
		want string
	}{
		{2, 1, ""},
		{3, 1, "x=3 is not among its values, 1, 2, 4"},
		{1, 2, "restrictions[0], x >= y, refuses it"},
		{4, 2, "restrictions[1], x * y < device.max_work_group_size, refuses it"},
	} {
		configuration, err := p.Parameters().Configure(map[string]space.Value{"x": c.x, "y": c.y})
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		if err := p.Admit(configuration, hardware.Device{MaxWorkGroupSize: 8}); err != nil {
			text = err.Error()
		}
		if text != c.want {
			t.Errorf("x=%d, y=%d: %q, want %q", c.x, c.y, text, c.want)
		}
	}
}
