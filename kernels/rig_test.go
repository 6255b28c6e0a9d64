package kernels_test

import (
	"os"
	"testing"
	"unsafe"

	"github.com/ndtune/ndtune/cl"
)

// testDevice returns the first GPU, or else the first device. Without one the
// test is skipped, or fails where NDTUNE_REQUIRE_OPENCL is set.
func testDevice(t *testing.T) *cl.Device {
	t.Helper()
	devices, err := cl.Devices(cl.DeviceAll)
	if err != nil {
		if os.Getenv("NDTUNE_REQUIRE_OPENCL") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	for _, d := range devices {
		if info, err := d.Info(); err == nil && info.Type&cl.DeviceGPU != 0 {
			return d
		}
	}
	return devices[0]
}

// asBytes returns the memory of s.
func asBytes(s []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), 4*len(s))
}
