package matmul

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
)

// The defaults of a [Bench].
var (
	DefaultSizes        = []int{32, 64, 128, 256, 512, 1024, 2048, 4096, 8192}
	DefaultTuneSizes    = []int{256, 1024, 4096}
	DefaultTuneSizesCPU = []int{128, 512} // on a CPU, where 2·N³ operations take longer
	DefaultKernels      = []string{"naive", "local", "fast"}
)

const (
	DefaultTimeLimit = 5 * time.Minute
	DefaultLoopLimit = 5 * time.Second
)

const (
	tuneShare     = 0.4 // of the time limit
	finalistCount = 2   // of each kernel and size
)

// The names of the entrants that run on the CPU.
const (
	loopName     = "CPU loop"
	openBLASName = "OpenBLAS"
)

// cuBLASName returns the name of cuBLAS in a precision.
func cuBLASName(p Precision) string {
	if p == Float {
		return "cuBLAS"
	}
	return "cuBLAS " + string(p)
}

// A Bench is the plan of a comparison over the size: the loop, OpenBLAS, kernels on a device,
// and cuBLAS. Each kernel is first tuned at a few sizes, unless a record holds its best
// configurations. A kernel that the device cannot run is replaced. Close it when done.
type Bench struct {
	Sizes     []Shape  // ascending by their operations
	TuneSizes []Shape  // the same; nil: the defaults for the device, within Sizes
	Kernels   []string // see Choose
	Libraries []string // files and folders in which libraries are looked for first

	Devices []device.Listed // one, or a card on the platform of each language

	Errors     bool          // also measure the errors of results
	Iterations int           // timed multiplications at least, where they are not very long
	Began      time.Time     // the time limit counts from here
	TimeLimit  time.Duration // of everything, tuning included
	LoopLimit  time.Duration // of one multiplication by the loop

	// Tune searches a kernel for matrices of a shape, for about the limit, and returns its best
	// configurations (see [BestConfigurations]).
	Tune func(ctx context.Context, kernel string, s *spec.Spec, shape Shape, limit time.Duration) ([]string, error)

	// Note receives a line for each entrant that is opened, and for each that is left out.
	Note func(text string)

	finalists map[string][]Finalists // by kernel
	processes []*Process
}

// AddRecord takes the best configurations of a kernel from a record of its search: the kernel is
// not tuned.
func (b *Bench) AddRecord(r *record.Record) error {
	kernel, err := b.kernelOf(r)
	if err != nil {
		return err
	}
	best := BestConfigurations(r.Header.Objective, r.Results)
	if len(best) == 0 {
		return errors.New("no configuration is correct in it")
	}
	b.addFinalists(kernel, Finalists{shapeOf(r), best})
	return nil
}

// Choose adds kernels by their names, each in the languages of the devices. Kernels that no device takes are noted, if there are others;
// else the first of them is the error.
func (b *Bench) Choose(names []string) error {
	var left []error
	for _, name := range names {
		before, err := len(b.Kernels), error(nil)
		for _, d := range b.Devices {
			k := name
			if d.Identity.IsCUDA() {
				k += inCUDA
			}
			if err = canLoad(k); err == nil {
				b.Kernels = append(b.Kernels, k)
			}
		}
		if len(b.Kernels) == before {
			left = append(left, fmt.Errorf("%s is left out: %w", name, err))
		}
	}
	if len(b.Kernels) == 0 {
		return left[0]
	}
	for _, err := range left {
		b.Note(err.Error())
	}
	return nil
}

func canLoad(kernel string) error {
	k, err := kernelNamed(kernel)
	if err == nil {
		_, err = k.load(pilotSize)
	}
	return err
}

// DeviceFor returns the device for kernels in a language.
func (b *Bench) DeviceFor(l source.Language) device.Listed {
	return device.For(b.Devices, l)[0]
}

func (b *Bench) addFinalists(kernel string, f Finalists) {
	if b.finalists == nil {
		b.finalists = map[string][]Finalists{}
	}
	b.finalists[kernel] = append(b.finalists[kernel], f)
}

// shapeOf returns the shape of a record by its constants, which is zero if it has others.
func shapeOf(r *record.Record) (s Shape) {
	for _, c := range r.Header.Constants {
		n, ok := c.Value.(int)
		if !ok {
			continue
		}
		switch c.Name {
		case "size":
			return Square(n)
		case "m":
			s.M = n
		case "n":
			s.N = n
		case "k":
			s.K = n
		}
	}
	return s
}

// kernelOf returns the kernel of the bench that a record names as its source, else the only one
// with the record's parameters. Kernels of one specification differ by constants.
func (b *Bench) kernelOf(r *record.Record) (string, error) {
	recorded := each.Of(r.Header.Parameters, func(p space.Parameter) string { return p.Name })
	slices.Sort(recorded)
	var fitting []string
	for _, kernel := range b.Kernels {
		k, err := kernelNamed(kernel)
		if err != nil {
			return "", err
		}
		s, err := k.load(pilotSize)
		if err != nil {
			return "", err
		}
		names := slices.Sorted(slices.Values(s.Problem.Parameters().Names()))
		if !slices.Equal(recorded, names) || !sameConstants(r.Header.Constants, s.Problem.Definition().Constants) ||
			device.LanguageOf(r.Header.Device) != k.Language {
			continue
		}
		if r.Header.Source == k.Path {
			return kernel, nil
		}
		fitting = append(fitting, kernel)
	}
	if len(fitting) != 1 {
		return "", errors.New("it is not of a kernel that --kernel names")
	}
	return fitting[0], nil
}

// sameConstants reports whether constants other than sizes have the same values, as far as both have them.
func sameConstants(a, b []definition.Constant) bool {
	for _, x := range a {
		for _, y := range b {
			if x.Name == y.Name && !slices.Contains([]string{"size", "m", "n", "k"}, x.Name) && x.Value != y.Value {
				return false
			}
		}
	}
	return true
}

// BestConfigurations returns the first configurations in the ranking of a search's results.
func BestConfigurations(o score.Objective, results []tune.Result) []string {
	ranking := tune.Rank(o, results).Indices
	return each.Of(ranking[:min(finalistCount, len(ranking))], func(i int) string { return results[i].Configuration.String() })
}

// TuneKernels tunes the kernels that have no record, each at a few sizes. They share two fifths of
// the time limit; time that one search leaves over goes to the searches after it. A kernel without a correct configuration is
// replaced by another one, if there is one for its precision. The error is that of ctx; a search that fails is noted.
func (b *Bench) TuneKernels(ctx context.Context) error {
	sizes := b.sizesToTune()
	end := b.Began.Add(time.Duration(tuneShare * float64(b.TimeLimit)))
	for i := 0; i < len(b.Kernels); i++ {
		kernel, err := kernelNamed(b.Kernels[i])
		if err != nil {
			return err
		}
		if len(b.finalists[kernel.Name]) > 0 {
			continue
		}
		why := b.unable(ctx, kernel)
		if why == "" {
			if err := b.tune(ctx, kernel, sizes, end, len(b.untuned(i))); err != nil {
				return err
			}
			why = "no configuration of it is known to be correct"
		}
		if len(b.finalists[kernel.Name]) > 0 || kernel.Otherwise == "" {
			continue
		}
		b.Note(fmt.Sprintf("%s: %s; the kernel %s takes its place", kernel.Name, why, kernel.Otherwise))
		if slices.Contains(b.Kernels, kernel.Otherwise) {
			b.Kernels = slices.Delete(b.Kernels, i, i+1)
		} else {
			b.Kernels[i] = kernel.Otherwise
		}
		i--
	}
	return nil
}

// untuned returns the kernels without finalists, from an index on.
func (b *Bench) untuned(from int) []string {
	return slices.DeleteFunc(slices.Clone(b.Kernels[from:]), func(kernel string) bool { return len(b.finalists[kernel]) > 0 })
}

// unable says why the device can run no configuration of a kernel, or nothing if it can, or no other kernel could take its place.
func (b *Bench) unable(ctx context.Context, k Kernel) string {
	if k.Otherwise == "" {
		return ""
	}
	on := b.DeviceFor(k.Language).Identity
	s, err := k.load(b.Sizes[0])
	if err == nil {
		_, err = s.Space(ctx, *on)
	}
	if _, is := errors.AsType[*space.EmptyError](err); is {
		return "no configuration is for " + on.Name
	}
	return ""
}

// tune searches a kernel at some sizes. Until the end, it has an equal share of the time with the other kernels.
func (b *Bench) tune(ctx context.Context, k Kernel, sizes []Shape, end time.Time, kernels int) error {
	for i, shape := range sizes {
		share := time.Until(end) / time.Duration(kernels*len(sizes)-i)
		var best []string
		s, err := k.load(shape)
		if err == nil {
			best, err = b.Tune(ctx, k.Name, s, shape, max(share, 0))
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			b.Note(fmt.Sprintf("tune %s at %s: %v", k.Name, Sizes(shape), err))
		default:
			b.addFinalists(k.Name, Finalists{Shape: shape, Configurations: best})
		}
	}
	return nil
}

// sizesToTune returns the sizes to tune. Default sizes are clamped to the sizes of the bench. Kernels that copy several
// elements at once have configurations of their own for rows of other lengths, so the largest shape with such rows is tuned, too.
func (b *Bench) sizesToTune() []Shape {
	if b.TuneSizes != nil {
		return b.TuneSizes
	}
	defaults := DefaultTuneSizes
	if b.Devices[0].Type == "cpu" {
		defaults = DefaultTuneSizesCPU
	}
	var sizes []Shape
	for _, n := range defaults {
		s := Square(n)
		if first := b.Sizes[0]; s.Operations() < first.Operations() {
			s = first
		}
		if last := b.Sizes[len(b.Sizes)-1]; s.Operations() > last.Operations() {
			s = last
		}
		sizes = append(sizes, s)
	}
	for _, s := range slices.Backward(b.Sizes) {
		if s.N%8 != 0 || s.K%8 != 0 {
			sizes = append(sizes, s)
			break
		}
	}
	slices.SortStableFunc(sizes, BySize)
	return slices.Compact(sizes)
}

// BySize compares shapes by their operations.
func BySize(a, b Shape) int { return cmp.Compare(a.Operations(), b.Operations()) }

// Open starts a process for each entrant and returns the sweep over them, for the time that is
// left. An entrant whose library is missing, or that cannot start, is noted and left out. The error
// is that of ctx.
func (b *Bench) Open(ctx context.Context) (Sweep, error) {
	sweep := Sweep{Sizes: b.Sizes}
	var missing *MissingError
	for _, e := range b.entrants() {
		if e.Name != cuBLASName(Float) && e.Kind == CuBLAS && missing != nil {
			continue // it needs the library that was missing just before
		}
		missing = nil
		p := &Process{Entrant: e}
		about, err := p.About(ctx)
		switch {
		case ctx.Err() != nil:
			return Sweep{}, ctx.Err()
		case err != nil:
			errors.As(err, &missing)
			b.Note(fmt.Sprintf("%s is left out: %v", e.Name, err))
			continue
		}
		b.Note(e.Name + ": " + about)
		b.processes = append(b.processes, p)
		sweep.Participants = append(sweep.Participants, b.participant(p))
	}
	sweep.TimeLimit = b.TimeLimit - time.Since(b.Began)
	return sweep, nil
}

func (b *Bench) participant(p *Process) Participant {
	finalists := b.finalists[p.Entrant.Name] // none of an entrant that is no kernel
	most := 0
	for _, s := range b.Sizes {
		most = max(most, len(candidatesOf(finalists, s).Near))
	}
	participant := Participant{Name: p.Entrant.Name, Precision: p.Entrant.Precision, Multiplications: p.Entrant.Multiplications(most)}
	participant.Measure = func(ctx context.Context, s Shape) (Measurement, error) {
		return p.Measure(ctx, s, candidatesOf(finalists, s))
	}
	if p.Entrant.Kind == Loop {
		participant.Longest = b.LoopLimit
	}
	return participant
}

// entrants returns all entrants in the order of the tables. It notes and leaves out kernels without a
// correct configuration.
func (b *Bench) entrants() []Entrant {
	pci := ""
	if described, err := device.Describe(b.Devices[0].Device); err == nil && strings.Contains(described.Vendor, "NVIDIA") {
		pci = described.PCI
	}
	all := []Entrant{
		{Name: loopName, Kind: Loop, Precision: Float},
		{Name: openBLASName, Kind: OpenBLAS, Precision: Float, Libraries: b.Libraries},
	}
	measured := map[Precision]bool{Float: true, TF32: true}
	for _, name := range b.Kernels {
		kernel, err := kernelNamed(name)
		if err != nil || len(b.finalists[name]) == 0 {
			b.Note(name + " is left out: no configuration of it is known to be correct")
			continue
		}
		all = append(all, Entrant{Name: name, Kind: OnDevice, Precision: kernel.Precision, Device: b.DeviceFor(kernel.Language).Selector()})
		measured[kernel.Precision] = true
	}
	for _, p := range []Precision{Float, TF32, Half, Double} { // the first one says if the library is missing
		if measured[p] {
			all = append(all, Entrant{Name: cuBLASName(p), Kind: CuBLAS, Precision: p, Libraries: b.Libraries, PCI: pci})
		}
	}
	for i := range all {
		all[i].Iterations, all[i].Errors = b.Iterations, b.Errors
	}
	return all
}

// Close ends the processes of the entrants.
func (b *Bench) Close() {
	for _, p := range b.processes {
		p.Close()
	}
}
