package session

import (
	"errors"
	"testing"

	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/fleet"
	"github.com/ndtune/ndtune/tune/hardware"
)

func TestNoLimit(t *testing.T) {
	why := errors.New("no such thing")
	for want, c := range map[string]struct {
		place    Place
		measured bool
	}{
		"No % of limit: no such thing (ndtune devices --peak measures them)": {},
		"No % of limit: no such thing":                                       {measured: true},
		"No % of limit: no such thing (ndtune devices --peak on a machine that has the device measures them, for agents that start later)": {
			place: Place{Fleet: &fleet.Connection{}}},
	} {
		s := &Session{place: c.place}
		if got := s.noLimit(why, c.measured); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// The peaks of a device of another machine are those that came with its description.
func TestDescribeADeviceOfAFleet(t *testing.T) {
	d := hardware.Device{Name: "there", Peaks: &hardware.Peaks{Method: 3}}
	if got := Describe(device.Listed{Identity: &d}, func(text string) { t.Error(text) }); got.Peaks != d.Peaks {
		t.Errorf("%+v", got)
	}
}
