package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/matmul"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
	"github.com/ndtune/ndtune/tune/worker"
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
			&cli.StringFlag{Name: "sizes", Category: categorySpec, Usage: "`N[,N…]`: rows and columns of the matrices", DefaultText: joinInts(matmul.DefaultSizes, ",")},
			&cli.StringFlag{Name: "kernel", Category: categorySpec, Usage: "`KERNEL[,KERNEL…]` to measure: " + strings.Join(matmul.Kernels, ", "), Value: strings.Join(matmul.DefaultKernels, ",")},
			&cli.StringSliceFlag{Name: "tuned", TakesFile: true, Category: categorySpec, Usage: "take the best configurations of a kernel from a `RECORD` of it, and do not tune it; may be repeated, also for several sizes of one kernel"},
			&cli.StringFlag{Name: "tune-sizes", Category: categorySearch, Usage: "tune at `N[,N…]`", DefaultText: joinInts(matmul.DefaultTuneSizes, ",") + "; on a CPU " + joinInts(matmul.DefaultTuneSizesCPU, ",") + "; each within the --sizes"},
			&cli.IntFlag{Name: "max-evals", Category: categorySearch, Usage: "evaluate at most `N` configurations of each kernel at each size, failures included"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Category: categorySearch, Usage: "seed of the search strategy's random choices"},
			&cli.DurationFlag{Name: "time-limit", Value: matmul.DefaultTimeLimit, Category: categoryEvaluation, Usage: "`DURATION` of all, tuning included"},
			&cli.DurationFlag{Name: "cpu-limit", Value: matmul.DefaultLoopLimit, Category: categoryEvaluation, Usage: "longest `DURATION` of one multiplication by the CPU loop"},
			&cli.IntFlag{Name: "iterations", Value: device.DefaultIterations, Category: categoryEvaluation, Usage: "timed multiplications of each, at least, where they do not take seconds"},
			&cli.StringSliceFlag{Name: "library", TakesFile: true, Category: categoryEvaluation, Usage: "look for OpenBLAS, cuBLAS and the CUDA runtime in `PATH` first: a file, a folder, or one with pip's packages; may be repeated"},
			deviceFlag(),
			&cli.StringSliceFlag{Name: "output", Aliases: []string{"o"}, TakesFile: true, Category: categoryOutput, Usage: "write the times to `FILE`: .csv, or as a picture .png, .svg or .pdf; may be repeated"},
		},
		Action: runBench,
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
	bar := newBar(c.App.ErrWriter, len(sweep.Participants)*len(sweep.Sizes), "measurements")
	if bar != nil {
		sweep.OnStart = func(entrant string, n int) { bar.Describe(fmt.Sprintf("%s, N = %d", entrant, n)) }
		sweep.OnCell = func(matmul.Cell) { _ = bar.Add(1) } // an error of the terminal does not end the sweep
	}
	cells := sweep.Run(c.Context)
	if bar != nil {
		_ = bar.Finish()
		_ = bar.Clear()
	}
	measured := slices.ContainsFunc(cells, func(c matmul.Cell) bool { return c.Measurement != nil })
	if measured {
		printBench(c.App.Writer, cells)
	}
	for _, r := range matmul.LeftOut(cells) {
		fmt.Fprintf(c.App.ErrWriter, "%s is left out at N = %s: %s\n", r.Entrant, joinInts(r.Sizes, ", "), r.Text)
	}
	if measured {
		title := fmt.Sprintf("C = A·B, N × N, float32: %s", b.Device.Name)
		outputs := c.StringSlice("output")
		var errs []error
		for _, path := range outputs {
			errs = append(errs, matmul.WriteFile(path, title, cells))
		}
		if err := errors.Join(errs...); err != nil {
			return err
		}
		if len(outputs) > 0 {
			fmt.Fprintf(c.App.ErrWriter, "results: %s\n", strings.Join(outputs, ", "))
		}
	}
	switch {
	case c.Context.Err() != nil:
		return errInterrupted
	case !measured:
		return errReported
	}
	return nil
}

// newBench reads the command line. Errors in it are found before anything is measured.
func newBench(c *cli.Context) (*matmul.Bench, error) {
	b := &matmul.Bench{
		Sizes: matmul.DefaultSizes, Libraries: c.StringSlice("library"), Iterations: c.Int("iterations"),
		Began: time.Now(), TimeLimit: c.Duration("time-limit"), LoopLimit: c.Duration("cpu-limit"),
		Note: func(text string) { fmt.Fprintln(c.App.ErrWriter, text) },
	}
	b.Tune = func(ctx context.Context, kernel string, s *spec.Spec, n int, limit time.Duration) ([]string, error) {
		return tuneForBench(ctx, c, b.Device, kernel, s, n, limit)
	}
	for _, read := range []func(*cli.Context, *matmul.Bench) error{readBenchSizes, checkBenchLimits, readBenchKernels, readBenchRecords, checkBenchFiles} {
		if err := read(c, b); err != nil {
			return nil, &usageError{err}
		}
	}
	var err error
	b.Device, err = selectDevice(c)
	return b, err
}

func readBenchSizes(c *cli.Context, b *matmul.Bench) error {
	err := noArguments(c)
	if err != nil {
		return err
	}
	if c.IsSet("sizes") {
		if b.Sizes, err = parseMatrixSizes("sizes", c.String("sizes")); err != nil {
			return err
		}
	}
	if c.IsSet("tune-sizes") {
		b.TuneSizes, err = parseMatrixSizes("tune-sizes", c.String("tune-sizes"))
	}
	return err
}

// parseMatrixSizes returns the sizes in the value of a flag, ascending, each once.
func parseMatrixSizes(flag, text string) ([]int, error) {
	sizes := positiveInts(text)
	if sizes == nil || slices.Max(sizes) > matmul.MaxSize {
		return nil, fmt.Errorf("--%s %s: want numbers from 1 to %d, such as 64,256,1024", flag, text, matmul.MaxSize)
	}
	slices.Sort(sizes)
	return slices.Compact(sizes), nil
}

func checkBenchLimits(c *cli.Context, _ *matmul.Bench) error {
	if err := checkPositive(c, "time-limit", "cpu-limit", "max-evals"); err != nil {
		return err
	}
	if n := c.Int("iterations"); n < 1 {
		return fmt.Errorf("--iterations %d: want at least 1", n)
	}
	return nil
}

func readBenchKernels(c *cli.Context, b *matmul.Bench) error {
	for name := range strings.SplitSeq(c.String("kernel"), ",") {
		name = strings.TrimSpace(name)
		if !slices.Contains(matmul.Kernels, name) {
			return fmt.Errorf("--kernel %s: there are %s%s", name, strings.Join(matmul.Kernels, ", "), nearest.Hint(name, matmul.Kernels))
		}
		if !slices.Contains(b.Kernels, name) {
			b.Kernels = append(b.Kernels, name)
		}
	}
	return nil
}

func readBenchRecords(c *cli.Context, b *matmul.Bench) error {
	for _, path := range c.StringSlice("tuned") {
		r, err := record.Read(path)
		if err != nil {
			return fmt.Errorf("--tuned: %w", err)
		}
		if err := b.AddRecord(r); err != nil {
			return fmt.Errorf("--tuned %s: %w", path, err)
		}
	}
	return nil
}

func checkBenchFiles(c *cli.Context, b *matmul.Bench) error {
	for _, path := range c.StringSlice("output") {
		if err := matmul.CheckPath(path); err != nil {
			return fmt.Errorf("--output %w", err) // which names the path
		}
		if err := checkFolder(path); err != nil {
			return fmt.Errorf("--output %s: %w", path, err)
		}
	}
	for _, path := range b.Libraries {
		if err := matmul.CheckLibraryPlace(path); err != nil {
			return fmt.Errorf("--library: %w", err)
		}
	}
	return nil
}

// tuneForBench searches a kernel in workers. A search that has not ended after twice its limit,
// because of what its workers hold, is stopped.
func tuneForBench(ctx context.Context, c *cli.Context, on device.Listed, kernel string, s *spec.Spec, n int, limit time.Duration) ([]string, error) {
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, 2*limit+10*time.Second)
	defer cancel()
	pool, err := worker.Open(limited, []device.Listed{on}, s.Problem, worker.Options{
		Iterations: c.Int("iterations"), EarlyStop: device.DefaultEarlyStop,
		Note: func(text string) { fmt.Fprintln(c.App.ErrWriter, text) },
	})
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	configurations, err := s.Space(limited, pool.Device())
	if err != nil {
		return nil, err
	}
	total := configurations.Len()
	if most := c.Int("max-evals"); most > 0 {
		total = min(total, most)
	}
	bar := newProgress(c.App.ErrWriter, total, s.Problem.Objective(), false)
	outcome, err := tune.Run(limited, s.Problem, pool, tune.Options{
		Space: configurations, MaxEvaluations: c.Int("max-evals"), TimeLimit: max(limit, time.Second),
		Strategy: func(of *space.Space) (search.Strategy, error) {
			return search.New(search.Auto, of, search.Options{Seed: c.Uint64("seed"), Budget: c.Int("max-evals")})
		},
		OnResult: func(r tune.Result, _ bool) { bar.add(r, c.App.ErrWriter, "") },
	})
	bar.finish()
	if outcome == nil {
		return nil, err
	}
	if outcome.Stop == tune.Environment {
		return nil, fmt.Errorf("stopped: %s", outcome.Cause)
	}
	evaluated := countNoun(len(outcome.Results), "configuration")
	best := matmul.BestConfigurations(s.Problem.Objective(), outcome.Results)
	if len(best) == 0 {
		return nil, errors.Join(err, fmt.Errorf("none of %s is correct", evaluated))
	}
	fmt.Fprintf(c.App.ErrWriter, "tuned %s at N = %d: %s of %d in %s, best %s\n", kernel, n,
		evaluated, configurations.Len(), roundElapsed(time.Since(began)), best[0])
	return best, nil
}

// printBench prints the tables of times and rates, the configurations of the kernels, and who wins
// from which size on.
func printBench(w io.Writer, cells []matmul.Cell) {
	if slices.ContainsFunc(cells, func(c matmul.Cell) bool { return c.Measurement != nil && c.Measurement.HostTimer }) {
		fmt.Fprintln(w, "timer: host")
	}
	for _, t := range matmul.Tables(cells) {
		printTitled(w, t)
	}
	for i, r := range matmul.Configurations(cells) {
		if i == 0 {
			fmt.Fprintln(w, "\nconfigurations")
		}
		fmt.Fprintf(w, "%s: %s (N = %s)\n", r.Entrant, r.Text, joinInts(r.Sizes, ", "))
	}
	if wins := matmul.Wins(cells); len(wins.Rows) > 0 {
		printTitled(w, wins)
	}
}

func printTitled(w io.Writer, t matmul.Table) {
	fmt.Fprintf(w, "\n%s\n", t.Title)
	var flags uint
	if t.Numbers {
		flags = tabwriter.AlignRight
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', flags)
	for _, row := range append([][]string{t.Head}, t.Rows...) {
		line := strings.Join(row, "\t")
		if t.Numbers {
			line += "\t" // the last column is aligned too
		}
		fmt.Fprintln(table, line)
	}
	table.Flush()
}

func joinInts(numbers []int, between string) string {
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, between)
}
