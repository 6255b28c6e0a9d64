package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/job"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/session"
	"github.com/ndtune/ndtune/tune/source"
)

type runOptions struct {
	spec       job.Spec
	evaluation job.Evaluation
	device     string // "": the default one
	json       bool
	outputs    string // "": none is written
}

func runCommand(run flags.Runner[runOptions]) *cli.Command {
	o := &runOptions{spec: job.Spec{TakesInput: true}}
	return &cli.Command{
		Name:      "run",
		Usage:     "build, verify and time one configuration",
		ArgsUsage: "SPEC",
		Description: `Evaluates the configuration that the -p flags name, and shows every single time, the use of the
time, and the whole reason of a failure. A parameter that has a single value may be left out. With
--iterations 0, the kernel is launched once, and not timed. A program gives a specification after
the other on standard input, and reads a line for each (docs/stream.md).

   ndtune run kernel.yaml -p block_size_x=64 -p tile_size=2
   ndtune run kernel.yaml -p block_size_x=64 -p tile_size=2 --iterations 100 --device cpu
   ndtune run - --json --iterations 0 --outputs results`,
		Flags: slices.Concat(o.spec.Flags(), []cli.Flag{flags.Device(&o.device, "")}, o.evaluation.Flags(&o.spec), []cli.Flag{
			flags.JSONLines(&o.json),
			flags.Verbose("show the output of the kernel and the driver"),
			flags.Text(&o.outputs, "outputs", flags.CategoryOutput,
				"write the outputs of the first launch, which finds the initial content of all buffers, to `FOLDER`, as NAME.npy"),
		}),
		Action: flags.Streamed(flags.Action(o, run)),
	}
}

func (o *runOptions) Read(c *cli.Context) error {
	if err := o.spec.ReadArgument(c); err != nil {
		return err
	}
	return o.evaluation.Read(c)
}

func runSpec(ctx context.Context, t *ui.Console, o *runOptions) error {
	e := o.evaluation.On(t)
	e.Single, e.Outputs = true, o.outputs
	if o.json && o.spec.IsInput() {
		return o.runEach(ctx, t, e)
	}
	return o.runOne(ctx, t, e)
}

// runEach answers each specification on standard input, until that ends. A specification that is wrong costs its own answer only.
func (o *runOptions) runEach(ctx context.Context, t *ui.Console, e session.Evaluation) error {
	reserve, done := o.evaluation.PrepareWorker(t, o.device, o.spec.Languages())
	defer done()
	e.Reserve = reserve
	if _, err := device.SelectFor(o.device, source.OpenCL); err != nil {
		if _, err = device.SelectFor(o.device); err != nil {
			return err
		}
	}
	for n := 1; ; n++ {
		if o.outputs != "" {
			e.Outputs = filepath.Join(o.outputs, strconv.Itoa(n))
		}
		switch err := o.runOne(ctx, t, e); {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, job.ErrNoSpecification):
			return nil
		case err != nil && !errors.Is(err, ui.ErrReported):
			t.Stream.Tell(ui.StreamEnd{Kind: "error", Status: ui.ExitStatus(err, false), Error: err.Error()})
		}
	}
}

// runOne evaluates the only configuration of a specification.
func (o *runOptions) runOne(ctx context.Context, t *ui.Console, e session.Evaluation) error {
	s, err := o.spec.LoadChecked(ctx, t)
	if err != nil {
		return err
	}
	if open := openParameters(s.Problem); len(open) > 0 {
		return ui.Wrong("run evaluates one configuration: name one value for %s with -p", strings.Join(open, ", "))
	}
	listed, s, err := job.SelectFor(o.device, s)
	if err != nil {
		return err
	}
	if e.Outputs != "" {
		if err := cmp.Or(os.MkdirAll(e.Outputs, 0o777), ui.CheckWritable(filepath.Join(e.Outputs, "out.npy"))); err != nil {
			return ui.Wrong("--outputs: %w", err)
		}
	}
	one := session.New(session.Plan{Spec: s}, session.Place{Devices: []device.Listed{listed}}, e, t.Listener())
	defer one.Close()
	if err := one.FindPeaks(ctx, nil); err != nil {
		return err
	}
	if err := one.OpenEvaluator(ctx); err != nil {
		return err
	}
	outcome, err := one.RunOne(ctx)
	switch {
	case err != nil:
		return err
	case outcome.Stop == tune.Interrupted:
		return context.Canceled
	case outcome.Stop == tune.Environment:
		return fmt.Errorf("the configuration may not be at fault: %s", outcome.Cause)
	case len(outcome.Results) == 0:
		return fmt.Errorf("the evaluator gave no result")
	}
	if err := one.AddLimits(ctx, outcome); err != nil {
		return err
	}
	printOne(t.Out, s.Problem, outcome)
	for _, warning := range outcome.Warnings {
		t.Note(warning)
	}
	if t.Stream != nil {
		line, err := record.ResultLine(outcome.Results[0])
		if err != nil {
			return err
		}
		t.Stream.Lines(line)
	}
	if outcome.Best == nil && ctx.Err() == nil {
		return ui.ErrIncorrect
	}
	return ctx.Err()
}

// openParameters lists the parameters that have more than one value left, with their values.
func openParameters(p *problem.Problem) []string {
	var open []string
	for _, q := range p.Parameters().List() {
		if len(q.Values) > 1 {
			open = append(open, fmt.Sprintf("%s (%s)", q.Name, formatValues(q.Values)))
		}
	}
	return open
}

func printOne(w io.Writer, p *problem.Problem, o *tune.Outcome) {
	r := o.Results[0]
	fmt.Fprintf(w, "Using: %s\n", o.Device.Name)
	if o.Device.Timer == hardware.TimerHost {
		fmt.Fprintln(w, "timer: host")
	}
	if p.Timing().Cache == definition.CacheCold {
		fmt.Fprintln(w, job.ColdCaches)
	}
	sizes := r.Launches()
	if launches, err := p.Launches(r.Configuration, o.Device); err == nil && sizes == nil && !p.IsPipeline() {
		l := launches[0].NDRange // of a configuration that is not correct
		sizes = []string{figure.Launch(l.Global(), l.WorkGroup(), l.GlobalOffset())}
	}
	for _, launch := range sizes {
		fmt.Fprintf(w, "launch: %s\n", launch)
	}
	if r.Status != tune.Correct {
		fmt.Fprintf(w, "%s, %s: %s\n", r.Configuration, r.Status, strings.TrimSpace(r.Reason))
		return
	}
	if s := r.Stats(); len(r.Times) > 0 {
		fmt.Fprintln(w, ui.FormatMeasured(r.Configuration.String(), r.Time(), r.Metrics))
		fmt.Fprintf(w, "times: minimum %s, median %s, mean %s, maximum %s, standard deviation %s (%s)\n",
			ui.FormatTime(s.Min), ui.FormatTime(s.Median), ui.FormatTime(s.Mean), ui.FormatTime(s.Max), ui.FormatTime(s.StandardDeviation),
			figure.Count(s.Count, "launch"))
		fmt.Fprintf(w, "each: %s\n", ui.Join(" ", ui.FormatTime, r.Times...))
	} else {
		fmt.Fprintf(w, "%s, launched once\n", r.Configuration)
	}
	for _, reading := range r.Readings {
		if reading.Missing != "" {
			fmt.Fprintf(w, "%s: %s\n", reading.Quantity, reading)
		}
	}
	verified := "unverified"
	if r.Verified {
		verified = "verified"
		if p.VerifiesItself() {
			verified += " by this kernel itself, the weakest reference"
		}
	}
	fmt.Fprintf(w, "output: %s\n", verified)
	if l, err := p.Limit(r.Configuration, o.Device); err == nil && len(r.Times) > 0 {
		fmt.Fprintln(w, l.Text(r.Time()))
	}
	d := r.Durations
	fmt.Fprintf(w, "spent: build %s, verify %s, measure %s, all else %s\n",
		round(d.Build), round(d.Verify), round(d.Measure), round(d.Framework))
	job.PrintBuild(w, p, r.Configuration, o.Device)
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }
