package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
)

// A Kind is the devices of one kind in a fleet. They share a search.
type Kind struct {
	Identity hardware.Device // of the first one, with the peaks that any machine knows
	Devices  []Announcement
}

// kindsOf returns the kinds of devices, in the order of their first device.
func kindsOf(all []Announcement) (kinds []Kind) {
	for _, a := range all {
		a.Device.Timer = ""
		i := slices.IndexFunc(kinds, func(k Kind) bool { return hardware.SameModel(k.Identity, a.Device) == nil })
		if i < 0 {
			i = len(kinds)
			kinds = append(kinds, Kind{Identity: a.Device})
		}
		kinds[i].Devices = append(kinds[i].Devices, a)
		kinds[i].Identity.Peaks = cmp.Or(kinds[i].Identity.Peaks, a.Device.Peaks)
	}
	return kinds
}

// Listed returns kinds in the form of a machine's devices, for selectors: the index is that of the kind.
func Listed(kinds []Kind) (all []device.Listed) {
	ofCUDA := 0
	for i, k := range kinds {
		l := device.Listed{Index: i, Platform: i, Name: k.Identity.Name, Type: k.Identity.Type, Identity: &k.Identity}
		if k.Identity.IsCUDA() {
			l.Platform, l.Place = device.CUDAPlatform, ofCUDA
			ofCUDA++
		}
		all = append(all, l)
	}
	return all
}

// Kinds returns the kinds of devices that are in the fleet. With a number of agents, it waits until there are as many. Note gets a sentence
// for the user then.
func (c *Connection) Kinds(ctx context.Context, agents int, note func(text string)) ([]Kind, error) {
	for before := -1; ; {
		all, err := c.Devices(ctx)
		if err != nil {
			return nil, err
		}
		there := map[string]bool{} // processes
		for _, a := range all {
			there[fmt.Sprint(a.Machine, "/", a.Process)] = true
		}
		switch {
		case agents == 0 && len(all) == 0:
			return nil, errors.New("the fleet has no device: start an agent there (ndtune agent --fleet URL)")
		case agents == 0, len(there) >= agents && len(all) == before: // an agent announces its devices one after the other
			return kindsOf(all), nil
		case len(there) < agents && len(all) != before:
			note(fmt.Sprintf("Waiting for %s; the fleet has %d.", figure.Count(agents, "agent"), len(there)))
		}
		before = len(all)
		if err := pause(ctx, 500*time.Millisecond); err != nil {
			return nil, err
		}
	}
}
