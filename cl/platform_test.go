package cl_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/internal/standin"
)

func TestPlatforms(t *testing.T) {
	testDevice(t)
	platforms := must(cl.Platforms())(t)
	again := must(cl.Platforms())(t)
	for i, p := range platforms {
		if p != again[i] {
			t.Errorf("%s is not the same platform the second time", p)
		}
		info := must(p.Info())(t)
		if info.Name == "" || !strings.HasPrefix(info.Version, "OpenCL ") {
			t.Errorf("incomplete: %+v", info)
		}
		t.Logf("%+v", info)
		devices := must(p.Devices(cl.DeviceAll))(t)
		for _, d := range devices {
			if d.Platform() != p {
				t.Errorf("%s does not know its platform", d)
			}
		}
	}
}

// TestListingAtOnce lists devices in several threads, which are the first to do so.
func TestListingAtOnce(t *testing.T) {
	if !standin.OnPoCL(t) {
		return
	}
	start := make(chan struct{})
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			<-start
			if _, err := cl.Devices(cl.DeviceAll); err != nil {
				t.Error(err)
			}
		})
	}
	close(start)
	all.Wait()
}

// A platform without devices of a type gives none, and no error.
func TestPlatformWithoutDevices(t *testing.T) {
	testDevice(t)
	for _, p := range must(cl.Platforms())(t) {
		devices, err := p.Devices(cl.DeviceAccelerator)
		if err != nil {
			t.Errorf("%s: %v", p, err)
		}
		for _, d := range devices {
			if info := must(d.Info())(t); info.Type&cl.DeviceAccelerator == 0 {
				t.Errorf("%s is a %s", d, info.Type)
			}
		}
	}
	if _, err := (*cl.Platform)(nil).Devices(cl.DeviceAll); !errors.Is(err, cl.InvalidPlatform) {
		t.Errorf("nil platform: %v", err)
	}
	if _, err := (*cl.Device)(nil).Info(); !errors.Is(err, cl.InvalidDevice) {
		t.Errorf("nil device: %v", err)
	}
}

func TestDeviceInfo(t *testing.T) {
	testDevice(t)
	for _, d := range must(cl.Devices(cl.DeviceAll))(t) {
		info := must(d.Info())(t)
		t.Logf("%+v", info)
		if info != must(d.Info())(t) {
			t.Error("Info is not cached")
		}
		if info.Name == "" || info.Vendor == "" || info.DriverVersion == "" || info.Version == "" {
			t.Errorf("incomplete: %+v", info)
		}
		if strings.ContainsRune(info.Name, 0) {
			t.Errorf("name %q", info.Name)
		}
		if info.ComputeUnits < 1 || info.MaxWorkGroupSize < 1 || len(info.MaxWorkItemSizes) < 3 ||
			info.GlobalMemSize < info.MaxAllocSize || info.MaxAllocSize < 1 || info.LocalMemSize < 1 ||
			info.BaseAddressAlign < 1 || info.NativeVectorWidth.Float < 1 {
			t.Errorf("no such device: %+v", info)
		}
		if info.HasExtension("cl_khr_fp64") != (info.DoubleFP != 0) {
			t.Errorf("double precision: %#x", uint64(info.DoubleFP))
		}
		if (info.NVIDIA != nil) != info.HasExtension("cl_nv_device_attribute_query") {
			t.Errorf("NVIDIA: %+v", info.NVIDIA)
		}
		if info.NVIDIA != nil {
			t.Logf("%+v %v %v", *info.NVIDIA, info.PCI, info.UUID)
			if info.NVIDIA.WarpSize != 32 || info.NVIDIA.ComputeCapabilityMajor < 2 || info.PCI == nil || info.UUID == nil {
				t.Errorf("NVIDIA: %+v, PCI %v, UUID %v", info.NVIDIA, info.PCI, info.UUID)
			}
		}
	}
}

func TestDeviceTypeNames(t *testing.T) {
	for _, c := range []struct {
		t    cl.DeviceType
		want string
	}{
		{0, "none"}, {cl.DeviceCPU, "CPU"}, {cl.DeviceAll, "all"},
		{cl.DeviceDefault | cl.DeviceGPU, "default|GPU"}, {1 << 9, "0x200"},
	} {
		if got := c.t.String(); got != c.want {
			t.Errorf("%#x: %q, want %q", uint64(c.t), got, c.want)
		}
	}
}
