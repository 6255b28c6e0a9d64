package wisdom

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
)

// A Level says how near the record of a choice is to the question, from the nearest.
type Level int

// The levels. A later one is used only if there is no record for those before it. Within each but the first,
// the record of the nearest size is chosen.
const (
	SameSize         Level = iota + 1 // the same device, the same size, and no other value of a constant of the query
	SameDevice                        // the same device, by name, vendor and type
	SameArchitecture                  // another device with the same instruction set; never if it is unknown
	SameVendor                        // another device of the same vendor and type
	BestOverall                       // the configuration that is the best over all devices and sizes: see [File.Overall]
)

// levels are the names in JSON, and the texts for people.
var levels = [...]struct{ name, text string }{
	SameSize:         {"same size", "the same device and size"},
	SameDevice:       {"same device", "the same device, nearest size"},
	SameArchitecture: {"same architecture", "a device of the same architecture, nearest size"},
	SameVendor:       {"same vendor", "a device of the same vendor and type, nearest size"},
	BestOverall:      {"best overall", "the best over all devices and sizes"},
}

// String returns the level for people.
func (l Level) String() string { return levels[l].text }

// MarshalText returns the level in JSON.
func (l Level) MarshalText() ([]byte, error) { return []byte(levels[l].name), nil }

// A WeaknessKind is a kind of difference that can make a record less good than its level says.
type WeaknessKind string

// The kinds, from the gravest.
const (
	SourceDiffers   WeaknessKind = "source"     // the kernel's digest is another one, or not recorded
	ConstantsDiffer WeaknessKind = "constants"  // a constant of the query has another value, or is not recorded
	DriverDiffers   WeaknessKind = "driver"     // the driver or the platform is another one, or not recorded
	NotVerified     WeaknessKind = "unverified" // the output was not compared with the expected output
)

// A Weakness is a reason to trust a choice less.
type Weakness struct {
	Kind WeaknessKind `json:"kind"`
	Text string       `json:"text"` // for people, with the values that differ
}

// A Query asks for a configuration.
type Query struct {
	Device       hardware.Device // as device.Describe returns it
	ProblemSize  []int           // one to three positive numbers; missing dimensions are 1
	SourceDigest string          // of the kernel that will run: see [problem.Problem.KernelDigest]; "": any

	// Constants are those that the problem size does not tell and that matter, such as the inner dimension of a
	// matrix multiplication. Those that are not positive do not count.
	Constants map[string]int
}

// A Choice is the answer to a Query.
type Choice struct {
	Record     Record
	Level      Level
	Weaknesses []Weakness // the gravest first
	Overall    *Overall   // of the configuration; nil: the level is not BestOverall
}

// String returns the way in which the record matches, for people: «the same device, nearest size
// 2048×2048; the driver was 550.54, and is 570.1».
func (c Choice) String() string {
	text := c.Level.String()
	if o := c.Overall; o != nil {
		text += fmt.Sprintf(", on average %.2f times the best time of the %d of %d for which it is recorded", o.Slowdown, o.Recorded, o.Of)
	} else {
		text += " " + figure.Sizes(c.Record.ProblemSize)
	}
	switch c.Level {
	case SameArchitecture:
		text += ": " + c.Record.Device.Name + ", " + c.Record.Device.Architecture
	case SameVendor:
		text += ": " + c.Record.Device.Name
	}
	for _, w := range c.Weaknesses {
		text += "; " + w.Text
	}
	return text
}

// Choose returns the record that is nearest to a device and a size. The records of the first [Level] that has
// any are the candidates. Among them, these decide, in order:
//
//  1. Records of the same source come before those of another or an unknown one.
//  2. The nearer size comes first: see [Nearer].
//  3. The nearer constants of the query come first, by the same distances. A record that does not know one is
//     infinitely far in it.
//  4. Records of the same driver come before those of another or an unknown one, and verified records before
//     unverified ones. A new driver changes the best configuration less than another size does.
//  5. The better objective, if the objectives can be compared: those of one device, driver, source, size and
//     constants. Otherwise the newer record comes first, then the name of the device decides.
//
// CUDA C and OpenCL C are two kernels: records of the one say nothing of the other, unless a platform is not known.
//
// It is an error if the file has no such records or if the size is not one to three positive numbers.
func (f *File) Choose(q Query) (Choice, error) {
	if err := checkSize(q.ProblemSize); err != nil {
		return Choice{}, err
	}
	all := len(f.Records)
	own := *f
	own.Records = slices.DeleteFunc(slices.Clone(f.Records), func(r Record) bool {
		return r.Device.Platform != "" && q.Device.Platform != "" && r.Device.IsCUDA() != q.Device.IsCUDA()
	})
	if f = &own; len(f.Records) == 0 && all > 0 {
		return Choice{}, fmt.Errorf("the wisdom about %s has no records of the language of kernels on the platform %s", f.Key, strings.TrimSpace(q.Device.Platform))
	} else if all == 0 {
		return Choice{}, fmt.Errorf("the wisdom about %s has no records", f.Key)
	}
	if r, level := f.nearest(q, func(*Record) bool { return true }); r != nil {
		return Choice{Record: *r, Level: level, Weaknesses: weaknesses(r, q, true)}, nil
	}
	overall, err := f.Overall(q.SourceDigest)
	if err != nil {
		return Choice{}, err
	}
	key := f.key(&Record{Configuration: overall.Configuration})
	r := f.best(q, func(r *Record) bool { return f.key(r) == key })
	return Choice{Record: *r, Level: BestOverall, Weaknesses: weaknesses(r, q, false), Overall: &overall}, nil
}

// nearest returns the nearest of the records that admits, and its level, before [BestOverall]; nil if there is none.
func (f *File) nearest(q Query, admits func(*Record) bool) (*Record, Level) {
	for _, level := range []struct {
		Level
		has func(*Record) bool
	}{
		{SameSize, func(r *Record) bool {
			differs := func(c constant) bool { return c.recorded > 0 && c.recorded != c.asked }
			return sameDevice(&r.Device, &q.Device) && sameSize(r.ProblemSize, q.ProblemSize) && !slices.ContainsFunc(q.constants(r), differs)
		}},
		{SameDevice, func(r *Record) bool { return sameDevice(&r.Device, &q.Device) }},
		{SameArchitecture, func(r *Record) bool {
			return r.Device.Architecture != "" && r.Device.Architecture == q.Device.Architecture
		}},
		{SameVendor, func(r *Record) bool {
			return known(hardware.VendorName(r.Device.Vendor), hardware.VendorName(q.Device.Vendor)) && known(r.Device.Type, q.Device.Type)
		}},
	} {
		if r := f.best(q, func(r *Record) bool { return level.has(r) && admits(r) }); r != nil {
			return r, level.Level
		}
	}
	return nil, 0
}

// best returns the first of the records that has admits, in the order of Choose, or nil.
func (f *File) best(q Query, has func(*Record) bool) *Record {
	order := func(a, b *Record) int {
		of := func(r *Record, kind WeaknessKind) int {
			return slices.IndexFunc(weaknesses(r, q, true), func(w Weakness) bool { return w.Kind == kind })
		}
		return cmp.Or(
			compareWeak(of(a, SourceDiffers), of(b, SourceDiffers)),
			Nearer(q.ProblemSize, a.ProblemSize, b.ProblemSize),
			q.nearerConstants(a, b),
			compareWeak(of(a, DriverDiffers), of(b, DriverDiffers)),
			compareWeak(of(a, NotVerified), of(b, NotVerified)),
		)
	}
	// First the best of those whose objectives can be compared, then the best of these: an order that compares the
	// objectives of some pairs and the dates of others would not be transitive.
	var ofGroup []*Record
	for _, r := range f.Sorted() {
		switch last := len(ofGroup) - 1; {
		case !has(&r):
		case last < 0 || !Comparable(&r, ofGroup[last]):
			ofGroup = append(ofGroup, &r)
		case cmp.Or(order(&r, ofGroup[last]), f.compare(&r, ofGroup[last])) < 0:
			ofGroup[last] = &r
		}
	}
	var best *Record
	for _, r := range ofGroup {
		if best == nil || cmp.Or(order(r, best), best.Date.Compare(r.Date)) < 0 {
			best = r
		}
	}
	return best
}

// A constant of a query and of a record.
type constant struct {
	name     string
	asked    int // positive
	recorded int // 0: not known, or not a positive whole number
}

// constants returns the constants of the query, by name.
func (q *Query) constants(r *Record) (all []constant) {
	for _, name := range slices.Sorted(maps.Keys(q.Constants)) {
		if q.Constants[name] > 0 {
			recorded, _ := r.Constants[name].(int)
			all = append(all, constant{name, q.Constants[name], max(0, recorded)})
		}
	}
	return all
}

// nearerConstants returns a negative number if the constants of record a are nearer than those of b, 0 if both are
// equally near.
func (q *Query) nearerConstants(a, b *Record) int {
	of := func(r *Record) (distances []float64, product float64) {
		var asked, recorded []float64
		product = 1
		for _, c := range q.constants(r) {
			v := float64(c.recorded)
			if c.recorded == 0 {
				v = math.Inf(1)
			}
			asked, recorded, product = append(asked, float64(c.asked)), append(recorded, v), product*v
		}
		return definition.Distances(asked, recorded), product
	}
	d, p := of(a)
	e, s := of(b)
	return cmp.Or(slices.Compare(d, e), cmp.Compare(p, s))
}

// compareWeak compares two indices of a weakness: -1, for none, comes first.
func compareWeak(a, b int) int { return cmp.Compare(min(a, 0), min(b, 0)) }

// sameDevice reports whether two devices are of one model: one name, and one vendor and one type where both
// are known.
func sameDevice(a, b *hardware.Device) bool {
	agree := func(v, w string) bool { return v == "" || w == "" || known(v, w) }
	return known(a.Name, b.Name) && agree(hardware.VendorName(a.Vendor), hardware.VendorName(b.Vendor)) && agree(a.Type, b.Type)
}

// known reports whether two texts are the same and not empty.
func known(a, b string) bool {
	a, b = strings.TrimSpace(a), strings.TrimSpace(b)
	return a != "" && a == b
}

// weaknesses returns the weaknesses of a record as the answer to a query, the gravest first. A choice over all
// devices and sizes is nowhere near, and its constants and its driver differ anyway.
func weaknesses(r *Record, q Query, near bool) []Weakness {
	var found []Weakness
	add := func(kind WeaknessKind, format string, args ...any) {
		found = append(found, Weakness{kind, fmt.Sprintf(format, args...)})
	}
	switch {
	case q.SourceDigest == "" || r.SourceDigest == q.SourceDigest:
	case r.SourceDigest == "":
		add(SourceDiffers, "the source is not recorded, and may have changed")
	default:
		add(SourceDiffers, "the source has changed since the measurement")
	}
	if near {
		for _, c := range q.constants(r) {
			if c.recorded == 0 {
				add(ConstantsDiffer, "%s is not recorded", c.name)
			} else if c.recorded != c.asked {
				add(ConstantsDiffer, "%s was %d, and is %d", c.name, c.recorded, c.asked)
			}
		}
	}
	was, is := &r.Device, &q.Device
	switch {
	case !near:
	case was.Platform != "" && is.Platform != "" && !known(was.Platform, is.Platform):
		add(DriverDiffers, "the platform was %s, and is %s", was.Platform, strings.TrimSpace(is.Platform))
	case was.Driver == "":
		add(DriverDiffers, "the driver is not recorded")
	case !known(was.Driver, is.Driver):
		add(DriverDiffers, "the driver was %s, and is %s", was.Driver, cmp.Or(strings.TrimSpace(is.Driver), "not known"))
	}
	if !r.Verified {
		add(NotVerified, "the output was not verified")
	}
	return found
}

// Nearer returns a negative number if size a is nearer to size than b is, 0 if both are equally near: see
// [definition.Distances]. Missing dimensions are 1.
func Nearer(size, a, b []int) int {
	asked, x, y := dimensions(size), dimensions(a), dimensions(b)
	return cmp.Or(
		slices.Compare(definition.Distances(asked, x), definition.Distances(asked, y)), cmp.Compare(floats.Prod(x), floats.Prod(y)),
	)
}

func dimensions(size []int) []float64 {
	p := padded(size)
	return []float64{float64(p[0]), float64(p[1]), float64(p[2])}
}
