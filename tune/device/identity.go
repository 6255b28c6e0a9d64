package device

import (
	"fmt"
	"strings"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
)

// Describe is the identity and the limits of a device. Its Timer is empty: only [Open]
// finds that out.
func Describe(d *cl.Device) (tune.Device, error) {
	info, err := d.Info()
	if err != nil {
		return tune.Device{}, fmt.Errorf("describe a device: %w", err)
	}
	platform, err := d.Platform().Info()
	if err != nil {
		return tune.Device{}, fmt.Errorf("describe the platform of %s: %w", info.Name, err)
	}
	t := tune.Device{
		Name: info.Name, Vendor: info.Vendor, Platform: platform.Name, Driver: info.DriverVersion,
		Version: info.Version, Type: typeName(info.Type),
		ComputeUnits: info.ComputeUnits, ClockMHz: info.MaxClockMHz,
		GlobalMemory: info.GlobalMemSize, MaxAllocation: info.MaxAllocSize, LocalMemory: info.LocalMemSize,
		MaxWorkGroupSize: info.MaxWorkGroupSize, MaxWorkItemSizes: info.MaxWorkItemSizes,
		UnifiedMemory: info.HostUnifiedMemory, Extensions: info.Extensions,
	}
	if info.PCI != nil {
		t.PCI = filledIn(info.PCI.String())
	}
	if info.UUID != nil {
		t.UUID = filledIn(info.UUID.String())
	}
	if n := info.NVIDIA; n != nil {
		t.Registers, t.Wavefront = n.RegistersPerBlock, n.WarpSize
		t.ComputeMajor, t.ComputeMinor = n.ComputeCapabilityMajor, n.ComputeCapabilityMinor
	}
	if a := info.AMD; a != nil {
		t.Wavefront = a.WavefrontWidth
		if a.BoardName != "" && !strings.Contains(t.Name, a.BoardName) {
			t.Name = a.BoardName + " (" + t.Name + ")"
		}
	}
	return t, nil
}

// filledIn is a PCI address or a UUID, and "" for one of nothing but zeros: some drivers have the
// field and do not fill it in.
func filledIn(id string) string {
	if strings.Trim(id, "0:.-") == "" {
		return ""
	}
	return id
}

func typeName(t cl.DeviceType) string {
	switch {
	case t&cl.DeviceGPU != 0:
		return "gpu"
	case t&cl.DeviceCPU != 0:
		return "cpu"
	case t&cl.DeviceAccelerator != 0:
		return "accelerator"
	}
	return "custom"
}
