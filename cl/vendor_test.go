package cl

import (
	"encoding/binary"
	"testing"
)

// answers is a device that answers some questions and fails at all others.
func answers(a map[uint32][]byte) query {
	return func(param uint32) ([]byte, error) {
		if data, ok := a[param]; ok {
			return data, nil
		}
		return nil, InvalidValue
	}
}

func u32(list ...uint32) []byte {
	var data []byte
	for _, n := range list {
		data = binary.NativeEndian.AppendUint32(data, n)
	}
	return data
}

func TestAMDDevice(t *testing.T) {
	topology := u32(1, 0, 0, 0, 0, 0)
	topology[21], topology[22], topology[23] = 0xc3, 0, 1
	info := &DeviceInfo{Extensions: []string{"cl_khr_fp64", "cl_amd_device_attribute_query"}}
	info.readVendor(answers(map[uint32][]byte{
		0x4037: topology,
		0x4038: []byte("AMD Radeon PRO W7900\x00\x00"),
		0x4043: u32(32),
		0x404A: u32(11),
		0x404B: nil, // success, and nothing said
	}))
	if want := (AMDInfo{BoardName: "AMD Radeon PRO W7900", WavefrontWidth: 32, GFXIPMajor: 11}); info.AMD == nil || *info.AMD != want {
		t.Errorf("%+v", info.AMD)
	}
	if info.PCI == nil || info.PCI.String() != "0000:c3:00.1" {
		t.Errorf("PCI %v", info.PCI)
	}
	if info.NVIDIA != nil || info.Intel != nil || info.UUID != nil {
		t.Errorf("of other vendors: %+v", info)
	}
}

func TestNVIDIADevice(t *testing.T) {
	info := &DeviceInfo{Extensions: []string{"cl_nv_device_attribute_query", "cl_khr_device_uuid"}}
	uuid := make([]byte, 16)
	for i := range uuid {
		uuid[i] = byte(i)
	}
	info.readVendor(answers(map[uint32][]byte{
		0x4000: u32(9),
		0x4003: u32(32),
		0x4008: u32(0x65),
		0x4009: u32(6),
		0x400A: u32(2),
		0x106A: uuid,
	}))
	if info.NVIDIA == nil || info.NVIDIA.ComputeCapabilityMajor != 9 || info.NVIDIA.WarpSize != 32 {
		t.Errorf("%+v", info.NVIDIA)
	}
	if info.PCI == nil || info.PCI.String() != "0002:65:06.0" {
		t.Errorf("PCI %v", info.PCI)
	}
	if info.UUID == nil || info.UUID.String() != "00010203-0405-0607-0809-0a0b0c0d0e0f" {
		t.Errorf("UUID %v", info.UUID)
	}
}

func TestIntelDevice(t *testing.T) {
	info := &DeviceInfo{Extensions: []string{"cl_intel_device_attribute_query", "cl_khr_pci_bus_info"}}
	info.readVendor(answers(map[uint32][]byte{
		0x410F: u32(2, 0x65, 6, 1),
		0x4250: u32(12<<22 | 60<<14 | 7),
	}))
	if info.Intel == nil || info.Intel.Architecture() != "12.60.7" {
		t.Errorf("%+v", info.Intel)
	}
	if info.PCI == nil || info.PCI.String() != "0002:65:06.1" {
		t.Errorf("PCI %v", info.PCI)
	}
}

func TestDeviceThatAnswersNothing(t *testing.T) {
	info := &DeviceInfo{Extensions: []string{"cl_khr_pci_bus_info", "cl_khr_device_uuid", "cl_amd_device_attribute_query"}}
	info.readVendor(answers(nil))
	if info.PCI != nil || info.UUID != nil || info.AMD == nil || info.AMD.BoardName != "" {
		t.Errorf("%+v", info)
	}
}

// A device that answers the question of all vendors and NVIDIA's says the same twice.
func TestPCIAddressesAgree(t *testing.T) {
	devices, err := Devices(DeviceAll)
	if err != nil {
		t.Skip(err)
	}
	compared := 0
	for _, d := range devices {
		info, err := d.Info()
		if err != nil || info.NVIDIA == nil || !info.HasExtension("cl_khr_pci_bus_info") {
			continue
		}
		q := queryOf(&openCL.clGetDeviceInfo, d.id)
		khr, nvidia := pciOfKHR(q), pciOfNVIDIA(q)
		if khr == nil || nvidia == nil || *khr != *nvidia {
			t.Errorf("%s: %v, by NVIDIA's extension %v", d, khr, nvidia)
		}
		compared++
	}
	if compared == 0 {
		t.Skip("no NVIDIA device")
	}
}

func TestArchitecture(t *testing.T) {
	for name, want := range map[string]string{
		"gfx90a:sramecc+:xnack-": "gfx90a", "gfx1100": "gfx1100", " gfx942 ": "gfx942",
		"Ellesmere": "gfx8.0", "gfx": "gfx8.0", "gfx-next": "gfx8.0", "": "gfx8.0",
	} {
		if got := (&AMDInfo{GFXIPMajor: 8}).Architecture(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := (&AMDInfo{}).Architecture("Tahiti"); got != "" {
		t.Errorf("a device that reports no version: %q", got)
	}
	for version, want := range map[uint32]string{0: "", 12<<22 | 60<<14 | 7: "12.60.7", 20<<22 | 1<<14 | 0x2a3f: "20.1.63"} {
		if got := (&IntelInfo{IPVersion: version}).Architecture(); got != want {
			t.Errorf("%#x: %q, want %q", version, got, want)
		}
	}
}
