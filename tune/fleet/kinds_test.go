package fleet

import (
	"testing"

	"github.com/ndtune/ndtune/tune/hardware"
)

// A kind has the peaks that any of its machines knows, and the devices of another kind have none of them.
func TestKindsHavePeaks(t *testing.T) {
	peaks := &hardware.Peaks{Method: 3}
	known, other := gpu, gpu
	known.Peaks, other.Name = peaks, "another"
	kinds := kindsOf([]Announcement{{Machine: "a", Device: gpu}, {Machine: "b", Device: other}, {Machine: "c", Device: known}})
	if len(kinds) != 2 || len(kinds[0].Devices) != 2 || kinds[0].Identity.Peaks != peaks || kinds[1].Identity.Peaks != nil {
		t.Errorf("%+v", kinds)
	}
	if all := Listed(kinds); all[0].Identity.Peaks != peaks {
		t.Errorf("%+v", all)
	}
}
