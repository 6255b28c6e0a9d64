// Package wisdom keeps the best configurations of a kernel on several devices and at several problem
// sizes, and chooses one of them for an application. The name and the file are those of kernel_launcher
// (https://github.com/KernelTuner/kernel_launcher), which took the name from FFTW.
//
// Its types: a [File] holds [Entry] values; a [Choice] of one answers a [Query].
//
// [FromLog] takes the best results of a run, [Add] merges them into a file, and [File.Choose] looks a
// device and a size up. A choice is always a configuration that was measured as correct somewhere, and says
// how near the device and the size are. Choose does not know the device's limits or the kernel's restrictions: a
// configuration that was measured on another device or at another size can fail, and the application should
// be ready to take its own default.
//
// [Tuned] is for an application that can wait for a search when it meets a device or a size for the first
// time: it returns what the file knows about exactly this device and size, or tunes and adds to the file.
package wisdom

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// MaxKept is the number of records that a file keeps for each device, driver, source and size, as
// kernel_launcher does for each device and size. The best is used; the others show which configurations
// are nearly as good, from which the best over all is found.
const MaxKept = 5

// A File holds the wisdom about one kernel.
type File struct {
	Key        string   // name of the kernel, or another that the application uses
	Parameters []string // names, in the order of configurations in the file
	Objective  score.Objective
	Records    []Record

	// Skipped are the lines that could not be read. They stay in the file.
	Skipped []record.DamagedLine

	header []byte // as it stands in the file; nil: none yet
	lines  []line // after the header
}

// A Record is a configuration that was measured as correct on one device at one size.
type Record struct {
	// Device has the name, vendor, type, platform, driver, architecture, UUID and PCI address, "" where
	// unknown. The name is known.
	Device hardware.Device

	ProblemSize   []int       // one to three dimensions, x first, each at least 1
	Constants     space.Named // of the kernel; nil: unknown, or none
	Configuration space.Named // a value for each parameter of the file
	Time          float64     // milliseconds of one launch, or of one run of a pipeline
	Objective     float64     // positive; of the file's objective
	Verified      bool        // the output was compared with the expected output
	SourceDigest  string      // see [problem.Problem.KernelDigest]; "": unknown
	Date          time.Time   // of the measurement, UTC; zero: unknown
}

// A Source says what FromLog takes from a record of a run.
type Source struct {
	Key string // "": the name of the kernel

	// ProblemSize is for records without one: of a pipeline, or of a size that depends on parameters.
	ProblemSize []int
}

// FromLog returns the best results of a run, at most [MaxKept], the winner first: see [tune.Rank]. Of a run with
// several objectives, it returns the winner alone, with the value of the first objective. It is an
// error if the record does not tell the device, the kernel or the problem size, if no configuration is
// correct, or if objectives are not positive, because their ratios are needed.
func FromLog(r *record.Record, s Source) (*File, error) {
	h := &r.Header
	f := &File{Key: cmp.Or(s.Key, h.Kernel), Objective: h.Objective.First()}
	kept := MaxKept
	if h.Objective.Several() {
		kept = 1 // the file ranks by one objective, which would not choose the winner again
	}
	f.Parameters = each.Of(h.Parameters, func(p space.Parameter) string { return p.Name })
	switch {
	case f.Key == "":
		return nil, errors.New("it does not name the kernel; give a key")
	case strings.TrimSpace(h.Device.Name) == "":
		return nil, errors.New("it does not name the device; a run log and a cache file of Kernel Tuner do")
	}
	size, err := s.size(h.ProblemSize)
	if err != nil {
		return nil, err
	}
	d := h.Device
	device := hardware.Device{
		Name: strings.TrimSpace(d.Name), Vendor: strings.TrimSpace(d.Vendor), Type: d.Type, Platform: strings.TrimSpace(d.Platform),
		Driver: strings.TrimSpace(d.Driver), UUID: d.UUID, PCI: d.PCI,
		Architecture: cmp.Or(d.Architecture, hardware.ComputeCapability(d.ComputeMajor, d.ComputeMinor)),
	}
	for _, i := range tune.Rank(h.Objective, r.Results).Indices {
		result := &r.Results[i]
		figures := result.Figures()
		if !positive(figures.Objective) || !positive(figures.Time) {
			return nil, fmt.Errorf("%s: the objective %s is %v and the time %v ms, and both must be positive",
				result.Configuration, f.Objective.Name, figures.Objective, figures.Time)
		}
		c := space.Named{}
		result.Configuration.Assign(c)
		f.Records = append(f.Records, Record{
			Device: device, ProblemSize: size, Constants: constantsOf(h.Constants), Configuration: c,
			Time: figures.Time, Objective: figures.Objective,
			Verified: result.Verified, SourceDigest: h.KernelDigest, Date: dateOf(result, h),
		})
		if len(f.Records) == kept {
			break
		}
	}
	if len(f.Records) == 0 {
		return nil, errors.New("it has no correct configuration")
	}
	f.lines = each.Of(f.Records, func(r Record) line { return line{record: &r} })
	return f, nil
}

// constantsOf returns the values of constants by name, nil if there are none.
func constantsOf(constants []definition.Constant) space.Named {
	var values space.Named
	for _, c := range constants {
		if values == nil {
			values = space.Named{}
		}
		values[c.Name] = c.Number()
	}
	return values
}

// constantsText returns constants as «k=512, n=64», which is the same for equal ones.
func constantsText(constants space.Named) string {
	texts := each.Of(slices.Sorted(maps.Keys(constants)), func(name string) string { return name + "=" + space.FormatValue(constants[name]) })
	return strings.Join(texts, ", ")
}

// dateOf returns the time of a result to the second, as files have it.
func dateOf(r *tune.Result, h *record.Header) time.Time {
	t := r.Timestamp
	if t.IsZero() {
		t = h.Started
	}
	return t.UTC().Truncate(time.Second)
}

func positive(x float64) bool { return x > 0 && !math.IsInf(x, 1) }

func checkSize(size []int) error {
	if len(size) < 1 || len(size) > 3 || slices.Min(size) < 1 {
		return fmt.Errorf("the problem size %v is not one to three positive numbers", size)
	}
	return nil
}

// sameSize reports whether two sizes are equal. Missing dimensions are 1.
func sameSize(a, b []int) bool { return padded(a) == padded(b) }

func padded(size []int) [3]int {
	p := [3]int{1, 1, 1}
	copy(p[:], size)
	return p
}

// A group has the records whose objectives can be compared: of one device with one driver, of one source
// with the same constants at one size. Constants matter because the problem size need not have all of them: a
// matrix multiplication is as wide and as high as its result, and has an inner dimension besides.
type group struct {
	device, vendor, typ, platform, driver, source, constants string
	size                                                     [3]int
}

func groupOf(r *Record) group {
	d := &r.Device
	return group{
		d.Name, hardware.VendorName(d.Vendor), d.Type, d.Platform, d.Driver, r.SourceDigest,
		constantsText(r.Constants), padded(r.ProblemSize),
	}
}

// Comparable reports whether the objectives of two records can be compared. They can if the records are of one device,
// driver, source and size with the same constants.
func Comparable(a, b *Record) bool { return groupOf(a) == groupOf(b) }

// key returns a text that is the same for equal configurations.
func (f *File) key(r *Record) string {
	texts := each.Of(f.Parameters, func(name string) string { return space.FormatValue(r.Configuration[name]) })
	return fmt.Sprintf("%q", texts)
}

// Text returns a configuration for people: «block_size_x=16, block_size_y=32».
func (f *File) Text(r *Record) string {
	texts := each.Of(f.Parameters, func(name string) string { return name + "=" + space.FormatValue(r.Configuration[name]) })
	return strings.Join(texts, ", ")
}

// Sorted returns the records by device, driver, source and size. Those whose objectives can be compared stand
// together, the best first.
func (f *File) Sorted() []Record {
	type grouped struct {
		group
		record *Record
	}
	all := make([]grouped, len(f.Records))
	for i := range f.Records {
		all[i] = grouped{groupOf(&f.Records[i]), &f.Records[i]}
	}
	slices.SortStableFunc(all, func(g, h grouped) int {
		return cmp.Or(
			cmp.Compare(g.device, h.device), cmp.Compare(g.vendor, h.vendor), cmp.Compare(g.typ, h.typ),
			cmp.Compare(g.platform, h.platform), cmp.Compare(g.driver, h.driver), cmp.Compare(g.source, h.source),
			slices.Compare(g.size[:], h.size[:]), cmp.Compare(g.constants, h.constants), f.compare(g.record, h.record),
		)
	})
	return each.Of(all, func(g grouped) Record { return *g.record })
}

// compare returns a negative number if a is better than b.
func (f *File) compare(a, b *Record) int { return f.Objective.Compare(a.Objective, b.Objective) }
