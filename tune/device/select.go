package device

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/ndtune/ndtune/cl"
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
