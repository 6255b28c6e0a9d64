package tutorials

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/internal/picture"
	"github.com/ndtune/ndtune/matmul"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/session"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/spec"
)

// matmulTutorial has the bundled kernels of C = A·B: three for square matrices, and others for any M×N×K.
var matmulTutorial = tutorial{
	kernels: matmulKernels(),
	sizes: []sizeFlag{
		{name: "size", usage: "rows and columns of all matrices", value: 4096},
		{name: "m", usage: "rows of A and C; not for naive, local and tiled", follows: "size"},
		{name: "n", usage: "columns of B and C; not for naive, local and tiled", follows: "size"},
		{name: "k", usage: "columns of A and rows of B; not for naive, local and tiled", follows: "size"},
	},
	guess: map[string]int{"block_size_x": 16, "block_size_y": 16},
}

// matmulKernels returns the kernels of the tutorial. Those of other precisions, and those for few devices, stand apart.
func matmulKernels() []tutorialKernel {
	var all []tutorialKernel
	for _, k := range matmul.Kernels {
		apart := k.Precision != matmul.Float || k.Otherwise != ""
		all = append(all, tutorialKernel{name: k.Name, path: k.Path, set: k.Set, apart: apart, otherwise: k.Otherwise})
	}
	return all
}

func matmulCommand(bench flags.Runner[benchOptions]) *cli.Command {
	return &cli.Command{
		Name:  "matmul",
		Usage: "the matrix multiplication tutorials",
		Description: `Tunes the kernels of the tutorials on the multiplication of matrices, C = A·B, and compares
them with a CPU and with vendors' libraries over the size.

   ndtune matmul tune --kernel tiled --size 1024
   ndtune matmul bench`,
		Subcommands: []*cli.Command{matmulTuneCommand(), matmulBenchCommand(bench)},
	}
}

func matmulTuneCommand() *cli.Command {
	o, all := matmulTutorial.newOptions("tiled")
	return &cli.Command{
		Name:  "tune",
		Usage: "tune a kernel of matrix multiplication",
		Description: `Tunes a bundled kernel of C = A·B (docs/matmul.md): naive, local (through local memory), tiled
(several elements for each work-item), bounds-naive and bounds-tiled (any M×N×K), fast (any M×N×K,
in 600 configurations unless a limit is given), and others for precisions and tensor cores. With
all, the files have the name of the kernel in theirs.

   ndtune matmul tune --kernel tiled --size 1024
   ndtune matmul tune --kernel bounds-tiled -m 1000 -n 777 -k 512 -o matmul.csv
   ndtune matmul tune --kernel hopper --size 2048
   ndtune matmul tune --kernel all --size 512
   ndtune matmul tune --kernel tiled --device cuda
   ndtune matmul tune --kernel tiled --log tiled.jsonl --retry-failures

A multiplication of 4096² takes a CPU a minute or more: choose a smaller --size there.`,
		Flags:  all,
		Action: flags.Action(o, matmulTutorial.tune),
	}
}

type benchOptions struct {
	sizes, tuneSizes, kernels string // as they are written
	errors                    bool
	tuned, libraries, outputs cli.StringSlice
	maxEvaluations            int // 0: no limit
	iterations                int
	seed                      uint64
	timeLimit, loopLimit      time.Duration
	device                    string

	shapes, tuneShapes []matmul.Shape
	chosen             []string // kernels
}

func matmulBenchCommand(run flags.Runner[benchOptions]) *cli.Command {
	o := &benchOptions{
		kernels: strings.Join(matmul.DefaultKernels, ","), timeLimit: matmul.DefaultTimeLimit, loopLimit: matmul.DefaultLoopLimit,
		iterations: definition.DefaultLaunches,
	}
	return &cli.Command{
		Name:  "bench",
		Usage: "time against size: a CPU loop, tuned kernels, OpenBLAS and cuBLAS",
		Description: `Multiplies matrices of growing size with a loop on one thread of the CPU, with bundled kernels on a
device, and with OpenBLAS and cuBLAS where they are installed, verifies every result, and finds the
N from which each is faster than the loop (docs/matmul.md). Each kernel is first tuned at a few
sizes, in two fifths of the time limit, unless a record (--tuned) has its configurations.

   ndtune matmul bench
   ndtune matmul bench --sizes 64,128,256 -o matmul.csv -o matmul.png
   ndtune matmul bench --kernel tiled --tuned matmul.jsonl --time-limit 1m
   ndtune matmul bench --kernel hopper,fast,fast-double --sizes 1024,33x65x97 --errors
   ndtune matmul bench --kernel naive,tiled --device gpu,cuda

What would take too much of the remaining time is left out with a note, the slowest first. Ctrl-C
keeps the measurements so far.`,
		Flags:  o.flags(),
		Action: flags.Action(o, run),
	}
}

func (o *benchOptions) flags() []cli.Flag {
	return []cli.Flag{
		flags.Text(&o.sizes, "sizes", flags.CategorySpec,
			"`SIZE[,SIZE…]`: N of square matrices, or M×N×K (such as 33x65x97) of A (M × K) and B (K × N) (default: "+
				ui.Join(",", strconv.Itoa, matmul.DefaultSizes...)+")"),
		flags.Text(&o.kernels, "kernel", flags.CategorySpec, "`KERNEL[,KERNEL…]` to measure: "+strings.Join(matmul.KernelNames(), ", ")),
		flags.Switch(&o.errors, "errors", flags.CategoryEvaluation,
			"also measure the errors of results with normally distributed, uniform and badly scaled numbers"),
		flags.List(&o.tuned, "tuned", flags.CategorySpec,
			"use the best configurations of a kernel from a `RECORD` instead of tuning it; may be repeated, "+
				"also for several sizes of one kernel"),
		flags.Text(&o.tuneSizes, "tune-sizes", flags.CategorySearch, "tune at these sizes: `SIZE[,SIZE…]` (default: "+
			ui.Join(",", strconv.Itoa, matmul.DefaultTuneSizes...)+"; on a CPU "+ui.Join(",", strconv.Itoa, matmul.DefaultTuneSizesCPU...)+"; each within the --sizes)"),
		flags.Number(&o.maxEvaluations, "max-evals", flags.CategorySearch,
			"evaluate at most `N` configurations of each kernel at each size, failures included"),
		flags.Seed(&o.seed, flags.CategorySearch, "seed of the search strategy's random choices"),
		flags.Duration(&o.timeLimit, "time-limit", flags.CategoryEvaluation, "`DURATION` of the run, tuning included"),
		flags.Duration(&o.loopLimit, "cpu-limit", flags.CategoryEvaluation, "longest `DURATION` of one multiplication by the CPU loop"),
		flags.Number(&o.iterations, "iterations", flags.CategoryEvaluation,
			"time at least N multiplications of each kernel or library at each size, fewer if they take seconds"),
		flags.List(&o.libraries, "library", flags.CategoryEvaluation,
			"look for OpenBLAS, cuBLAS and the CUDA runtime in `PATH` first: a file, a folder, or one with pip's packages; may be repeated"),
		flags.Device(&o.device, "; gpu,cuda: one card, for kernels in OpenCL C and in CUDA C"),
		flags.Output(&o.outputs, "write the times to `FILE`: .csv, or as a picture .png, .svg or .pdf; may be repeated"),
	}
}

// runBench tunes, measures, and prints and writes the results, however the sweep ended.
func runBench(ctx context.Context, t *ui.Console, o *benchOptions) error {
	b, err := newBench(ctx, t, o)
	if err != nil {
		return err
	}
	defer b.Close()
	fmt.Fprintf(t.Out, "Using: %s\n", b.Devices[0].Name)
	if err := b.TuneKernels(ctx); err != nil {
		return err
	}
	sweep, err := b.Open(ctx)
	if err != nil {
		return err
	}
	bar := ui.NewProgress(t.Notes, len(sweep.Participants)*len(sweep.Sizes), "measurement", false)
	sweep.OnStart = func(entrant string, s matmul.Shape) {
		bar.Describe(fmt.Sprintf("%s, %s", entrant, matmul.Sizes(s)))
	}
	sweep.OnCell = func(matmul.Cell) { bar.Count(1) }
	cells := sweep.Run(ctx)
	bar.Finish()
	measured := slices.ContainsFunc(cells, func(c matmul.Cell) bool { return c.Measurement != nil })
	if measured {
		matmul.Write(t.Out, cells)
	}
	for _, r := range matmul.LeftOut(cells) {
		fmt.Fprintf(t.Notes, "%s is left out at %s: %s\n", r.Entrant, matmul.Sizes(r.Sizes...), r.Text)
	}
	if outputs := o.outputs.Value(); measured && len(outputs) > 0 {
		var err error
		for _, path := range outputs {
			err = errors.Join(err, matmul.WriteFile(path, fmt.Sprintf("C = A·B, N × N: %s", b.Devices[0].Name), cells))
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(t.Notes, "results: %s\n", strings.Join(outputs, ", "))
	}
	if !measured && ctx.Err() == nil {
		return ui.ErrIncorrect
	}
	return ctx.Err()
}

// Read reads the command line. Errors in it are found before anything is measured.
func (o *benchOptions) Read(c *cli.Context) (err error) {
	for _, path := range o.libraries.Value() {
		if err := matmul.CheckLibraryPlace(path); err != nil {
			return ui.Wrong("--library: %w", err)
		}
	}
	if o.shapes, err = readShapes("--sizes", o.sizes); err != nil {
		return err
	}
	if o.tuneShapes, err = readShapes("--tune-sizes", o.tuneSizes); err != nil {
		return err
	}
	if len(o.shapes) > 0 && !slices.ContainsFunc(o.shapes, matmul.Shape.IsSquare) && slices.ContainsFunc(o.outputs.Value(), picture.Is) {
		return ui.Wrong("--output: a picture shows square matrices, and --sizes %s has none; write a .csv", o.sizes)
	}
	for name := range strings.SplitSeq(o.kernels, ",") {
		name = strings.TrimSpace(name)
		if !slices.Contains(matmul.KernelNames(), name) {
			return ui.Wrong("--kernel %s: there are %s%s", name, strings.Join(matmul.KernelNames(), ", "), nearest.Hint(name, matmul.KernelNames()))
		}
		o.chosen = each.AppendNew(o.chosen, name)
	}
	return cmp.Or(flags.NoArguments(c), ui.CheckOutputs("output", o.outputs.Value(), matmul.CheckPath))
}

// readShapes reads the value of a flag, a list of sizes in ascending order; none if it is not given.
func readShapes(flag, text string) (all []matmul.Shape, err error) {
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		s, err := matmul.ParseShape(part)
		if err != nil {
			return nil, ui.Wrong("%s: %w", flag, err)
		}
		all = each.AppendNew(all, s)
	}
	slices.SortStableFunc(all, matmul.BySize)
	return all, nil
}

// newBench reads the records and chooses the device.
func newBench(ctx context.Context, t *ui.Console, o *benchOptions) (*matmul.Bench, error) {
	b := &matmul.Bench{
		Sizes: o.shapes, TuneSizes: o.tuneShapes,
		Libraries: o.libraries.Value(), Iterations: o.iterations, Errors: o.errors,
		Began: time.Now(), TimeLimit: o.timeLimit, LoopLimit: o.loopLimit, Note: t.Note,
	}
	if len(b.Sizes) == 0 {
		b.Sizes = each.Of(matmul.DefaultSizes, matmul.Square)
	}
	b.Tune = func(ctx context.Context, kernel string, s *spec.Spec, shape matmul.Shape, limit time.Duration) ([]string, error) {
		return o.tune(ctx, t, b.DeviceFor(s.Problem.Language()), kernel, s, shape, limit)
	}
	var err error
	if b.Devices, err = benchDevices(o.device); err != nil {
		return nil, err
	}
	if err := b.Choose(o.chosen); err != nil {
		return nil, ui.Wrong("--kernel: %w", err)
	}
	for _, path := range o.tuned.Value() {
		r, err := ui.ReadRecord(ctx, path)
		if err != nil {
			return nil, ui.Wrong("--tuned: %w", err)
		}
		if err := b.AddRecord(r); err != nil {
			return nil, ui.Wrong("--tuned %s: %w", path, err)
		}
	}
	return b, nil
}

// benchDevices selects a device, or several in a list: one card by its names in OpenCL and CUDA.
func benchDevices(selector string) (chosen []device.Listed, err error) {
	all, err := device.ListFor(selector, source.OpenCL, source.CUDA)
	if err != nil {
		return nil, err
	}
	names := []string{selector}
	if _, err := device.Select(all, selector); err != nil {
		names = strings.Split(selector, ",")
	}
	for _, name := range names {
		l, err := device.Select(all, name)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, l)
		if first := chosen[0].Identity; len(chosen) > 1 && (first.IsCUDA() == l.Identity.IsCUDA() || !hardware.SameCard(*first, *l.Identity)) {
			return nil, ui.Wrong("--device %s: want one device, or one card on OpenCL's platform and CUDA's, such as gpu,cuda", selector)
		}
	}
	return chosen, nil
}

// tune searches a kernel in workers. A search that has not ended after twice its limit is
// stopped: its workers may be busy with a slow configuration.
func (o *benchOptions) tune(
	ctx context.Context, t *ui.Console, on device.Listed, kernel string, s *spec.Spec, shape matmul.Shape, limit time.Duration,
) ([]string, error) {
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, 2*limit+10*time.Second)
	defer cancel()
	one := session.New(session.Plan{
		Spec: s, Strategy: session.Strategy{Name: search.Auto}, Seed: o.seed,
		MaxEvaluations: o.maxEvaluations, TimeLimit: max(limit, time.Second),
	}, session.Place{Devices: []device.Listed{on}}, session.Evaluation{}, t.Listener())
	defer one.Close()
	if err := one.OpenEvaluator(limited); err != nil {
		return nil, err
	}
	if err := one.OpenSpace(limited); err != nil {
		return nil, err
	}
	bar := ui.NewProgress(t.Notes, one.Total(), "configuration", false)
	bar.Objective = s.Problem.Objective()
	outcome, err := one.Run(limited, func(r tune.Result, _ bool) { bar.Add(r, t.Notes, "") })
	bar.Finish()
	if outcome == nil {
		return nil, err
	}
	if outcome.Stop == tune.Environment {
		return nil, fmt.Errorf("stopped: %s", outcome.Cause)
	}
	evaluated := figure.Count(len(outcome.Results), "configuration")
	best := matmul.BestConfigurations(s.Problem.Objective(), outcome.Results)
	if len(best) == 0 {
		return nil, errors.Join(err, fmt.Errorf("none of %s is correct", evaluated))
	}
	fmt.Fprintf(t.Notes, "tuned %s at %s: %s of %d in %s, best %s\n", kernel, matmul.Sizes(shape),
		evaluated, one.Space.Len(), ui.RoundElapsed(time.Since(began)), best[0])
	return best, nil
}
