package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/internal/picture"
	"github.com/ndtune/ndtune/matmul"
	"github.com/ndtune/ndtune/tune/device"
)

// benchKernels are the bundled kernels that can take part, by the name that --kernel takes.
var benchKernels = []tutorialKernel{
	{name: "naive", choice: "naive", path: "matmul/matmul_naive.yaml"},
	{name: "local", choice: "local", path: "matmul/matmul_local.yaml"},
	{name: "tiled", choice: "tiled", path: "matmul/matmul_tiled.yaml"},
	{name: "fast", choice: "fast", path: "matmul/matmul_fast.yaml"},
}

// The defaults of the sizes at which kernels are tuned, by where 2·N³ operations take how
// long, and of the others.
var (
	benchSizes         = []int{32, 64, 128, 256, 512, 1024, 2048, 4096, 8192}
	benchTuneSizes     = []int{256, 1024, 4096}
	benchTuneSizesCPU  = []int{128, 512}
	benchKernelNames   = []string{"naive", "local", "fast"}
	benchTimeLimit     = 5 * time.Minute
	benchLoopLimit     = 5 * time.Second
	benchTuneShare     = 0.4 // of the time limit
	benchFinalistCount = 2   // of each kernel and size
)

// The names of the entrants that are no kernels.
const (
	loopName     = "CPU loop"
	openBLASName = "OpenBLAS"
)

func matmulBenchCommand() *cli.Command {
	return &cli.Command{
		Name:  "bench",
		Usage: "time against size: a CPU loop, tuned kernels, OpenBLAS and cuBLAS",
		Description: `Multiplies square matrices of float32 of growing size N in several ways, and says from which
N on the device wins: a loop on one thread of the CPU, bundled kernels on an OpenCL device,
and the libraries that are there, OpenBLAS on all cores and cuBLAS with and without TF32.
Every result is checked. Times are of the multiplication alone, by the device's events, and
with the copies of A and B to the device and of C back.

Each kernel is first tuned at a few sizes, in two fifths of the time limit, or taken from a
record (--tuned); at each N the best of its finalists there is measured.

   ndtune matmul bench
   ndtune matmul bench --sizes 64,128,256 -o matmul.csv -o matmul.png
   ndtune matmul bench --kernel tiled --tuned matmul.jsonl --time-limit 1m

What would take too much of the time that is left is left out, slow ones first, and said; so is
the CPU loop where one multiplication would take longer than --cpu-limit. Ctrl-C keeps what
was measured.`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "sizes", Category: categorySpec, Usage: "`N[,N…]`: rows and columns of the matrices", DefaultText: joinInts(benchSizes)},
			&cli.StringFlag{Name: "kernel", Category: categorySpec, Usage: "`KERNEL[,KERNEL…]` to measure: " + strings.Join(benchChoices(), ", "), Value: strings.Join(benchKernelNames, ",")},
			&cli.StringSliceFlag{Name: "tuned", TakesFile: true, Category: categorySpec, Usage: "take the best configurations of a kernel from a `RECORD` of it, and do not tune it; may be repeated, also for several sizes of one kernel"},
			&cli.StringFlag{Name: "tune-sizes", Category: categorySearch, Usage: "tune at `N[,N…]`", DefaultText: joinInts(benchTuneSizes) + "; on a CPU " + joinInts(benchTuneSizesCPU) + "; each within the --sizes"},
			&cli.IntFlag{Name: "max-evals", Category: categorySearch, Usage: "evaluate at most `N` configurations of each kernel at each size, failures included"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Category: categorySearch, Usage: "seed of the search strategy's random choices"},
			&cli.DurationFlag{Name: "time-limit", Value: benchTimeLimit, Category: categoryEvaluation, Usage: "`DURATION` of all, tuning included"},
			&cli.DurationFlag{Name: "cpu-limit", Value: benchLoopLimit, Category: categoryEvaluation, Usage: "longest `DURATION` of one multiplication by the CPU loop"},
			&cli.IntFlag{Name: "iterations", Value: device.DefaultIterations, Category: categoryEvaluation, Usage: "timed multiplications of each, at least, where they do not take seconds"},
			&cli.StringSliceFlag{Name: "library", TakesFile: true, Category: categoryEvaluation, Usage: "look for OpenBLAS, cuBLAS and the CUDA runtime in `PATH` first: a file, a folder, or one with pip's packages; may be repeated"},
			deviceFlag(),
			&cli.StringSliceFlag{Name: "output", Aliases: []string{"o"}, TakesFile: true, Category: categoryOutput, Usage: "write the times to `FILE`: .csv, or as a picture .png, .svg or .pdf; may be repeated"},
		},
		Action: func(c *cli.Context) error {
			b, err := newBench(c)
			if err != nil {
				return err
			}
			defer b.close()
			return b.run()
		},
	}
}

// A bench is what the command line asks to measure.
type bench struct {
	cli       *cli.Context
	sizes     []int
	tuneSizes []int // nil: the default of the device's type
	kernels   []benchKernel
	outputs   []string
	began     time.Time
	device    device.Listed
	processes []*matmul.Process
}

// A benchKernel is a kernel with the configurations that are measured.
type benchKernel struct {
	tutorialKernel
	finalists []matmul.Finalists
	why       string // it has none
}

// newBench reads the command line. What is wrong with it is found before anything is measured.
func newBench(c *cli.Context) (*bench, error) {
	b := &bench{cli: c, sizes: benchSizes, outputs: c.StringSlice("output"), began: time.Now()}
	for _, check := range []func() error{b.readSizes, b.readLimits, b.readKernels, b.readRecords, b.checkFiles} {
		if err := check(); err != nil {
			return nil, &usageError{err}
		}
	}
	var err error
	b.device, err = selectDevice(c)
	return b, err
}

func (b *bench) readSizes() error {
	if b.cli.Args().Len() > 0 {
		return fmt.Errorf("%s takes no argument, but %q is given", b.cli.Command.HelpName, b.cli.Args().First())
	}
	var err error
	if b.cli.IsSet("sizes") {
		if b.sizes, err = parseMatrixSizes("sizes", b.cli.String("sizes")); err != nil {
			return err
		}
	}
	if b.cli.IsSet("tune-sizes") {
		b.tuneSizes, err = parseMatrixSizes("tune-sizes", b.cli.String("tune-sizes"))
	}
	return err
}

// parseMatrixSizes are the sizes of a flag, ascending, each once.
func parseMatrixSizes(flag, text string) ([]int, error) {
	var sizes []int
	for _, part := range strings.Split(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 || n > matmul.MaxSize {
			return nil, fmt.Errorf("--%s %s: want numbers from 1 to %d, such as 64,256,1024", flag, text, matmul.MaxSize)
		}
		sizes = append(sizes, n)
	}
	slices.Sort(sizes)
	return slices.Compact(sizes), nil
}

func (b *bench) readLimits() error {
	for _, name := range []string{"time-limit", "cpu-limit"} {
		if d := b.cli.Duration(name); d <= 0 {
			return fmt.Errorf("--%s %s: want a positive duration", name, d)
		}
	}
	if n := b.cli.Int("max-evals"); n < 0 || (b.cli.IsSet("max-evals") && n == 0) {
		return fmt.Errorf("--max-evals %d: want a positive number", n)
	}
	if n := b.cli.Int("iterations"); n < 1 {
		return fmt.Errorf("--iterations %d: want at least 1", n)
	}
	return nil
}

func benchChoices() []string {
	var names []string
	for _, k := range benchKernels {
		names = append(names, k.name)
	}
	return names
}

func (b *bench) readKernels() error {
	for _, name := range strings.Split(b.cli.String("kernel"), ",") {
		name = strings.TrimSpace(name)
		i := slices.IndexFunc(benchKernels, func(k tutorialKernel) bool { return k.name == name })
		if i < 0 {
			return fmt.Errorf("--kernel %s: there are %s%s", name, strings.Join(benchChoices(), ", "), nearest.Hint(name, benchChoices()))
		}
		if !slices.ContainsFunc(b.kernels, func(k benchKernel) bool { return k.name == name }) {
			b.kernels = append(b.kernels, benchKernel{tutorialKernel: benchKernels[i]})
		}
	}
	return nil
}

func (b *bench) checkFiles() error {
	for _, path := range b.outputs {
		if strings.ToLower(filepath.Ext(path)) != ".csv" && !picture.Is(path) {
			return fmt.Errorf("--output %s: want a .csv, or as a picture a .png, .svg or .pdf", path)
		}
		if err := checkFolder(path); err != nil {
			return fmt.Errorf("--output %s: %w", path, err)
		}
	}
	for _, path := range b.cli.StringSlice("library") {
		if err := matmul.CheckLibraryPlace(path); err != nil {
			return fmt.Errorf("--library: %w", err)
		}
	}
	return nil
}

func (b *bench) close() {
	for _, p := range b.processes {
		p.Close()
	}
}

// run tunes, measures, and prints and writes what there is, however it ended.
func (b *bench) run() error {
	fmt.Fprintf(b.cli.App.Writer, "Using: %s\n", b.device.Name)
	if err := b.tune(b.cli.Context); err != nil {
		return err
	}
	participants, err := b.open(b.cli.Context)
	if err != nil {
		return err
	}
	left := b.cli.Duration("time-limit") - time.Since(b.began)
	bar := newBar(b.cli.App.ErrWriter, len(participants)*len(b.sizes), "measurements")
	sweep := matmul.Sweep{Sizes: b.sizes, Participants: participants, TimeLimit: left}
	if bar != nil {
		sweep.OnStart = func(entrant string, n int) { bar.Describe(fmt.Sprintf("%s, N = %d", entrant, n)) }
		sweep.OnCell = func(matmul.Cell) { _ = bar.Add(1) } // an error of the terminal is none of the measurement
	}
	cells := sweep.Run(b.cli.Context)
	if bar != nil {
		_ = bar.Finish()
		_ = bar.Clear()
	}
	printBench(b.cli.App.Writer, b.cli.App.ErrWriter, participants, cells, b.sizes)
	return b.conclude(cells)
}

// open starts a process for each entrant. A library that is not there is said.
func (b *bench) open(ctx context.Context) ([]matmul.Participant, error) {
	var participants []matmul.Participant
	var missing *matmul.MissingError
	for _, e := range b.entrants() {
		if e.Kind == matmul.CuTF32 && missing != nil {
			continue // it is the library that was missing just before
		}
		missing = nil
		p := &matmul.Process{Entrant: e.Entrant}
		about, err := p.About(ctx)
		switch {
		case ctx.Err() != nil:
			return nil, errInterrupted
		case err != nil:
			errors.As(err, &missing)
			fmt.Fprintf(b.cli.App.ErrWriter, "%s is left out: %v\n", e.Name, err)
			continue
		}
		fmt.Fprintf(b.cli.App.ErrWriter, "%s: %s\n", e.Name, about)
		b.processes = append(b.processes, p)
		most := 0
		for _, n := range b.sizes {
			most = max(most, len(matmul.Candidates(e.finalists, n)))
		}
		participant := matmul.Participant{Name: e.Name, Multiplications: e.Multiplications(most), Measure: func(ctx context.Context, n int) (matmul.Measurement, error) {
			return p.Measure(ctx, n, matmul.Candidates(e.finalists, n))
		}}
		if e.Kind == matmul.Loop {
			participant.Longest = b.cli.Duration("cpu-limit")
		}
		participants = append(participants, participant)
	}
	return participants, nil
}

// A benchEntrant is an entrant, with the finalists of a kernel.
type benchEntrant struct {
	matmul.Entrant
	finalists []matmul.Finalists
}

// entrants are all that are to be measured, in the order of the tables.
func (b *bench) entrants() []benchEntrant {
	libraries, pci := b.cli.StringSlice("library"), ""
	if described, err := device.Describe(b.device.Device); err == nil && strings.Contains(described.Vendor, "NVIDIA") {
		pci = described.PCI
	}
	all := []benchEntrant{
		{Entrant: matmul.Entrant{Name: loopName, Kind: matmul.Loop}},
		{Entrant: matmul.Entrant{Name: openBLASName, Kind: matmul.OpenBLAS, Libraries: libraries}},
	}
	for _, k := range b.kernels {
		if k.why != "" {
			fmt.Fprintf(b.cli.App.ErrWriter, "%s is left out: %s\n", k.name, k.why)
			continue
		}
		all = append(all, benchEntrant{matmul.Entrant{Name: k.name, Kind: matmul.Kernel, Spec: k.path, Device: b.device.Selector()}, k.finalists})
	}
	all = append(all,
		benchEntrant{Entrant: matmul.Entrant{Name: "cuBLAS", Kind: matmul.CuBLAS, Libraries: libraries, PCI: pci}},
		benchEntrant{Entrant: matmul.Entrant{Name: "cuBLAS tf32", Kind: matmul.CuTF32, Libraries: libraries, PCI: pci}})
	for i := range all {
		all[i].Iterations = b.cli.Int("iterations")
	}
	return all
}

// conclude writes the outputs, and turns what was measured into an error for the exit status.
func (b *bench) conclude(cells []matmul.Cell) error {
	interrupted := b.cli.Context.Err() != nil
	if !anyMeasured(cells) {
		if interrupted {
			return errInterrupted
		}
		return errReported
	}
	title := fmt.Sprintf("C = A·B, N × N, float32: %s", b.device.Name)
	if err := writeBench(b.outputs, title, cells); err != nil {
		return err
	}
	if len(b.outputs) > 0 {
		fmt.Fprintf(b.cli.App.ErrWriter, "results: %s\n", strings.Join(b.outputs, ", "))
	}
	if interrupted {
		return errInterrupted
	}
	return nil
}

func joinInts(numbers []int) string {
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, ",")
}
