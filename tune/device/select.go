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

// A Listed device is one of the machine's devices with the names by which it can be chosen.
type Listed struct {
	Index    int // among all devices of the machine
	Platform int
	Place    int // within its platform
	Device   *cl.Device
	Name     string
	Type     string
}

// Selector is the «platform:device» form that always means this device.
func (l Listed) Selector() string { return fmt.Sprintf("%d:%d", l.Platform, l.Place) }

// List is all devices of the machine in the order of their platforms. Platforms without
// devices have none, which is no error; no device at all is cl.ErrNoDevice. A platform or a
// device that fails to describe itself is passed over while there is another.
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

// A SelectionError says that no device, or more than one, is what was asked for.
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

// Select chooses a device: by its index among all, by «platform:device», by cpu or gpu, or
// by its name or a part of it without regard to case. An empty selector is the first GPU,
// else the first device. Cpu and gpu choose the first of their kind; a part of a name must
// fit devices of one name only, of which the first is chosen. A number that is no index must
// be a whole word of a name, as 4090 is of «GeForce RTX 4090». A list of several devices is
// for [SelectAlike].
func Select(devices []Listed, selector string) (Listed, error) {
	refuse := func(format string, args ...any) (Listed, error) {
		return Listed{}, &SelectionError{selector, fmt.Sprintf(format, args...), devices}
	}
	if len(devices) == 0 {
		return Listed{}, cl.ErrNoDevice
	}
	first := func(kind string) (Listed, bool) {
		for _, l := range devices {
			if l.Type == kind {
				return l, true
			}
		}
		return Listed{}, false
	}
	switch s := normal(selector); {
	case s == "":
		if l, ok := first("gpu"); ok {
			return l, nil
		}
		return devices[0], nil
	case isType(s):
		if l, ok := first(s); ok {
			return l, nil
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
		for _, l := range devices {
			if l.Selector() == s {
				return l, nil
			}
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

// onlyName is the first of the devices found, which must all have one name.
func onlyName(found []Listed, refuse func(string, ...any) (Listed, error)) (Listed, error) {
	for _, l := range found[1:] {
		if l.Name != found[0].Name {
			return refuse("%d devices have that in their names; say which", len(found))
		}
	}
	return found[0], nil
}

// normal is a selector without regard to case and to the spaces around it.
func normal(selector string) string { return strings.ToLower(strings.TrimSpace(selector)) }

func isType(s string) bool { return s == "cpu" || s == "gpu" || s == "accelerator" }

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// hasWord tells whether a name has a word: the letters and digits between other characters.
func hasWord(name, word string) bool {
	between := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	return slices.Contains(strings.FieldsFunc(name, between), word)
}

func isPair(s string) bool {
	a, b, ok := strings.Cut(s, ":")
	return ok && isNumber(a) && isNumber(b)
}

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
	return selectAlike(devices, selector, func(l Listed) (hardware.Device, error) { return Describe(l.Device) })
}

// A describer finds out what a listed device is.
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
	return oneOfEachCard(chosen, described), nil
}

// chooseAll returns the devices that the selectors of a list mean, each once.
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

// oneOfEachCard leaves out the devices that sit on the card of an earlier one: two
// measurements at a time on one card disturb each other.
func oneOfEachCard(devices []Listed, described []hardware.Device) []Listed {
	var kept []Listed
	for i, l := range devices {
		if !slices.ContainsFunc(described[:i], func(d hardware.Device) bool { return hardware.SameCard(d, described[i]) }) {
			kept = append(kept, l)
		}
	}
	return kept
}

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

// oneListingOfEach leaves out the devices that are the card of an earlier one of the same
// platform. One that fails to describe itself is like no other.
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
