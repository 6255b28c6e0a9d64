package device

import (
	"slices"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
)

// AllDevices is what [SelectEach] takes for every device of the machine.
const AllDevices = "all"

// SelectEach chooses devices that are each used by itself, whatever they are. The selector is one
// of these, or several with commas between them:
//
//   - all: every device;
//   - cpu, gpu or accelerator: every device of that type;
//   - any other that [Select] takes: that one device.
//
// A selector with a comma that is part of a device's name means that device, as in Select. The
// devices come in the order in which the selector names them, each once. Of several listings of
// one card on one platform the first is taken.
func SelectEach(devices []Listed, selector string) ([]Listed, error) {
	return selectEach(devices, selector, func(l Listed) (tune.Device, error) { return Describe(l.Device) })
}

func selectEach(devices []Listed, selector string, describe describer) ([]Listed, error) {
	if len(devices) == 0 {
		return nil, cl.ErrNoDevice
	}
	names, err := splitSelector(devices, selector)
	if err != nil {
		return nil, err
	}
	var chosen []Listed
	for _, name := range names {
		kind := normal(name)
		more := slices.DeleteFunc(slices.Clone(devices), func(l Listed) bool { return kind != AllDevices && l.Type != kind })
		if kind != AllDevices && (!isType(kind) || len(more) == 0) {
			one, err := Select(devices, name)
			if err != nil {
				return nil, err
			}
			more = []Listed{one}
		}
		for _, l := range more {
			if !slices.Contains(chosen, l) {
				chosen = append(chosen, l)
			}
		}
	}
	return oneListingOfEach(chosen, describe), nil
}

// oneListingOfEach leaves out the devices that are the card of an earlier one of the same
// platform. One that fails to describe itself is like no other.
func oneListingOfEach(devices []Listed, describe describer) []Listed {
	var kept []Listed
	var described []tune.Device
	for _, l := range devices {
		d, err := describe(l)
		again := slices.ContainsFunc(described, func(e tune.Device) bool {
			return err == nil && e.Platform == d.Platform && sameCard(e, d)
		})
		if again {
			continue
		}
		kept = append(kept, l)
		described = append(described, d)
	}
	return kept
}
