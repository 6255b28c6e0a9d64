package tune

import (
	"slices"
	"testing"

	"github.com/ndtune/ndtune/tune/hardware"
)

func TestMissingReadings(t *testing.T) {
	d := hardware.Device{Instruments: []hardware.Instrument{{Quantity: hardware.Clock, Missing: "no clock"}, {Quantity: hardware.Energy, Source: "counter"}}}
	clock := hardware.MissingReading(hardware.Clock, "no clock")
	results := []Result{
		{Readings: []hardware.Reading{{Quantity: hardware.Energy, Value: 1}, clock}},
		{Readings: []hardware.Reading{hardware.MissingReading(hardware.Energy, "the window is too short."), clock}},
		{Readings: []hardware.Reading{hardware.MissingReading(hardware.Energy, "the device is lost"), clock}},
		{},
	}
	want := []string{"energy is missing in 2 of 4 results, in the first of them because the window is too short"}
	if got := Notices(results, d); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
