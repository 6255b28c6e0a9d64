package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/internal/picture"
	"github.com/ndtune/ndtune/matmul"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/session"
	"github.com/ndtune/ndtune/tune/spec"
	"github.com/ndtune/ndtune/tune/task"
)

func matmulBenchCommand() *cli.Command {
	return &cli.Command{
		Name:  "bench",
		Usage: "time against size: a CPU loop, tuned kernels, OpenBLAS and cuBLAS",
		Description: `Multiplies matrices of growing size with a loop on one thread of the CPU, with bundled kernels
on an OpenCL device, and with the installed libraries: OpenBLAS on all cores, and cuBLAS in
float, tf32 and the precisions of the kernels. Finds the N from which each is faster than the
loop. Verifies every result. Prints two times: that of the multiplication alone, by the
device's events, and that with the copies of A and B to the device and of C back; and the
rates of kernels over cuBLAS in the same precision.

The precisions of the kernels: naive, local, tiled, fast and hopper multiply floats, tf32 and
hopper-tf32 round floats to 11 significant bits, half, hopper-half and fast-half multiply
halves, and double and fast-double doubles. On a device that cannot run tf32, half, double or
one of the hopper kernels, another one takes its place, with a note.

Each kernel is first tuned at a few sizes, in two fifths of the time limit, unless a record
(--tuned) has its configurations. At each N, the fastest of the finalists of
the nearest tuned sizes is measured.

   ndtune matmul bench
   ndtune matmul bench --sizes 64,128,256 -o matmul.csv -o matmul.png
   ndtune matmul bench --kernel tiled --tuned matmul.jsonl --time-limit 1m
   ndtune matmul bench --kernel hopper,fast,fast-double --sizes 1024,33x65x97 --errors

A measurement that would take too much of the remaining time is left out with a note, the
slowest first. The CPU loop is left out if one multiplication would take longer than --cpu-limit.
Ctrl-C keeps the measurements so far.`,
		Flags:  benchFlags(),
		Action: runBench,
	}
}

func benchFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "sizes", Category: categorySpec, DefaultText: joinInts(matmul.DefaultSizes, ","),
			Usage: "`SIZE[,SIZE…]`: N of square matrices, or M×N×K (such as 33x65x97) of A (M × K) and B (K × N)"},
		&cli.StringFlag{Name: "kernel", Category: categorySpec, Value: strings.Join(matmul.DefaultKernels, ","),
			Usage: "`KERNEL[,KERNEL…]` to measure: " + strings.Join(matmul.KernelNames(), ", ")},
		&cli.BoolFlag{Name: "errors", Category: categoryEvaluation,
			Usage: "also measure the errors of results with normally distributed, uniform and badly scaled numbers"},
		&cli.StringSliceFlag{Name: "tuned", TakesFile: true, Category: categorySpec,
			Usage: "use the best configurations of a kernel from a `RECORD` instead of tuning it; may be repeated, " +
				"also for several sizes of one kernel"},
		&cli.StringFlag{Name: "tune-sizes", Category: categorySearch,
			DefaultText: joinInts(matmul.DefaultTuneSizes, ",") + "; on a CPU " + joinInts(matmul.DefaultTuneSizesCPU, ",") +
				"; each within the --sizes",
			Usage: "tune at these sizes: `SIZE[,SIZE…]`"},
		&cli.IntFlag{Name: "max-evals", Category: categorySearch,
			Usage: "evaluate at most `N` configurations of each kernel at each size, failures included"},
		&cli.Uint64Flag{Name: "seed", Value: 1, Category: categorySearch, Usage: "seed of the search strategy's random choices"},
		&cli.DurationFlag{Name: "time-limit", Value: matmul.DefaultTimeLimit, Category: categoryEvaluation,
			Usage: "`DURATION` of the run, tuning included"},
		&cli.DurationFlag{Name: "cpu-limit", Value: matmul.DefaultLoopLimit, Category: categoryEvaluation,
			Usage: "longest `DURATION` of one multiplication by the CPU loop"},
		&cli.IntFlag{Name: "iterations", Value: task.DefaultLaunches, Category: categoryEvaluation,
			Usage: "time at least N multiplications of each kernel or library at each size, fewer if they take seconds"},
		&cli.StringSliceFlag{Name: "library", TakesFile: true, Category: categoryEvaluation,
			Usage: "look for OpenBLAS, cuBLAS and the CUDA runtime in `PATH` first: a file, a folder, or one with pip's packages; may be repeated"},
		deviceFlag(""),
		outputFlag(nil, "write the times to `FILE`: .csv, or as a picture .png, .svg or .pdf; may be repeated"),
	}
}

// runBench tunes, measures, and prints and writes the results, however the sweep ended.
func runBench(c *cli.Context) error {
	b, err := newBench(c)
	if err != nil {
		return err
	}
	defer b.Close()
	fmt.Fprintf(c.App.Writer, "Using: %s\n", b.Device.Name)
	if err := b.TuneKernels(c.Context); err != nil {
		return err
	}
	sweep, err := b.Open(c.Context)
	if err != nil {
		return err
	}
	bar := newProgress(c.App.ErrWriter, len(sweep.Participants)*len(sweep.Sizes), "measurement", false)
	sweep.OnStart = func(entrant string, s matmul.Shape) {
		bar.describe(fmt.Sprintf("%s, %s", entrant, matmul.Sizes([]matmul.Shape{s})))
	}
	sweep.OnCell = func(matmul.Cell) { bar.count(1) }
	cells := sweep.Run(c.Context)
	bar.finish()
	measured := slices.ContainsFunc(cells, func(c matmul.Cell) bool { return c.Measurement != nil })
	if measured {
		printBench(c.App.Writer, cells)
	}
	for _, r := range matmul.LeftOut(cells) {
		fmt.Fprintf(c.App.ErrWriter, "%s is left out at %s: %s\n", r.Entrant, matmul.Sizes(r.Sizes), r.Text)
	}
	if outputs := c.StringSlice("output"); measured && len(outputs) > 0 {
		var err error
		for _, path := range outputs {
			err = errors.Join(err, matmul.WriteFile(path, fmt.Sprintf("C = A·B, N × N: %s", b.Device.Name), cells))
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(c.App.ErrWriter, "results: %s\n", strings.Join(outputs, ", "))
	}
	if !measured && c.Context.Err() == nil {
		return errIncorrect
	}
	return c.Context.Err()
}

// newBench reads the command line. Errors in it are found before anything is measured.
func newBench(c *cli.Context) (*matmul.Bench, error) {
	b := &matmul.Bench{
		Libraries: c.StringSlice("library"), Iterations: c.Int("iterations"), Errors: c.Bool("errors"),
		Began: time.Now(), TimeLimit: c.Duration("time-limit"), LoopLimit: c.Duration("cpu-limit"),
		Note: func(text string) { fmt.Fprintln(c.App.ErrWriter, text) },
	}
	b.Tune = func(ctx context.Context, kernel string, s *spec.Spec, shape matmul.Shape, limit time.Duration) ([]string, error) {
		return tuneForBench(ctx, c, b.Device, kernel, s, shape, limit)
	}
	for _, read := range []func(*cli.Context, *matmul.Bench) error{checkBench, readBenchSizes, readBenchKernels, readBenchRecords} {
		if err := read(c, b); err != nil {
			return nil, err
		}
	}
	var err error
	b.Device, err = selectDevice(c)
	return b, err
}

func checkBench(c *cli.Context, b *matmul.Bench) error {
	if err := noArguments(c); err != nil {
		return err
	}
	for _, path := range b.Libraries {
		if err := matmul.CheckLibraryPlace(path); err != nil {
			return wrong("--library: %w", err)
		}
	}
	return checkOutputs("output", c.StringSlice("output"), matmul.CheckPath)
}

func readBenchSizes(c *cli.Context, b *matmul.Bench) error {
	for _, n := range matmul.DefaultSizes {
		b.Sizes = append(b.Sizes, matmul.Square(n))
	}
	read := func(flag string, sizes *[]matmul.Shape) error {
		if !c.IsSet(flag) {
			return nil
		}
		*sizes = nil
		for text := range strings.SplitSeq(c.String(flag), ",") {
			s, err := matmul.ParseShape(text)
			if err != nil {
				return wrong("--%s: %w", flag, err)
			}
			if !slices.Contains(*sizes, s) {
				*sizes = append(*sizes, s)
			}
		}
		slices.SortStableFunc(*sizes, matmul.BySize)
		return nil
	}
	if err := read("sizes", &b.Sizes); err != nil {
		return err
	}
	if err := read("tune-sizes", &b.TuneSizes); err != nil {
		return err
	}
	if !slices.ContainsFunc(b.Sizes, matmul.Shape.IsSquare) && slices.ContainsFunc(c.StringSlice("output"), picture.Is) {
		return wrong("--output: a picture shows square matrices, and --sizes %s has none; write a .csv", c.String("sizes"))
	}
	return nil
}

func readBenchKernels(c *cli.Context, b *matmul.Bench) error {
	for name := range strings.SplitSeq(c.String("kernel"), ",") {
		name = strings.TrimSpace(name)
		if !slices.Contains(matmul.KernelNames(), name) {
			return wrong("--kernel %s: there are %s%s", name, strings.Join(matmul.KernelNames(), ", "), nearest.Hint(name, matmul.KernelNames()))
		}
		if !slices.Contains(b.Kernels, name) {
			b.Kernels = append(b.Kernels, name)
		}
	}
	return nil
}

func readBenchRecords(c *cli.Context, b *matmul.Bench) error {
	for _, path := range c.StringSlice("tuned") {
		r, err := readRecord(c.Context, path)
		if err != nil {
			return wrong("--tuned: %w", err)
		}
		if err := b.AddRecord(r); err != nil {
			return wrong("--tuned %s: %w", path, err)
		}
	}
	return nil
}

// tuneForBench searches a kernel in workers. A search that has not ended after twice its limit is
// stopped: its workers may be busy with a slow configuration.
func tuneForBench(
	ctx context.Context, c *cli.Context, on device.Listed, kernel string, s *spec.Spec, shape matmul.Shape, limit time.Duration,
) ([]string, error) {
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, 2*limit+10*time.Second)
	defer cancel()
	one := session.New(session.Plan{
		Spec: s, Strategy: session.Strategy{Name: search.Auto}, Seed: c.Uint64("seed"),
		MaxEvaluations: c.Int("max-evals"), TimeLimit: max(limit, time.Second),
	}, session.Place{Devices: []device.Listed{on}}, session.Evaluation{}, listener(c))
	defer one.Close()
	if err := one.OpenEvaluator(limited); err != nil {
		return nil, err
	}
	if err := one.OpenSpace(limited); err != nil {
		return nil, err
	}
	bar := newProgress(c.App.ErrWriter, one.Total(), "configuration", false)
	bar.objective = s.Problem.Objective()
	outcome, err := one.Run(limited, func(r tune.Result, _ bool) { bar.add(r, c.App.ErrWriter, "") })
	bar.finish()
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
	fmt.Fprintf(c.App.ErrWriter, "tuned %s at %s: %s of %d in %s, best %s\n", kernel, matmul.Sizes([]matmul.Shape{shape}),
		evaluated, one.Space.Len(), roundElapsed(time.Since(began)), best[0])
	return best, nil
}

// printBench prints the tables of times and rates, the configurations of the kernels, and the winners by
// size.
func printBench(w io.Writer, cells []matmul.Cell) {
	if slices.ContainsFunc(cells, func(c matmul.Cell) bool { return c.Measurement != nil && c.Measurement.HostTimer }) {
		fmt.Fprintln(w, "timer: host")
	}
	for _, t := range append(matmul.Tables(cells), matmul.RatioTables(cells)...) {
		printTitled(w, t)
	}
	for i, r := range matmul.Configurations(cells) {
		if i == 0 {
			fmt.Fprintln(w, "\nconfigurations")
		}
		fmt.Fprintf(w, "%s: %s (%s)\n", r.Entrant, r.Text, matmul.Sizes(r.Sizes))
	}
	if wins := matmul.Wins(cells); len(wins.Rows) > 0 {
		printTitled(w, wins)
	}
}

func printTitled(w io.Writer, t figure.Table) {
	fmt.Fprintf(w, "\n%s\n", t.Title)
	indent := ""
	if t.Number != nil {
		indent = "  "
	}
	t.Write(w, indent)
}

func joinInts(numbers []int, between string) string {
	return joinTexts(between, strconv.Itoa, numbers...)
}
