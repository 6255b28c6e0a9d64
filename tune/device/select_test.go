package device

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/source"
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
	for i := range devices {
		devices[i].Identity = &hardware.Device{}
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
	one := []Listed{{Name: "pthread-skylake-avx512-AMD EPYC", Type: "cpu", Identity: &hardware.Device{Platform: "PoCL 3.1", Vendor: "X1"}}}
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

// TestSelectByKind takes what the name does not say: the architecture, the platform and the vendor.
func TestSelectByKind(t *testing.T) {
	var devices []Listed
	for i, d := range []hardware.Device{
		{Name: "Radeon RX 7900 XTX (gfx1100)", Architecture: "gfx1100", Platform: "AMD Accelerated Parallel Processing", Vendor: "Advanced Micro Devices, Inc."},
		{Name: "AMD Radeon RX 6700 XT (navi22)", Platform: "rusticl", Vendor: "AMD"},
		{Name: "GeForce RTX 4090", Architecture: "sm_89", Platform: "NVIDIA CUDA", Vendor: "NVIDIA Corporation"},
		{Name: "GeForce RTX 4080", Architecture: "sm_89", Platform: "NVIDIA CUDA", Vendor: "NVIDIA Corporation"},
		{Name: "Arc(TM) A770 Graphics", Architecture: "12.55.8", Platform: "Intel(R) OpenCL Graphics", Vendor: "Intel(R) Corporation"},
		{Name: "Mali-G610 r0p0", Platform: "ARM Platform", Vendor: "ARM"},
	} {
		devices = append(devices, Listed{Index: i, Name: d.Name, Type: "gpu", Identity: &d})
	}
	for _, c := range []struct {
		selector string
		want     int // the index, -1: refused
		problem  string
	}{
		{"7900", 0, ""}, {"gfx1100", 0, ""}, {"GFX1100", 0, ""}, {"xtx", 0, ""}, {"6700", 1, ""}, {"radeon", -1, "2 devices have that in their names"},
		{"amd", 1, ""}, // a name comes before a platform
		{"rusticl", 1, ""}, {"Micro Devices", 0, ""}, {"accelerated  parallel", 0, ""}, {"arm", 5, ""}, {"Intel", 4, ""}, {"intel(r)", 4, ""}, {"12.55.8", 4, ""},
		{"sm_89", -1, "2 devices have that as their architecture, platform or vendor"}, {"cuda", -1, "no such device"}, {"cuda:0", -1, "CUDA has no such device"}, {"corporation", -1, "3 devices"},
		{"sm_8", -1, "in its name"}, {"rust", -1, "in its name"}, {"12.55", -1, "in its name"}, {"intel arm", -1, "in its name"}, {"parallel accelerated", -1, "in its name"},
		{"770", -1, "whole word"}, {"610", -1, "whole word"}, {"89", -1, "whole word"},
	} {
		got, err := Select(devices, c.selector)
		var refused *SelectionError
		switch {
		case c.want >= 0 && (err != nil || got != devices[c.want]):
			t.Errorf("%q: %s, %v; want %s", c.selector, got.Name, err, devices[c.want].Name)
		case c.want < 0 && (!errors.As(err, &refused) || !strings.Contains(refused.Problem, c.problem)):
			t.Errorf("%q: %s, %v; want an error with %q", c.selector, got.Name, err, c.problem)
		}
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

// A machine is fake devices, and what each says of itself.
type machine []struct {
	l Listed
	d hardware.Device
}

func (m machine) listed() []Listed {
	var all []Listed
	for i, x := range m {
		x.l.Index, x.l.Name, x.l.Type, x.l.Identity = i, x.d.Name, x.d.Type, &x.d
		all = append(all, x.l)
	}
	return all
}

// testMachine has two cards alike (2:0, 2:1), one of them listed twice (2:4) and once more on
// another platform (3:0), then others that differ from them in one thing each.
func testMachine() machine {
	cpu := hardware.Device{Name: "pthread-EPYC", Type: "cpu", Platform: "PoCL", Driver: "3.1", Version: "OpenCL 3.0"}
	h200 := hardware.Device{Name: "NVIDIA H200", Type: "gpu", Platform: "NVIDIA CUDA", Driver: "580", Version: "OpenCL 3.0 CUDA", ComputeUnits: 132}
	card := func(pci, uuid string, changes ...func(*hardware.Device)) hardware.Device {
		d := h200
		d.PCI, d.UUID = pci, uuid
		for _, change := range changes {
			change(&d)
		}
		return d
	}
	const first, second, third = "0000:00:05.0", "0000:00:06.0", "0000:00:07.0"
	nvl := func(d *hardware.Device) { d.Name = "NVIDIA H200 NVL" }
	older := func(d *hardware.Device) { d.Version = "OpenCL 1.2 CUDA" }
	elsewhere := func(d *hardware.Device) { d.Platform = "PoCL" }
	behind := func(d *hardware.Device) { d.Driver = "470" }
	return machine{
		0:  {Listed{Platform: 0, Place: 0}, cpu},
		1:  {Listed{Platform: 0, Place: 1}, cpu},
		2:  {Listed{Platform: 2, Place: 0}, card(first, "a1")},
		3:  {Listed{Platform: 2, Place: 1}, card(second, "a2")},
		4:  {Listed{Platform: 2, Place: 2}, card(third, "a3", nvl)},
		5:  {Listed{Platform: 2, Place: 3}, card(third, "a3", older)},
		6:  {Listed{Platform: 2, Place: 4}, card(second, "")},
		7:  {Listed{Platform: 2, Place: 5}, card("", "a1")},
		8:  {Listed{Platform: 2, Place: 6}, card("", "", behind)},
		9:  {Listed{Platform: 3, Place: 0}, card(second, "a2", elsewhere)},
		10: {Listed{Platform: 4, Place: 0}, hardware.Device{Name: "llvmpipe (LLVM 15, 256 bits)", Type: "cpu", Driver: "1"}},
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
		got, err := SelectAlike(m.listed(), selector)
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
		"2,8":     `2:0 and 2:6 differ: driver "580", not "470"`,
		"2,5":     `2:0 and 2:3 differ: version "OpenCL 3.0 CUDA", not "OpenCL 1.2 CUDA"`,
		"3,9":     `2:1 and 3:0 differ: platform "NVIDIA CUDA", not "PoCL"`, // although it is one card
		"0,,1":    "no device is named at place 2 of the list",
		"0,":      "place 2", ",0": "place 1", ",": "place 1", "0, ,1": "place 2",
		"0,99": "neither an index", "7:7,0": "platform and device", "radeon,gpu": "in its name", "accelerator": "of that type",
		"accelerator,0": "of that type",
	} {
		got, err := SelectAlike(m.listed(), selector)
		var refused *SelectionError
		if !errors.As(err, &refused) || !strings.Contains(refused.Problem, want) || len(refused.Devices) != len(m) {
			t.Errorf("%q: %+v, %v; want an error with %q", selector, got, err, want)
		}
	}
}

func TestSelectAlikeOfNoDevices(t *testing.T) {
	if _, err := SelectAlike(nil, "0,1"); !errors.Is(err, cl.ErrNoDevice) {
		t.Error(err)
	}
}

// TestSelectAlikeOnAMachine runs itself again on machines with two devices of one platform.
func TestSelectAlikeOnAMachine(t *testing.T) {
	if standin.OnSystem() {
		t.Skip("needs the stand-in")
	}
	const wanted = "NDTUNE_TEST_ALIKE" // which devices cpu selects
	if want := os.Getenv(wanted); want != "" {
		all, err := List()
		if err != nil || len(all) != 2 {
			t.Fatalf("%+v, %v; want two devices", all, err)
		}
		alike := want == "0:0 0:1"
		if got, err := SelectAlike(all, "0:0,0:1"); alike != (err == nil) || alike != slices.Equal(got, all) {
			t.Errorf("both: %+v, %v", got, err)
		}
		got, err := SelectAlike(all, "cpu")
		if err != nil || !alike && len(got) != 1 || alike && !slices.Equal(got, all) {
			t.Errorf("cpu: %+v, %v; want %s", got, err, want)
		}
		return
	}
	folder, err := standin.Folder()
	if err != nil {
		t.Fatal(err)
	}
	cpu := standin.Profiles(folder, "standin-cpu")
	text, err := os.ReadFile(cpu)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other.profile")
	if err := os.WriteFile(other, []byte(strings.Replace(string(text), "0x1002 u32 2", "0x1002 u32 4", 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	for second, want := range map[string]string{cpu: "0:0 0:1", other: "0:0"} {
		again := exec.Command(os.Args[0], "-test.run=^TestSelectAlikeOnAMachine$")
		again.Env = append(os.Environ(), standin.ProfilesVariable+"="+cpu+":"+second, wanted+"="+want)
		if out, err := again.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", second, err, out)
		}
	}
}

// TestSelectEach takes devices that no search could share.
func TestSelectEach(t *testing.T) {
	m := testMachine()
	all := m.listed()
	everything, err := SelectEach(all, "all")
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range all {
		again := slices.ContainsFunc(all[:i], func(e Listed) bool {
			return e.Identity.Platform == l.Identity.Platform && hardware.SameCard(*e.Identity, *l.Identity)
		})
		if slices.Contains(everything, l) == again {
			t.Errorf("all has %s: %v, and it is another listing of an earlier one: %v", l.Selector(), !again, again)
		}
	}
	for _, test := range []struct {
		selector string
		want     []string
	}{
		{"cpu", []string{"0:0", "0:1", "4:0"}},
		{"0:1", []string{"0:1"}},
		{"2:1, CPU", []string{"2:1", "0:0", "0:1", "4:0"}},
		{"0:0,all", nil},
	} {
		got, err := SelectEach(all, test.selector)
		if err != nil {
			t.Errorf("%s: %v", test.selector, err)
			continue
		}
		var selectors []string
		for _, l := range got {
			selectors = append(selectors, l.Selector())
		}
		if test.want != nil && !slices.Equal(selectors, test.want) {
			t.Errorf("%s: %v, want %v", test.selector, selectors, test.want)
		}
		if test.want == nil && len(got) != len(everything) {
			t.Errorf("%s: %v, want all %d", test.selector, selectors, len(everything))
		}
	}
	for _, wrong := range []string{"accelerator", "9:9", "nothing of that name", "0:0,,0:1"} {
		var selection *SelectionError
		if _, err := SelectEach(all, wrong); !errors.As(err, &selection) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	if _, err := SelectEach(nil, "all"); err == nil {
		t.Error("no devices are no error")
	}
}

// twoPlatforms is a machine with a CPU and two cards, which are devices of OpenCL and of CUDA.
func twoPlatforms() []Listed {
	card := func(platform, place int, name string, uuid string) Listed {
		d := hardware.Device{Name: "NVIDIA H200", Type: "gpu", Platform: name, Vendor: "NVIDIA Corporation", Driver: "580", UUID: uuid, Architecture: "sm_90"}
		return Listed{Platform: platform, Place: place, Name: d.Name, Type: d.Type, Identity: &d}
	}
	cpu := hardware.Device{Name: "pthread-EPYC", Type: "cpu", Platform: "PoCL"}
	all := []Listed{
		{Platform: 0, Name: cpu.Name, Type: cpu.Type, Identity: &cpu}, card(1, 0, "NVIDIA CUDA", "a1"), card(1, 1, "NVIDIA CUDA", "a2"),
		card(CUDAPlatform, 0, hardware.CUDA, "a1"), card(CUDAPlatform, 1, hardware.CUDA, "a2"),
	}
	for i := range all {
		all[i].Index = i
	}
	return all
}

func TestSelectByLanguage(t *testing.T) {
	all := twoPlatforms()
	openCL, cuda := For(all, source.OpenCL), For(all, source.CUDA)
	if !slices.Equal(openCL, all[:3]) || !slices.Equal(cuda, all[3:]) || !slices.Equal(For(all), all) || !slices.Equal(For(all, source.OpenCL, source.CUDA), all) {
		t.Fatalf("%v, %v", openCL, cuda)
	}
	for _, c := range []struct {
		selector  string
		both      []int // indices of the devices; nil: an error
		ofOpenCL  []int
		ofCUDA    []int
		onlyFirst bool // Select takes the first
	}{
		{"", []int{1}, []int{1}, []int{3}, true},
		{"gpu", []int{1, 2}, []int{1, 2}, []int{3, 4}, true},
		{"cpu", []int{0}, []int{0}, nil, true},
		{"cuda", []int{3}, nil, []int{3}, true}, // though NVIDIA's platform of OpenCL has the word, too
		{"CUDA:1", []int{4}, nil, []int{4}, true},
		{"cuda:2", nil, nil, nil, true},
		{"cuda:0,cuda:1", []int{3, 4}, nil, []int{3, 4}, false},
		{"cuda,gpu", nil, nil, []int{3, 4}, false}, // of two platforms
		{"0", []int{0}, []int{0}, nil, true},
		{"3", []int{3}, nil, []int{3}, true},
		{"1:1", []int{2}, []int{2}, nil, true},
		{"h200", []int{1}, []int{1}, []int{3}, true},
		{"sm_90", []int{1}, []int{1}, []int{3}, true},
		{"nvidia cuda", []int{1}, []int{1}, nil, true},
	} {
		for name, of := range map[string]struct {
			devices []Listed
			want    []int
		}{"both languages": {all, c.both}, "OpenCL C": {openCL, c.ofOpenCL}, "CUDA C": {cuda, c.ofCUDA}} {
			got, err := SelectAlike(of.devices, c.selector)
			var indices []int
			for _, l := range got {
				indices = append(indices, l.Index)
			}
			var refused *SelectionError
			if !slices.Equal(indices, of.want) || (err == nil) == (of.want == nil) || err != nil && !errors.As(err, &refused) {
				t.Errorf("%q in %s: %v, %v; want %v", c.selector, name, indices, err, of.want)
			}
			if one, err := Select(of.devices, c.selector); c.onlyFirst && of.want != nil && (err != nil || one.Index != of.want[0]) {
				t.Errorf("%q in %s: %v, %v", c.selector, name, one, err)
			}
		}
	}
	each, err := SelectEach(all, "all")
	if err != nil || len(each) != len(all) {
		t.Errorf("a card is one device on each platform: %v, %v", each, err)
	}
	if _, err = Select(cuda, "1:0"); err == nil || !strings.HasSuffix(err.Error(), "there are:\n  cuda:0  NVIDIA H200 (gpu, for CUDA C)\n  cuda:1  NVIDIA H200 (gpu, for CUDA C)") {
		t.Error(err)
	}
}

// TestListByLanguage: each language needs its own libraries alone, and the errors of CUDA are told to those who name it.
func TestListByLanguage(t *testing.T) {
	testDevice(t)
	t.Setenv("NDTUNE_CUDA_LIBRARY", filepath.Join(t.TempDir(), "none.so"))
	if _, err := cl.CUDA(); err == nil {
		t.Skip("CUDA is loaded already")
	}
	openCL, err := List(source.OpenCL)
	if err != nil {
		t.Fatal(err)
	}
	for selector, languages := range map[string][]source.Language{
		"": {source.OpenCL, source.CUDA}, "0": {source.OpenCL}, "gpu": nil,
	} {
		if got, err := ListFor(selector, languages...); err != nil || len(got) != len(openCL) {
			t.Errorf("%q, %v: %v, %v", selector, languages, got, err)
		}
	}
	for selector, languages := range map[string][]source.Language{
		"": {source.CUDA}, "0": {source.CUDA}, "cuda": {source.OpenCL, source.CUDA}, "cuda:1": {source.OpenCL}, "cuda:0": nil, "gpu,cuda:0": {source.OpenCL, source.CUDA},
	} {
		if got, err := ListFor(selector, languages...); err == nil || !strings.Contains(err.Error(), "CUDA") {
			t.Errorf("%q, %v: %v, %v", selector, languages, got, err)
		}
	}
}
