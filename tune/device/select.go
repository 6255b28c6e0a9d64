package device

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/source"
)

// A Listed is a device of the machine, with the numbers and names that select it.
type Listed struct {
	Index    int // among the devices of the list
	Platform int // of OpenCL, or CUDAPlatform
	Place    int // in its platform
	Device   *cl.Device
	Name     string
	Type     string
	Identity *hardware.Device // as Describe returns it
}

// CUDAPlatform is the Platform of the devices of CUDA, which is none of OpenCL's.
const CUDAPlatform = -1

// Selector returns the selector platform:device, which selects this device only: «0:1», «cuda:0».
func (l Listed) Selector() string {
	if l.isOfCUDA() {
		return fmt.Sprintf("%s:%d", source.CUDA, l.Place)
	}
	return fmt.Sprintf("%d:%d", l.Platform, l.Place)
}

// Visible returns the value of the variable CUDA_VISIBLE_DEVICES with which the driver of CUDA sees this device alone, so that a context is
// faster to make; "" for other devices, and if it is the only one. The driver does not find a part of a card (MIG) by such a UUID.
func (l Listed) Visible() string {
	all, _ := l.Device.Platform().Devices(cl.DeviceAll)
	if d := l.Identity; l.isOfCUDA() && len(all) > 1 && d.UUID != "" && !strings.Contains(d.Name, "MIG") {
		return "GPU-" + d.UUID
	}
	return ""
}

func (l Listed) isOfCUDA() bool { return l.Platform == CUDAPlatform }

// LanguageOf returns the language of the kernels that a device takes.
func LanguageOf(d hardware.Device) source.Language {
	if d.IsCUDA() {
		return source.CUDA
	}
	return source.OpenCL
}

// For returns the devices that take kernels in one of some languages; none is named: all.
func For(devices []Listed, languages ...source.Language) []Listed {
	return slices.DeleteFunc(slices.Clone(devices), func(l Listed) bool { return !wants(languages, LanguageOf(*l.Identity)) })
}

func wants(languages []source.Language, l source.Language) bool {
	return len(languages) == 0 || slices.Contains(languages, l)
}

// ListFor is [List] for the devices that a selector may mean. An index counts OpenCL's devices, too. If the selector names CUDA, it is an error that
// CUDA is not there, and a [SelectionError] that CUDA C is none of the languages.
func ListFor(selector string, languages ...source.Language) ([]Listed, error) {
	names := strings.Split(selector, ",")
	if slices.ContainsFunc(names, NamesCUDA) {
		if !wants(languages, source.CUDA) {
			return nil, &SelectionError{selector, "the kernel is in OpenCL C, and CUDA takes CUDA C: name another device, or give the kernel a file for each language (docs/cuda.md)", nil}
		}
		if _, err := cl.CUDA(); err != nil {
			return nil, err
		}
		if names = slices.DeleteFunc(names, NamesCUDA); len(names) == 0 && len(languages) > 0 {
			return List(source.CUDA)
		}
	}
	isIndex := func(name string) bool { return isNumber(normal(name)) }
	if !wants(languages, source.OpenCL) && slices.ContainsFunc(names, isIndex) {
		all, _ := List()
		if all = For(all, languages...); len(all) > 0 {
			return all, nil
		}
	}
	return List(languages...)
}

// SelectFor finds a device of this machine that takes kernels in one of some languages, or in any, as [Select] does.
func SelectFor(selector string, languages ...source.Language) (Listed, error) {
	all, err := ListFor(selector, languages...)
	if err != nil {
		return Listed{}, err
	}
	return Select(all, selector)
}

// NamesCUDA reports whether a selector is cuda, or cuda: and a number.
func NamesCUDA(selector string) bool {
	platform, place, pair := strings.Cut(normal(selector), ":")
	return platform == string(source.CUDA) && (!pair || isNumber(place))
}

// List returns the devices of the machine that take kernels in one of some languages, or all: those of OpenCL in the order of their
// platforms, then those of CUDA. It loads no libraries of other languages. If there are no devices, the error says what is missing, for
// all languages as if OpenCL C were meant: cl.ErrNoDevice if there are platforms of OpenCL. A platform or device that fails to describe
// itself is left out if there are others.
func List(languages ...source.Language) ([]Listed, error) {
	var all listing
	if wants(languages, source.OpenCL) {
		platforms, err := cl.Platforms()
		for i, p := range platforms {
			all.add(i, p)
		}
		if err == nil && len(all.devices) == 0 && len(all.failed) == 0 {
			err = withoutDevices(platforms)
		}
		all.failed = append(all.failed, err)
	}
	if wants(languages, source.CUDA) {
		if p, err := cl.CUDA(); err == nil {
			all.add(CUDAPlatform, p)
		} else if len(languages) > 0 {
			all.failed = append(all.failed, err)
		}
	}
	if len(all.devices) > 0 {
		return all.devices, nil
	}
	return nil, errors.Join(all.failed...)
}

// A listing is devices, and why others are not among them.
type listing struct {
	devices []Listed
	failed  []error
}

// add adds the devices of a platform.
func (all *listing) add(platform int, p *cl.Platform) {
	devices, err := p.Devices(cl.DeviceAll)
	if err != nil {
		all.failed = append(all.failed, fmt.Errorf("list the devices of platform %d: %w", platform, err))
	}
	for place, d := range devices {
		identity, err := Describe(d)
		l := Listed{len(all.devices), platform, place, d, identity.Name, identity.Type, &identity}
		if err != nil {
			all.failed = append(all.failed, fmt.Errorf("describe device %s: %w", l.Selector(), err))
			continue
		}
		all.devices = append(all.devices, l)
	}
}

// withoutDevices returns the error of platforms of OpenCL that have no device.
func withoutDevices(platforms []*cl.Platform) error {
	names, advice := make([]string, len(platforms)), ""
	for i, p := range platforms {
		if names[i] = p.String(); names[i] == "Portable Computing Language" {
			advice = "; PoCL has none where it cannot write its cache: name a folder in the environment variable POCL_CACHE_DIR"
		}
	}
	return fmt.Errorf("%w: %s has none%s", cl.ErrNoDevice, strings.Join(names, ", "), advice)
}

// A SelectionError is the error of a selector that selects no device, or too many.
type SelectionError struct {
	Selector string
	Problem  string
	Devices  []Listed // to choose from; none are told
}

func (e *SelectionError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "device %q: %s", e.Selector, e.Problem)
	if len(e.Devices) > 0 {
		b.WriteString("; there are:")
	}
	for _, l := range e.Devices {
		if l.isOfCUDA() {
			fmt.Fprintf(&b, "\n  %s  %s (%s, for CUDA C)", l.Selector(), l.Name, l.Type) // the index may be another one beside OpenCL's devices
			continue
		}
		fmt.Fprintf(&b, "\n  %d  %s  %s (%s)", l.Index, l.Selector(), l.Name, l.Type)
	}
	return b.String()
}

// Select selects a device. The selector, whose case does not matter, is one of these:
//
//   - empty: the first GPU, or else the first device;
//   - an index of devices, or platform:device;
//   - cpu, gpu or accelerator: the first device of that type;
//   - cuda: the first device of CUDA; cuda:device: another one;
//   - a name or a part of it: the first of the devices that have it in their names, which must all
//     have the same name;
//   - a number that is no index: likewise, but it must be a whole word of the name, as 4090 is of
//     "GeForce RTX 4090";
//   - what is in no name: an architecture, or whole words of a platform or vendor, likewise.
//
// Lists of devices are for [SelectAlike] and [SelectEach].
func Select(devices []Listed, selector string) (Listed, error) {
	if len(devices) == 0 {
		return Listed{}, cl.ErrNoDevice
	}
	found, problem := find(devices, selector)
	if problem != "" {
		if strings.Contains(selector, ",") {
			problem = "one device is wanted here, not a list"
		}
		return Listed{}, &SelectionError{selector, problem, devices}
	}
	return found[0], nil
}

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
	chosen, err := findAll(devices, selector, func(name string) ([]Listed, string) {
		found, problem := find(devices, name)
		return slices.DeleteFunc(found, func(l Listed) bool {
			return l.Platform != found[0].Platform || hardware.SameModel(*found[0].Identity, *l.Identity) != nil
		}), problem
	})
	if err != nil {
		return nil, err
	}
	for _, l := range chosen[1:] {
		if err := hardware.SameModel(*chosen[0].Identity, *l.Identity); err != nil {
			return nil, &SelectionError{selector, fmt.Sprintf("one search runs on devices of one model only, but %s and %s differ: %v; %s",
				chosen[0].Selector(), l.Selector(), err, insteadOfUnlike), devices}
		}
	}
	return oneOfEachCard(chosen), nil
}

// insteadOfUnlike is the advice for devices of several models.
const insteadOfUnlike = "tune each by itself and compare them, with ndtune compare"

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
	chosen, err := findAll(devices, selector, func(name string) ([]Listed, string) {
		if normal(name) == AllDevices {
			return devices, ""
		}
		return find(devices, name)
	})
	return oneOfEachCard(chosen), err
}

// find returns the devices that one selector means: several for a type, else one. If there is no
// such device, or the selector is ambiguous, find returns the problem.
func find(devices []Listed, selector string) (found []Listed, problem string) {
	where := func(good func(Listed) bool) []Listed {
		return slices.DeleteFunc(slices.Clone(devices), func(l Listed) bool { return !good(l) })
	}
	s, part := normal(selector), "in their names"
	switch platform, place, pair := strings.Cut(s, ":"); {
	case s == "":
		gpus := where(func(l Listed) bool { return l.Type == "gpu" })
		return append(gpus, devices...)[:1], ""
	case s == "cpu" || s == "gpu" || s == "accelerator":
		if found = where(func(l Listed) bool { return l.Type == s }); len(found) == 0 {
			return nil, "no device is of that type"
		}
		return found, ""
	case NamesCUDA(s):
		if found = where(func(l Listed) bool { return l.isOfCUDA() && (!pair || l.Selector() == s) }); len(found) == 0 {
			return nil, "CUDA has no such device"
		}
	case pair && isNumber(platform) && isNumber(place):
		if found = where(func(l Listed) bool { return l.Selector() == s }); len(found) == 0 {
			return nil, "there is no such platform and device"
		}
	case isNumber(s):
		i, err := strconv.Atoi(s)
		if found = where(func(l Listed) bool { return err == nil && l.Index == i }); len(found) > 0 {
			return found, ""
		}
		if found = where(func(l Listed) bool { return slices.Contains(strings.FieldsFunc(l.Name, isNoWord), s) }); len(found) == 0 {
			return nil, "the number is neither an index nor a whole word of a device's name"
		}
	default:
		if found = where(func(l Listed) bool { return strings.ToLower(l.Name) == s }); len(found) > 0 {
			break
		}
		if found = where(func(l Listed) bool { return strings.Contains(strings.ToLower(l.Name), s) }); len(found) > 0 {
			break
		}
		part = "as their architecture, platform or vendor"
		if found = where(func(l Listed) bool { return isOfKind(l.Identity, s) }); len(found) == 0 {
			return nil, "no device has that in its name"
		}
	}
	if slices.ContainsFunc(found, func(l Listed) bool { return l.Name != found[0].Name }) {
		return nil, fmt.Sprintf("%d devices have that %s; say which", len(found), part)
	}
	return found[:1], ""
}

// normal returns a selector in lower case, without surrounding spaces.
func normal(selector string) string { return strings.ToLower(strings.TrimSpace(selector)) }

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// isOfKind reports whether a selector is the architecture of a device, or words of its platform or vendor with a letter.
func isOfKind(d *hardware.Device, selector string) bool {
	words := func(text string) string {
		return " " + strings.Join(strings.FieldsFunc(strings.ToLower(text), isNoWord), " ") + " "
	}
	return strings.ToLower(d.Architecture) == selector || strings.ContainsFunc(selector, unicode.IsLetter) &&
		(strings.Contains(words(d.Platform), words(selector)) || strings.Contains(words(d.Vendor), words(selector)))
}

// isNoWord reports whether a character separates the words of a name.
func isNoWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// findAll returns the devices that find returns for the selectors of a list, each once.
func findAll(devices []Listed, selector string, find func(name string) ([]Listed, string)) ([]Listed, error) {
	if len(devices) == 0 {
		return nil, cl.ErrNoDevice
	}
	names := strings.Split(selector, ",")
	for i, name := range names {
		if strings.TrimSpace(name) == "" && len(names) > 1 {
			return nil, &SelectionError{selector, fmt.Sprintf("no device is named at place %d of the list", i+1), devices}
		}
	}
	if _, problem := find(selector); problem == "" {
		names = []string{selector}
	}
	var chosen []Listed
	for _, name := range names {
		found, problem := find(name)
		if problem != "" {
			return nil, &SelectionError{name, problem, devices}
		}
		chosen = each.AppendNew(chosen, found...)
	}
	return chosen, nil
}

// oneOfEachCard leaves out further listings of a card on one platform, since simultaneous
// measurements on one card disturb each other.
func oneOfEachCard(devices []Listed) []Listed {
	var kept []Listed
	for i, l := range devices {
		if !slices.ContainsFunc(devices[:i], func(e Listed) bool {
			return e.Identity.Platform == l.Identity.Platform && hardware.SameCard(*e.Identity, *l.Identity)
		}) {
			kept = append(kept, l)
		}
	}
	return kept
}
