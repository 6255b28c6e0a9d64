package device

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/tune"
)

// insteadOfUnlike is what to do where the devices of one search are of several models.
const insteadOfUnlike = "tune each by itself and compare them, with ndtune compare"

// SelectAlike chooses the devices that share one search, which are all of one model, on one
// platform, with one driver. The selector is one of these, or several with commas between them:
//
//   - cpu, gpu or accelerator: the first device of that type and all that are like it;
//   - any other that [Select] takes: that one device. An empty selector is one device too.
//
// A selector with a comma that is part of a device's name means that device, as in Select.
//
// The devices come in the order in which the selector names them, so that the first is the
// one that Select gives for the first name, and each comes once, also where several listings
// of one card are named. Devices that are not alike are refused with a [SelectionError].
func SelectAlike(devices []Listed, selector string) ([]Listed, error) {
	return selectAlike(devices, selector, func(l Listed) (tune.Device, error) { return Describe(l.Device) })
}

// A describer finds out what a listed device is.
type describer func(Listed) (tune.Device, error)

func selectAlike(devices []Listed, selector string, describe describer) ([]Listed, error) {
	names, err := splitSelector(devices, selector)
	if err != nil {
		return nil, err
	}
	var chosen []Listed
	for _, name := range names {
		more, err := expand(devices, name, describe)
		if err != nil {
			return nil, err
		}
		for _, l := range more {
			if !slices.Contains(chosen, l) {
				chosen = append(chosen, l)
			}
		}
	}
	if len(chosen) == 1 {
		return chosen, nil
	}
	described, err := describeAll(chosen, describe)
	if err != nil {
		return nil, err
	}
	for i, d := range described {
		if err := sameModel(described[0], d); err != nil {
			return nil, &SelectionError{selector, fmt.Sprintf("one search runs on devices of one model only, but %s and %s differ: %v; %s",
				chosen[0].Selector(), chosen[i].Selector(), err, insteadOfUnlike), devices}
		}
	}
	return oneOfEachCard(chosen, described), nil
}

// splitSelector is the selectors of a list.
func splitSelector(devices []Listed, selector string) ([]string, error) {
	names := strings.Split(selector, ",")
	if len(names) == 1 {
		return names, nil
	}
	for i, name := range names {
		if strings.TrimSpace(name) == "" {
			return nil, &SelectionError{selector, fmt.Sprintf("no device is named at place %d of the list", i+1), devices}
		}
	}
	if _, err := Select(devices, selector); err == nil {
		return []string{selector}, nil
	}
	return names, nil
}

// expand is the devices that one selector means. A device that fails to describe itself is
// not like another.
func expand(devices []Listed, selector string, describe describer) ([]Listed, error) {
	first, err := Select(devices, selector)
	if err != nil {
		return nil, err
	}
	chosen := []Listed{first}
	if !isType(normal(selector)) {
		return chosen, nil
	}
	similar := slices.DeleteFunc(slices.Clone(devices), func(l Listed) bool {
		return l == first || l.Platform != first.Platform || l.Type != first.Type || l.Name != first.Name
	})
	if len(similar) == 0 {
		return chosen, nil
	}
	model, err := describeAll(chosen, describe)
	if err != nil {
		return nil, err
	}
	for _, l := range similar {
		if d, err := describe(l); err == nil && sameModel(model[0], d) == nil {
			chosen = append(chosen, l)
		}
	}
	return chosen, nil
}

func describeAll(devices []Listed, describe describer) ([]tune.Device, error) {
	var all []tune.Device
	for _, l := range devices {
		d, err := describe(l)
		if err != nil {
			return nil, fmt.Errorf("device %s: %w", l.Selector(), err)
		}
		all = append(all, d)
	}
	return all, nil
}

// sameModel tells whether two devices can share a search: they are of one kind, and compile
// the same OpenCL. Otherwise it says what differs.
func sameModel(a, b tune.Device) error {
	if err := a.SameKind(b); err != nil {
		return err
	}
	if a.Type != b.Type {
		return fmt.Errorf("type %q, not %q", a.Type, b.Type)
	}
	if v, w := strings.TrimSpace(a.Version), strings.TrimSpace(b.Version); v != w {
		return fmt.Errorf("version %q, not %q", v, w)
	}
	return nil
}

// oneOfEachCard leaves out the devices that sit on the card of an earlier one: two
// measurements at a time on one card disturb each other.
func oneOfEachCard(devices []Listed, described []tune.Device) []Listed {
	var kept []Listed
	for i, l := range devices {
		if !slices.ContainsFunc(described[:i], func(d tune.Device) bool { return sameCard(d, described[i]) }) {
			kept = append(kept, l)
		}
	}
	return kept
}

// sameCard tells whether two devices are known to be one card, by the PCI address or by the
// UUID. Devices that report neither may be two.
func sameCard(a, b tune.Device) bool {
	same := func(a, b string) bool { return a == b && filledIn(a) != "" }
	return same(a.PCI, b.PCI) || same(a.UUID, b.UUID)
}
