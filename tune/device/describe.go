package device

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune/hardware"
)

// Describe is the identity and the limits of a device. Its Timer is empty: only [Open]
// finds that out.
func Describe(d *cl.Device) (hardware.Device, error) {
	info, err := d.Info()
	if err != nil {
		return hardware.Device{}, fmt.Errorf("describe a device: %w", err)
	}
	platform, err := d.Platform().Info()
	if err != nil {
		return hardware.Device{}, fmt.Errorf("describe the platform of %s: %w", info.Name, err)
	}
	t := hardware.Device{
		Name: info.Name, Vendor: info.Vendor, Platform: platform.Name, Driver: info.DriverVersion,
		PlatformVersion: platform.Version, CVersion: info.CVersion,
		Version: info.Version, Type: typeName(info.Type),
		ComputeUnits: info.ComputeUnits, ClockMHz: info.MaxClockMHz,
		GlobalMemory: info.GlobalMemSize, MaxAllocation: info.MaxAllocSize, LocalMemory: info.LocalMemSize,
		MaxWorkGroupSize: info.MaxWorkGroupSize, MaxWorkItemSizes: info.MaxWorkItemSizes,
		UnifiedMemory: info.HostUnifiedMemory, Extensions: info.Extensions,
		Architecture: new(cl.AMDInfo).Architecture(info.Name), // of ROCm's devices without AMD's extension
	}
	if info.PCI != nil {
		t.PCI = hardware.FilledIn(info.PCI.String())
	}
	if info.UUID != nil {
		t.UUID = hardware.FilledIn(info.UUID.String())
	}
	if n := info.NVIDIA; n != nil {
		t.Registers, t.Wavefront = n.RegistersPerBlock, n.WarpSize
		t.ComputeMajor, t.ComputeMinor = n.ComputeCapabilityMajor, n.ComputeCapabilityMinor
		t.Architecture = hardware.ComputeCapability(t.ComputeMajor, t.ComputeMinor)
	}
	if a := info.AMD; a != nil {
		t.Wavefront, t.Architecture = a.WavefrontWidth, a.Architecture(info.Name)
		if a.BoardName != "" && !strings.Contains(t.Name, a.BoardName) {
			t.Name = a.BoardName + " (" + t.Name + ")"
		}
	}
	if model := adreno.FindString(t.Version); model != "" && strings.HasSuffix(t.Name, "Adreno(TM)") {
		t.Name = strings.TrimSuffix(t.Name, "Adreno(TM)") + model
	}
	if i := info.Intel; i != nil {
		t.Architecture = i.Architecture()
	}
	return t, nil
}

// adreno is the model of Qualcomm's GPUs, which stands in the version only: their name is the same for all.
var adreno = regexp.MustCompile(`Adreno\(TM\) \w+`)

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
