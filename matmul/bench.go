package matmul

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/spec"
)

// Kernels are the names of the bundled kernels that can take part in a [Bench].
var Kernels = []string{"naive", "local", "tiled", "fast"}

// pathOf is the bundled specification of a kernel.
func pathOf(kernel string) string { return "matmul/matmul_" + kernel + ".yaml" }

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

// A Bench is the plan of a comparison over the size: the loop, OpenBLAS, kernels on an OpenCL device,
// and cuBLAS. Each kernel is first tuned at a few sizes, unless a record holds its best
// configurations. Close it when done.
type Bench struct {
	Sizes     []int // ascending
	TuneSizes []int // ascending; nil: the defaults for the device, within Sizes
	Kernels   []string
	Device    device.Listed
	Libraries []string // files and folders in which libraries are looked for first

	Iterations int           // timed multiplications at least, where they are not very long
	Began      time.Time     // the time limit counts from here
	TimeLimit  time.Duration // of everything, tuning included
	LoopLimit  time.Duration // of one multiplication by the loop

	// Tune searches a kernel for matrices of size n, for about the limit, and returns its best
	// configurations (see [BestConfigurations]).
	Tune func(ctx context.Context, kernel string, s *spec.Spec, n int, limit time.Duration) ([]string, error)

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
	f := Finalists{Configurations: best}
	if size := r.Header.ProblemSize; len(size) == 2 && size[0] == size[1] {
		f.N = size[0]
	}
	b.addFinalists(kernel, f)
	return nil
}

func (b *Bench) addFinalists(kernel string, f Finalists) {
	if b.finalists == nil {
		b.finalists = map[string][]Finalists{}
	}
	b.finalists[kernel] = append(b.finalists[kernel], f)
}

// kernelOf returns the kernel of the bench that a record names as its source, else the only one
// with the record's parameters.
func (b *Bench) kernelOf(r *record.Record) (string, error) {
	var recorded []string
	for _, p := range r.Header.Parameters {
		recorded = append(recorded, p.Name)
	}
	slices.Sort(recorded)
	var fitting []string
	for _, kernel := range b.Kernels {
		s, err := loadKernel(pathOf(kernel), b.Sizes[0])
		if err != nil {
			return "", err
		}
		if !slices.Equal(recorded, slices.Sorted(slices.Values(s.Problem.Parameters().Names()))) {
			continue
		}
		if r.Header.Source == pathOf(kernel) {
			return kernel, nil
		}
		fitting = append(fitting, kernel)
	}
	if len(fitting) != 1 {
		return "", errors.New("it is not of a kernel that --kernel names")
	}
	return fitting[0], nil
}

// BestConfigurations returns the first configurations in the ranking of a search's results.
func BestConfigurations(o problem.Objective, results []tune.Result) []string {
	places := tune.Rank(o, results).Places
	var texts []string
	for _, i := range places[:min(finalistCount, len(places))] {
		texts = append(texts, results[i].Configuration.String())
	}
	return texts
}

// TuneKernels tunes the kernels that have no record, each at a few sizes. They share two fifths of
// the time limit; time that one search leaves over goes to the searches after it. The error is that
// of ctx; a search that fails is noted.
func (b *Bench) TuneKernels(ctx context.Context) error {
	sizes := b.sizesToTune()
	untuned := slices.DeleteFunc(slices.Clone(b.Kernels), func(kernel string) bool { return len(b.finalists[kernel]) > 0 })
	searches := len(untuned) * len(sizes)
	end := b.Began.Add(time.Duration(tuneShare * float64(b.TimeLimit)))
	for _, kernel := range untuned {
		for _, n := range sizes {
			share := time.Until(end) / time.Duration(searches)
			searches--
			var best []string
			s, err := loadKernel(pathOf(kernel), n)
			if err == nil {
				best, err = b.Tune(ctx, kernel, s, n, max(share, 0))
			}
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				b.Note(fmt.Sprintf("tune %s at N = %d: %v", kernel, n, err))
			default:
				b.addFinalists(kernel, Finalists{N: n, Configurations: best})
			}
		}
	}
	return nil
}

// sizesToTune returns the sizes to tune. Default sizes are clamped to the sizes of the bench.
func (b *Bench) sizesToTune() []int {
	if b.TuneSizes != nil {
		return b.TuneSizes
	}
	defaults := DefaultTuneSizes
	if b.Device.Type == "cpu" {
		defaults = DefaultTuneSizesCPU
	}
	var sizes []int
	for _, n := range defaults {
		sizes = append(sizes, min(max(n, b.Sizes[0]), b.Sizes[len(b.Sizes)-1]))
	}
	return slices.Compact(sizes)
}

// Open starts a process for each entrant and returns the sweep over them, for the time that is
// left. An entrant whose library is missing, or that cannot start, is noted and left out. The error
// is that of ctx.
func (b *Bench) Open(ctx context.Context) (Sweep, error) {
	sweep := Sweep{Sizes: b.Sizes}
	var missing *MissingError
	for _, e := range b.entrants() {
		if e.Kind == CuTF32 && missing != nil {
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
	for _, n := range b.Sizes {
		most = max(most, len(Candidates(finalists, n)))
	}
	participant := Participant{Name: p.Entrant.Name, Multiplications: p.Entrant.Multiplications(most)}
	participant.Measure = func(ctx context.Context, n int) (Measurement, error) {
		return p.Measure(ctx, n, Candidates(finalists, n))
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
	if described, err := device.Describe(b.Device.Device); err == nil && strings.Contains(described.Vendor, "NVIDIA") {
		pci = described.PCI
	}
	all := []Entrant{{Name: loopName, Kind: Loop}, {Name: openBLASName, Kind: OpenBLAS, Libraries: b.Libraries}}
	for _, kernel := range b.Kernels {
		if len(b.finalists[kernel]) == 0 {
			b.Note(kernel + " is left out: no configuration of it is known to be correct")
			continue
		}
		all = append(all, Entrant{Name: kernel, Kind: Kernel, Spec: pathOf(kernel), Device: b.Device.Selector()})
	}
	all = append(all,
		Entrant{Name: "cuBLAS", Kind: CuBLAS, Libraries: b.Libraries, PCI: pci},
		Entrant{Name: "cuBLAS tf32", Kind: CuTF32, Libraries: b.Libraries, PCI: pci})
	for i := range all {
		all[i].Iterations = b.Iterations
	}
	return all
}

// Close ends the processes of the entrants.
func (b *Bench) Close() {
	for _, p := range b.processes {
		p.Close()
	}
}
