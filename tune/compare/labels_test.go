package compare

import (
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/hardware"
)

// TestCombining: two runs on one card are one device, two cards of one name are two.
func TestCombining(t *testing.T) {
	first, second := gpu("NVIDIA H200"), gpu("NVIDIA H200")
	first.PCI, second.PCI = "0000:41:00.0", "0000:42:00.0"
	c := mustCompare(t, Options{},
		source(t, "one", first, row{x: 16, tile: 1, time: 1}),
		source(t, "two", second, row{x: 16, tile: 1, time: 1}),
		source(t, "one again", first, row{x: 16, tile: 1, time: 7}, row{x: 32, tile: 1, time: 0.5}),
	)
	if len(c.Devices) != 2 {
		t.Fatalf("%d devices", len(c.Devices))
	}
	d := c.Devices[0]
	if d.Label != "NVIDIA H200 (0000:41:00.0)" || c.Devices[1].Label != "NVIDIA H200 (0000:42:00.0)" || !slices.Equal(d.Records, []string{"one", "one again"}) {
		t.Errorf("they are %+v", c.Devices)
	}
	if d.Evaluated != 2 || d.Best.Configuration != "x=32, tile=1" || d.Best.Time != 0.5 {
		t.Errorf("combined: %+v", d.Best)
	}

	// Devices of this machine that nothing but their place tells apart, and a record of one.
	here, there := source(t, "h", gpu("pthread"), row{x: 16, tile: 1, time: 1}), source(t, "t", gpu("pthread"), row{x: 16, tile: 1, time: 1})
	here.Listing, there.Listing = "0:0", "0:1"
	again := here
	again.Name = "again"
	c = mustCompare(t, Options{}, here, there, again)
	if len(c.Devices) != 2 || c.Devices[0].Label != "pthread (number 1)" || c.Devices[1].Label != "pthread (number 2)" || len(c.Devices[0].Records) != 2 {
		t.Errorf("they are %+v", c.Devices)
	}
}

func TestLabels(t *testing.T) {
	named := func(name, platform, driver string) hardware.Device {
		return hardware.Device{Name: name, Platform: platform, Driver: driver}
	}
	got := Labels([]hardware.Device{named("W7800", "AMD", "1"), named(" EPYC  9004 ", "PoCL", "3"), named("W7800", "rusticl", "22"), named("", "", "")})
	if want := []string{"W7800 (AMD)", "EPYC 9004", "W7800 (rusticl)", "unknown device"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Labels([]hardware.Device{named("H200", "NVIDIA CUDA", "1"), named("H200", hardware.CUDA, "1")}); got[0] != "H200 (NVIDIA OpenCL)" || got[1] != "H200 (CUDA C)" {
		t.Errorf("one card on two platforms: %q", got)
	}
	if got := Labels([]hardware.Device{named("A", "P", "1"), named("A", "P", "2")}); got[1] != "A (driver 2)" {
		t.Errorf("%q", got)
	}
	var cards []hardware.Device // two, each on two platforms
	for _, platform := range []string{"NVIDIA CUDA", hardware.CUDA} {
		for _, pci := range []string{"0000:41:00.0", "0000:42:00.0"} {
			cards = append(cards, hardware.Device{Name: "H200", Platform: platform, PCI: pci})
		}
	}
	if got := Labels(cards); got[0] != "H200 (0000:41:00.0, NVIDIA OpenCL)" || got[3] != "H200 (0000:42:00.0, CUDA C)" {
		t.Errorf("%q", got)
	}
	var all []string
	for i := range 60 {
		all = append(all, letters(i))
	}
	if s := strings.Join(all, " "); !strings.HasPrefix(s, "A B C ") || !strings.Contains(s, " Z AA AB ") || !strings.HasSuffix(s, " AZ BA BB BC BD BE BF BG BH") {
		t.Error(s)
	}
}

func TestOtherProblems(t *testing.T) {
	a, b := source(t, "a.jsonl", gpu("A"), row{x: 16, tile: 1, time: 1}), source(t, "b.jsonl", gpu("B"), row{x: 16, tile: 1, time: 1})
	b.Record.Header.Digest = "d2"
	b.Record.Header.ProblemSize = []int{128}
	_, err := New([]Source{a, b}, Options{})
	if err == nil || err.Error() != "a.jsonl and b.jsonl are of different problems: k of k.yaml (digest d1), and k of k.yaml (digest d2); the problem size in the first: [64], in the second: [128]" {
		t.Errorf("%v", err)
	}
	b.Record.Header.Digest = ""
	if _, err := New([]Source{b, a}, Options{}); err == nil || !strings.Contains(err.Error(), "the problem size is [128], and [64]") {
		t.Errorf("%v", err)
	}
	b.Record.Header.ProblemSize = nil
	c := mustCompare(t, Options{}, b, a)
	if len(c.Notices) != 1 || !strings.HasPrefix(c.Notices[0], "b.jsonl does not hold the digest of its problem") {
		t.Errorf("notices: %q", c.Notices)
	}
}
