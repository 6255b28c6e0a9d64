package problem

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/space"
)

// tunedClock is saxpy with two parameters that only settings read, and one that the kernel reads, too.
func tunedClock() definition.Definition {
	d := saxpy()
	d.Parameters = append(d.Parameters, space.Parameter{Name: "mhz", Values: []space.Value{0, 345, 1080, 1980}}, space.Parameter{Name: "watts", Values: []space.Value{250, 700.5}})
	d.Restrictions = append(d.Restrictions, space.Restriction{Expression: "mhz < 1980 or watts > 300"})
	d.Measure.Settings = []definition.Setting{{Name: "power_limit", Expression: "watts"}, {Name: "clock", Expression: "mhz"}}
	return d
}

// TestSettings derives the settings of configurations, which do not reach the compiler, here and in another process.
func TestSettings(t *testing.T) {
	p := mustProblem(t, tunedClock())
	encoded, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := definition.Decode(encoded)
	if err != nil {
		t.Fatal(err)
	}
	again := mustProblem(t, decoded)
	other := tunedClock()
	slices.Reverse(other.Measure.Settings)
	if again.Digest() != p.Digest() || mustProblem(t, other).Digest() != p.Digest() {
		t.Error("the digest is another one in another process, or with another order of the settings")
	}
	without := tunedClock()
	without.Measure.Settings = nil
	if q := mustProblem(t, without); q.Digest() == p.Digest() || q.KernelDigest() == p.KernelDigest() {
		t.Error("the settings are not part of the digest")
	}
	c := mustConfigure(t, again, map[string]space.Value{"mhz": 1080, "watts": 700.5})
	v, err := again.Variant(c, hardware.Device{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []hardware.Setting{{Name: "clock", Value: 1080}, {Name: "power_limit", Value: 700.5}}; !slices.Equal(v.Settings, want) {
		t.Errorf("the settings are %v, want %v", v.Settings, want)
	}
	for _, line := range []string{v.OptionLine(), again.BuildOptions(c, hardware.Device{})} {
		if strings.Contains(line, "mhz") || strings.Contains(line, "watts") || !strings.Contains(line, "block_size_x") {
			t.Errorf("the compiler gets %s", line)
		}
	}
	reads := tunedClock()
	reads.Kernel.Source += "\n/* watts */ __constant int m = mhz;"
	if v, err = mustProblem(t, reads).Variant(mustConfigure(t, mustProblem(t, reads), map[string]space.Value{"mhz": 345, "watts": 250}), hardware.Device{}); err != nil {
		t.Fatal(err)
	}
	if line := v.OptionLine(); !strings.Contains(line, "mhz=345") || strings.Contains(line, "watts") {
		t.Errorf("a source that names mhz gets %s", line)
	}
}

func mustConfigure(t *testing.T, p *Problem, values map[string]space.Value) space.Configuration {
	t.Helper()
	c, err := p.Parameters().ConfigureFirst(values)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestSettingsAreCheckedInTheSpace checks each combination of settings that a configuration has, and no other.
func TestSettingsAreCheckedInTheSpace(t *testing.T) {
	p := mustProblem(t, tunedClock())
	s, err := p.Space(t.Context(), hardware.Device{})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	check := func(refused string) error {
		return p.CheckSettings(t.Context(), s, hardware.Device{}, func(all []hardware.Setting) error {
			text := fmt.Sprint(all)
			if seen[text] = true; text == refused {
				return errors.New("not permitted")
			}
			return nil
		})
	}
	if err := check(""); err != nil || len(seen) != 8 {
		t.Errorf("%d combinations: %v", len(seen), err)
	}
	var at *definition.FieldError
	if err := check("[clock 1080 MHz power_limit 250 W]"); !errors.As(err, &at) || at.Field != "measure.settings" || at.Err.Error() != "mhz=1080, watts=250: not permitted" {
		t.Errorf("a combination that is not permitted: %v", err)
	}
	if err := check("[clock 1980 MHz power_limit 250 W]"); err != nil {
		t.Errorf("a combination that the restrictions exclude: %v", err)
	}
}
