package hardware

import (
	"strings"
	"testing"
)

func TestSameKind(t *testing.T) {
	a := Device{Name: "A", Vendor: "V", Platform: "P", Driver: "1", Timer: TimerEvent, ComputeUnits: 2, PCI: "0000:01:00.0", Extensions: []string{"x"}}
	b := a
	b.Name, b.PCI, b.Extensions = " A ", "0000:02:00.0", nil
	if err := SameKind(a, b); err != nil {
		t.Errorf("two cards of one model: %v", err)
	}
	for name, change := range map[string]func(*Device){
		"device": func(d *Device) { d.Name = "B" }, "vendor": func(d *Device) { d.Vendor = "" }, "platform": func(d *Device) { d.Platform = "Q" },
		"driver": func(d *Device) { d.Driver = "2" }, "timer": func(d *Device) { d.Timer = TimerHost }, "compute units": func(d *Device) { d.ComputeUnits = 3 },
	} {
		b := a
		change(&b)
		if err := SameKind(a, b); err == nil || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSameDevice(t *testing.T) {
	one := Device{Name: "NVIDIA H200", Vendor: "V", Platform: "P", Driver: "1", Type: "gpu", Timer: TimerEvent, ComputeUnits: 132, GlobalMemory: 1 << 37}
	one.PCI, one.UUID = "0000:41:00.0", "aa"
	change := func(f func(*Device)) Device { d := one; f(&d); return d }
	for name, test := range map[string]struct {
		other Device
		want  bool
	}{
		"itself":                 {one, true},
		"spaces":                 {change(func(d *Device) { d.Name += " " }), true},
		"no address":             {change(func(d *Device) { d.PCI, d.UUID = "", "" }), true},
		"no timer yet":           {change(func(d *Device) { d.Timer = "" }), true},
		"peaks":                  {change(func(d *Device) { d.Peaks = &Peaks{} }), true},
		"another address":        {change(func(d *Device) { d.PCI = "0000:42:00.0" }), false},
		"another UUID":           {change(func(d *Device) { d.UUID = "bb" }), false},
		"another driver":         {change(func(d *Device) { d.Driver = "2" }), false},
		"another platform":       {change(func(d *Device) { d.Platform = "Q" }), false},
		"another vendor":         {change(func(d *Device) { d.Vendor = "W" }), false},
		"other memory":           {change(func(d *Device) { d.GlobalMemory++ }), false},
		"other compute units":    {change(func(d *Device) { d.ComputeUnits++ }), false},
		"the host's clock":       {change(func(d *Device) { d.Timer = TimerHost }), false},
		"another name":           {change(func(d *Device) { d.Name = "NVIDIA H100" }), false},
		"nothing known about it": {Device{}, false},
	} {
		if got := SameDevice(one, test.other); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
		if SameDevice(one, test.other) != SameDevice(test.other, one) {
			t.Errorf("%s: not the same the other way round", name)
		}
	}
	cpu := one
	cpu.Name, cpu.PCI, cpu.UUID = "EPYC", "", ""
	cpu.Type, cpu.UnifiedMemory = "cpu", true
	later := cpu
	later.GlobalMemory -= 1 << 20
	if !SameDevice(cpu, later) {
		t.Error("a CPU whose free memory has changed is another one")
	}
	if SameDevice(Device{}, Device{}) {
		t.Error("two devices of which nothing is known are one")
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
		if got := SameCard(Device{PCI: c.pci, UUID: c.uuid}, Device{PCI: c.otherPCI, UUID: c.otherUUID}); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// Peaks belong to one card with one driver.
func TestPeaksKey(t *testing.T) {
	d := Device{Name: "n", Vendor: "v", Platform: "p", Driver: "1", Version: "OpenCL 3.0", ComputeUnits: 4, PCI: "0000:01:00.0", UUID: "u"}
	for what, change := range map[string]func(*Device){
		"":     func(d *Device) { d.PCI, d.GlobalMemory = "0000:02:00.0", 1 }, // the UUID says which card it is
		"name": func(d *Device) { d.Name = "x" }, "vendor": func(d *Device) { d.Vendor = "x" }, "platform": func(d *Device) { d.Platform = "x" },
		"driver": func(d *Device) { d.Driver = "2" }, "version": func(d *Device) { d.Version = "x" }, "units": func(d *Device) { d.ComputeUnits = 3 },
		"card": func(d *Device) { d.UUID = "x" },
	} {
		other := d
		change(&other)
		if same := other.PeaksKey() == d.PeaksKey(); same != (what == "") {
			t.Errorf("another %s: the same key is %v", what, same)
		}
	}
}

func TestACardOfTwoPlatforms(t *testing.T) {
	opencl := Device{Name: "NVIDIA H200", Platform: "NVIDIA CUDA", Driver: "580.159.04", UUID: "13a0f22d-0000-0000-0000-000000000001", LocalMemory: 48 << 10, ComputeMajor: 9}
	cuda := opencl
	cuda.Platform, cuda.Driver, cuda.LocalMemory = CUDA, "580.159.04, NVRTC 13.0", 227<<10
	if opencl.IsCUDA() || !cuda.IsCUDA() {
		t.Error("the platform CUDA alone has CUDA's devices")
	}
	if !SameCard(opencl, cuda) || SameModel(opencl, cuda) == nil || SameDevice(opencl, cuda) || opencl.PeaksKey() == cuda.PeaksKey() {
		t.Error("one card, but two devices, whose results do not mix")
	}
	if got := []int64{opencl.StaticLocalMemory(), cuda.StaticLocalMemory()}; got[0] != 226<<10 || got[1] != 48<<10 {
		t.Errorf("arrays of a kernel: %d bytes", got)
	}
}
