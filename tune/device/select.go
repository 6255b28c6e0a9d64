package device

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune/hardware"
)

// A Listed is a device of the machine, with the numbers and names that select it.
type Listed struct {
	Index    int // among all devices of the machine
	Platform int
	Place    int // in its platform
	Device   *cl.Device
	Name     string
	Type     string
}

// Selector returns the selector platform:device, which selects this device only.
func (l Listed) Selector() string { return fmt.Sprintf("%d:%d", l.Platform, l.Place) }

// List returns all devices of the machine in the order of their platforms. The error is cl.ErrNoDevice
// if there are none. A platform or device that fails to describe itself is left out if there are
// others.
func List() ([]Listed, error) {
	platforms, err := cl.Platforms()
	if err != nil {
		return nil, err
	}
	var all []Listed
	var failed []error
	for i, p := range platforms {
		devices, err := p.Devices(cl.DeviceAll)
		if err != nil {
			failed = append(failed, fmt.Errorf("list the devices of platform %d: %w", i, err))
			continue
		}
		for j, d := range devices {
			info, err := d.Info()
			if err != nil {
				failed = append(failed, fmt.Errorf("describe device %d:%d: %w", i, j, err))
				continue
			}
			all = append(all, Listed{len(all), i, j, d, info.Name, typeName(info.Type)})
		}
	}
	if len(all) > 0 {
		return all, nil
	}
	if len(failed) > 0 {
		return nil, errors.Join(failed...)
	}
	return nil, cl.ErrNoDevice
}

// A SelectionError is the error of a selector that selects no device, or too many.
type SelectionError struct {
	Selector string
	Problem  string
	Devices  []Listed
}

func (e *SelectionError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "device %q: %s; there are:", e.Selector, e.Problem)
	for _, l := range e.Devices {
		fmt.Fprintf(&b, "\n  %d  %s  %s (%s)", l.Index, l.Selector(), l.Name, l.Type)
	}
	return b.String()
}

// Select selects a device. The selector, whose case does not matter, is one of these:
//
//   - empty: the first GPU, or else the first device;
//   - an index of devices, or platform:device;
//   - cpu, gpu or accelerator: the first device of that type;
//   - a name or a part of it: the first of the devices that have it in their names, which must all
//     have the same name;
//   - a number that is no index: likewise, but it must be a whole word of the name, as 4090 is of
//     "GeForce RTX 4090".
//
// Lists of devices are for [SelectAlike] and [SelectEach].
func Select(devices []Listed, selector string) (Listed, error) {
	refuse := func(format string, args ...any) (Listed, error) {
		return Listed{}, &SelectionError{selector, fmt.Sprintf(format, args...), devices}
	}
	if len(devices) == 0 {
		return Listed{}, cl.ErrNoDevice
	}
	first := func(kind string) int { return slices.IndexFunc(devices, func(l Listed) bool { return l.Type == kind }) }
	switch s := normal(selector); {
	case s == "":
		return devices[max(0, first("gpu"))], nil
	case isType(s):
		if i := first(s); i >= 0 {
			return devices[i], nil
		}
		return refuse("no device is of that type")
	case isNumber(s):
		if i, err := strconv.Atoi(s); err == nil && i < len(devices) {
			return devices[i], nil
		}
		found := slices.DeleteFunc(slices.Clone(devices), func(l Listed) bool { return !hasWord(l.Name, s) })
		if len(found) == 0 {
			return refuse("the number is neither an index nor a whole word of a device's name")
		}
		return onlyName(found, refuse)
	case isPair(s):
		if i := slices.IndexFunc(devices, func(l Listed) bool { return l.Selector() == s }); i >= 0 {
			return devices[i], nil
		}
		return refuse("there is no such platform and device")
	case strings.Contains(s, ","):
		if l, err := selectByName(devices, s, refuse); err == nil {
			return l, nil
		}
		return refuse("one device is wanted here, not a list")
	default:
		return selectByName(devices, s, refuse)
	}
}

// selectByName selects a device by its name or a part of it.
func selectByName(devices []Listed, part string, refuse func(string, ...any) (Listed, error)) (Listed, error) {
	var found []Listed
	for _, l := range devices {
		name := strings.ToLower(l.Name)
		if name == part {
			return l, nil
		}
		if strings.Contains(name, part) {
			found = append(found, l)
		}
	}
	if len(found) == 0 {
		return refuse("no device has that in its name")
	}
	return onlyName(found, refuse)
}

// onlyName returns the first of the devices, which must all have the same name.
func onlyName(found []Listed, refuse func(string, ...any) (Listed, error)) (Listed, error) {
	for _, l := range found[1:] {
		if l.Name != found[0].Name {
			return refuse("%d devices have that in their names; say which", len(found))
		}
	}
	return found[0], nil
}

// normal returns a selector in lower case, without surrounding spaces.
func normal(selector string) string { return strings.ToLower(strings.TrimSpace(selector)) }

func isType(s string) bool { return s == "cpu" || s == "gpu" || s == "accelerator" }

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// hasWord reports whether a name has a word: letters and digits between other characters.
func hasWord(name, word string) bool {
	between := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	return slices.Contains(strings.FieldsFunc(name, between), word)
}

func isPair(s string) bool {
	a, b, ok := strings.Cut(s, ":")
	return ok && isNumber(a) && isNumber(b)
}

// insteadOfUnlike is the advice for devices of several models.
const insteadOfUnlike = "tune each by itself and compare them, with ndtune compare"

// SelectAlike selects the devices that share one search, which must be of one model, on one platform,
// with one driver. The selector is one of these, or a list of them, separated by commas:
//
//   - cpu, gpu or accelerator: the first device of that type, and all devices of its model;
//   - any other selector of [Select], also an empty one: one device.
//
// If a device has the whole selector in its name, comma included, it is selected, as by Select.
//
// The devices have the order of the selectors, so that the first is that of Select for the first
// one. Each card is selected once. The error of devices that are not alike is a [SelectionError].
func SelectAlike(devices []Listed, selector string) ([]Listed, error) {
	return selectAlike(devices, selector, func(l Listed) (hardware.Device, error) { return Describe(l.Device) })
}

// A describer describes a listed device.
type describer func(Listed) (hardware.Device, error)

func selectAlike(devices []Listed, selector string, describe describer) ([]Listed, error) {
	chosen, err := chooseAll(devices, selector, func(name string) ([]Listed, error) { return expand(devices, name, describe) })
	if err != nil || len(chosen) == 1 {
		return chosen, err
	}
	described, err := describeAll(chosen, describe)
	if err != nil {
		return nil, err
	}
	for i, d := range described {
		if err := hardware.SameModel(described[0], d); err != nil {
			return nil, &SelectionError{selector, fmt.Sprintf("one search runs on devices of one model only, but %s and %s differ: %v; %s",
				chosen[0].Selector(), chosen[i].Selector(), err, insteadOfUnlike), devices}
		}
	}
	return oneListingOfEach(chosen, describe), nil
}

// chooseAll returns the devices of a list of selectors, each once.
func chooseAll(devices []Listed, selector string, expand func(name string) ([]Listed, error)) ([]Listed, error) {
	names, err := splitSelector(devices, selector)
	if err != nil {
		return nil, err
	}
	var chosen []Listed
	for _, name := range names {
		more, err := expand(name)
		if err != nil {
			return nil, err
		}
		for _, l := range more {
			if !slices.Contains(chosen, l) {
				chosen = append(chosen, l)
			}
		}
	}
	return chosen, nil
}

// splitSelector returns the selectors of a list.
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

// expand returns the devices of one selector of SelectAlike. A device that fails to describe itself is
// not like another one.
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
		if d, err := describe(l); err == nil && hardware.SameModel(model[0], d) == nil {
			chosen = append(chosen, l)
		}
	}
	return chosen, nil
}

func describeAll(devices []Listed, describe describer) ([]hardware.Device, error) {
	var all []hardware.Device
	for _, l := range devices {
		d, err := describe(l)
		if err != nil {
			return nil, fmt.Errorf("device %s: %w", l.Selector(), err)
		}
		all = append(all, d)
	}
	return all, nil
}

// AllDevices is the selector of [SelectEach] for every device of the machine.
const AllDevices = "all"

// SelectEach selects devices that are used separately, and may differ. The selector is one of these, or
// a list of them, separated by commas:
//
//   - all: every device;
//   - cpu, gpu or accelerator: every device of that type;
//   - any other selector of [Select]: one device.
//
// If a device has the whole selector in its name, comma included, it is selected, as by Select. The
// devices have the order of the selectors. Each is selected once, and a card once on each platform.
func SelectEach(devices []Listed, selector string) ([]Listed, error) {
	return selectEach(devices, selector, func(l Listed) (hardware.Device, error) { return Describe(l.Device) })
}

func selectEach(devices []Listed, selector string, describe describer) ([]Listed, error) {
	if len(devices) == 0 {
		return nil, cl.ErrNoDevice
	}
	chosen, err := chooseAll(devices, selector, func(name string) ([]Listed, error) {
		kind := normal(name)
		of := slices.DeleteFunc(slices.Clone(devices), func(l Listed) bool { return kind != AllDevices && l.Type != kind })
		if kind == AllDevices || isType(kind) && len(of) > 0 {
			return of, nil
		}
		one, err := Select(devices, name)
		return []Listed{one}, err
	})
	if err != nil {
		return nil, err
	}
	return oneListingOfEach(chosen, describe), nil
}

// oneListingOfEach leaves out further listings of a card on one platform, since simultaneous
// measurements on one card disturb each other. A device that fails to describe itself is kept.
func oneListingOfEach(devices []Listed, describe describer) []Listed {
	var kept []Listed
	var described []hardware.Device
	for _, l := range devices {
		d, err := describe(l)
		again := slices.ContainsFunc(described, func(e hardware.Device) bool {
			return err == nil && e.Platform == d.Platform && hardware.SameCard(e, d)
		})
		if again {
			continue
		}
		kept = append(kept, l)
		described = append(described, d)
	}
	return kept
}
