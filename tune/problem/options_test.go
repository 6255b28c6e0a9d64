package problem

import (
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/space"
)

// TestOptionsMayDependOnTheConfiguration has an option with a value, one that is on or off, and a parameter
// whose values are options.
func TestOptionsMayDependOnTheConfiguration(t *testing.T) {
	d := saxpy()
	d.Kernel.BuildOptions = []string{"-cl-mad-enable", "-cl-nv-maxrregcount={registers * 8}", "{fast ? '-cl-fast-relaxed-math' : ''}", "{more}", "-DPAIR={{1,2}}"}
	d.Parameters = append(d.Parameters,
		space.Parameter{Name: "registers", Values: []space.Value{4, 8}},
		space.Parameter{Name: "fast", Values: []space.Value{false, true}},
		space.Parameter{Name: "more", Values: []space.Value{"", "-a -b"}},
	)
	p := mustProblem(t, d)
	for _, notice := range p.Notices() {
		if strings.Contains(notice, "has no effect") && !strings.Contains(notice, "unroll") {
			t.Error(notice)
		}
	}
	for want, values := range map[string]map[string]space.Value{
		"-cl-mad-enable -cl-nv-maxrregcount=32 -DPAIR={1,2} -D ":                             {"registers": 4, "fast": false, "more": ""},
		"-cl-mad-enable -cl-nv-maxrregcount=64 -cl-fast-relaxed-math -a -b -DPAIR={1,2} -D ": {"registers": 8, "fast": true, "more": "-a -b"},
	} {
		values["block_size_x"], values["unroll"] = 32, 1
		c, err := p.Parameters().Configure(values)
		if err != nil {
			t.Fatal(err)
		}
		v, err := p.Variant(c, hardware.Device{})
		if err != nil {
			t.Fatal(err)
		}
		for how, got := range map[string]string{
			"variant": v.OptionLine(),
			"printed": p.BuildOptions(c, hardware.Device{}),
			"report":  OptionsAt(p.FixedOptions(), d.Constants, c),
		} {
			if !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s, want %s", how, got, want)
			}
		}
	}
}
