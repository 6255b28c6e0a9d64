package device

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
)

// A machine is fake devices, and what each says of itself; one without a driver fails to.
type machine []struct {
	l Listed
	d tune.Device
}

func (m machine) listed() []Listed {
	var all []Listed
	for i, x := range m {
		x.l.Index, x.l.Name, x.l.Type = i, x.d.Name, x.d.Type
		all = append(all, x.l)
	}
	return all
}

var errSilent = errors.New("the driver does not answer")

func (m machine) describe(l Listed) (tune.Device, error) {
	if d := m[l.Index].d; d.Driver != "" {
		return d, nil
	}
	return tune.Device{}, errSilent
}

// testMachine has two cards alike (2:0, 2:1), one of them listed twice (2:4) and once more on
// another platform (3:0), then others that differ from them in one thing each.
func testMachine() machine {
	cpu := tune.Device{Name: "pthread-EPYC", Type: "cpu", Platform: "PoCL", Driver: "3.1", Version: "OpenCL 3.0"}
	h200 := tune.Device{Name: "NVIDIA H200", Type: "gpu", Platform: "NVIDIA CUDA", Driver: "580", Version: "OpenCL 3.0 CUDA", ComputeUnits: 132}
	card := func(pci, uuid string, changes ...func(*tune.Device)) tune.Device {
		d := h200
		d.PCI, d.UUID = pci, uuid
		for _, change := range changes {
			change(&d)
		}
		return d
	}
	const first, second, third = "0000:00:05.0", "0000:00:06.0", "0000:00:07.0"
	nvl := func(d *tune.Device) { d.Name = "NVIDIA H200 NVL" }
	older := func(d *tune.Device) { d.Version = "OpenCL 1.2 CUDA" }
	elsewhere := func(d *tune.Device) { d.Platform = "PoCL" }
	silent := func(d *tune.Device) { d.Driver = "" }
	return machine{
		0:  {Listed{Platform: 0, Place: 0}, cpu},
		1:  {Listed{Platform: 0, Place: 1}, cpu},
		2:  {Listed{Platform: 2, Place: 0}, card(first, "a1")},
		3:  {Listed{Platform: 2, Place: 1}, card(second, "a2")},
		4:  {Listed{Platform: 2, Place: 2}, card(third, "a3", nvl)},
		5:  {Listed{Platform: 2, Place: 3}, card(third, "a3", older)},
		6:  {Listed{Platform: 2, Place: 4}, card(second, "")},
		7:  {Listed{Platform: 2, Place: 5}, card("", "a1")},
		8:  {Listed{Platform: 2, Place: 6}, card("", "", silent)},
		9:  {Listed{Platform: 3, Place: 0}, card(second, "a2", elsewhere)},
		10: {Listed{Platform: 4, Place: 0}, tune.Device{Name: "llvmpipe (LLVM 15, 256 bits)", Type: "cpu", Driver: "1"}},
	}
}

func TestSelectAlike(t *testing.T) {
	m := testMachine()
	for selector, want := range map[string][]int{
		// one device, as Select chooses it
		"": {2}, " ": {2}, "3": {3}, "2:1": {3}, "0": {0}, "EPYC": {0}, "nvl": {4}, "8": {8},
		// all of a model
		"gpu": {2, 3}, " GPU ": {2, 3}, "cpu": {0, 1},
		// lists, in their order
		"2,3": {2, 3}, "2:1, 2:0": {3, 2}, "3,2,3": {3, 2}, "epyc,0:1": {0, 1}, "1,cpu": {1, 0}, "gpu,2:1": {2, 3}, "3,gpu": {3, 2}, "gpu,gpu": {2, 3},
		// a card counts once, whatever says that it is the same
		"3,6": {3}, "6,3": {6}, "2,7": {2}, "7,gpu": {7, 3}, "0,0": {0},
		// names with a comma
		"llvm 15, 256": {10}, "llvmpipe (LLVM 15, 256 bits)": {10},
	} {
		got, err := selectAlike(m.listed(), selector, m.describe)
		var indices []int
		for _, l := range got {
			indices = append(indices, l.Index)
		}
		if err != nil || !slices.Equal(indices, want) {
			t.Errorf("%q: %v, %v; want %v", selector, indices, err, want)
		}
	}
}

func TestUnlikeDevicesAreRefused(t *testing.T) {
	m := testMachine()
	for selector, want := range map[string]string{
		"gpu,cpu": `one search runs on devices of one model only, but 2:0 and 0:0 differ: device "NVIDIA H200", not "pthread-EPYC"; ` + insteadOfUnlike,
		"0,2":     `0:0 and 2:0 differ: device "pthread-EPYC", not "NVIDIA H200"`,
		"2,3,4":   `2:0 and 2:2 differ: device "NVIDIA H200", not "NVIDIA H200 NVL"`,
		"2,5":     `2:0 and 2:3 differ: version "OpenCL 3.0 CUDA", not "OpenCL 1.2 CUDA"`,
		"3,9":     `2:1 and 3:0 differ: platform "NVIDIA CUDA", not "PoCL"`, // although it is one card
		"0,,1":    "no device is named at place 2 of the list",
		"0,":      "place 2", ",0": "place 1", ",": "place 1", "0, ,1": "place 2",
		"0,99": "neither an index", "7:7,0": "platform and device", "radeon,gpu": "in its name", "accelerator": "of that type",
		"accelerator,0": "of that type",
	} {
		got, err := selectAlike(m.listed(), selector, m.describe)
		var refused *SelectionError
		if !errors.As(err, &refused) || !strings.Contains(refused.Problem, want) || len(refused.Devices) != len(m) {
			t.Errorf("%q: %+v, %v; want an error with %q", selector, got, err, want)
		}
	}
}

func TestSelectAlikeOfDevicesThatDoNotDescribeThemselves(t *testing.T) {
	m := testMachine()
	if _, err := selectAlike(m.listed(), "3,2:6", m.describe); !errors.Is(err, errSilent) || !strings.Contains(err.Error(), "2:6") {
		t.Errorf("a named one: %v", err)
	}
	m[2].d.Driver = ""
	if _, err := selectAlike(m.listed(), "gpu", m.describe); !errors.Is(err, errSilent) || !strings.Contains(err.Error(), "2:0") {
		t.Errorf("the first of several: %v", err)
	}
	if _, err := SelectAlike(nil, "0,1"); !errors.Is(err, cl.ErrNoDevice) {
		t.Errorf("no device: %v", err)
	}
}

func TestSameCard(t *testing.T) {
	for _, c := range []struct {
		pci, uuid, otherPCI, otherUUID string
		want                           bool
	}{
		{"0000:01:00.0", "a1", "0000:01:00.0", "a1", true},
		{"0000:01:00.0", "", "0000:01:00.0", "", true},
		{"0000:01:00.0", "a1", "0000:01:00.0", "a2", true}, // two parts of one card
		{"", "a1", "0000:01:00.0", "a1", true},
		{"0000:01:00.0", "a1", "0000:02:00.0", "a2", false},
		{"", "", "", "", false},
		{"0000:00:00.0", "0000", "0000:00:00.0", "0000", false},
		{"", "00000000-0000-0000-0000-000000000000", "", "00000000-0000-0000-0000-000000000000", false},
		{"0000:01:00.0", "00000000-0000-0000-0000-000000000000", "0000:02:00.0", "00000000-0000-0000-0000-000000000000", false},
	} {
		if got := sameCard(tune.Device{PCI: c.pci, UUID: c.uuid}, tune.Device{PCI: c.otherPCI, UUID: c.otherUUID}); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestSelectAlikeOfPoCL runs itself again for each set of PoCL's devices, which PoCL reads
// when it is loaded.
func TestSelectAlikeOfPoCL(t *testing.T) {
	const wanted = "NDTUNE_TEST_ALIKE" // how many devices are alike
	if n := os.Getenv(wanted); n != "" {
		selectAlikeOfPoCL(t, n == "2")
		return
	}
	testDevice(t)
	all, err := List()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(all, func(l Listed) bool { return strings.HasPrefix(l.Name, "pthread") }) {
		t.Skip("needs a PoCL whose devices are named basic and pthread")
	}
	for devices, alike := range map[string]string{"pthread pthread": "2", "basic basic": "2", "basic pthread": "1"} {
		again := exec.Command(os.Args[0], "-test.run=^TestSelectAlikeOfPoCL$")
		again.Env = append(os.Environ(), "POCL_DEVICES="+devices, wanted+"="+alike)
		if out, err := again.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", devices, err, out)
		}
	}
}

func selectAlikeOfPoCL(t *testing.T, alike bool) {
	all, err := List()
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(l Listed) bool {
		return !strings.HasPrefix(l.Name, "pthread") && !strings.HasPrefix(l.Name, "basic")
	})
	if len(all) != 2 {
		t.Fatalf("%d devices of PoCL, not 2: %+v", len(all), all)
	}
	both := all[0].Selector() + "," + all[1].Selector()
	if got, err := SelectAlike(all, both); alike != (err == nil) || alike != slices.Equal(got, all) {
		t.Errorf("%s: %+v, %v", both, got, err)
	}
	want := all
	if !alike {
		want = all[:1]
	}
	if got, err := SelectAlike(all, "cpu"); err != nil || !slices.Equal(got, want) {
		t.Errorf("cpu: %+v, %v; want %+v", got, err, want)
	}
}
