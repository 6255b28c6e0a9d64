package main

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
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/session"
)

type runOptions struct {
	spec       specOptions
	evaluation evaluationOptions
	device     string // "": the default one
	json       bool
	outputs    string // "": none is written
}

func runCommand(run runner[runOptions]) *cli.Command {
	o := &runOptions{spec: specOptions{takesInput: true}}
	return &cli.Command{
		Name:      "run",
		Usage:     "build, verify and time one configuration",
		ArgsUsage: "SPEC",
		Description: `Evaluates the configuration that the -p flags name, and shows all its details: the launch,
every single time, the use of the time, and the whole reason of a failure. A parameter that has
a single value in the specification may be left out.

   ndtune run kernel.yaml -p block_size_x=64 -p tile_size=2
   ndtune run kernel.yaml -p block_size_x=64 -p tile_size=2 --iterations 100 --device cpu

With --iterations 0, the kernel is launched once, and not timed. A program that runs many kernels gives
a specification after the other on standard input, and reads a line for each (docs/stream.md):

   ndtune run - --json --iterations 0 --outputs results`,
		Flags: slices.Concat(o.spec.flags(), []cli.Flag{deviceFlag(&o.device, "")}, o.evaluation.flags(&o.spec), []cli.Flag{
			jsonLinesFlag(&o.json),
			verboseFlag("show the output of the kernel and the driver"),
			textFlag(&o.outputs, "outputs", categoryOutput,
				"write the outputs of the first launch, which finds the initial content of all buffers, to `FOLDER`, as NAME.npy"),
		}),
		Action: streamed(action(o, run)),
	}
}

func (o *runOptions) read(c *cli.Context) error {
	if err := o.spec.readArgument(c); err != nil {
		return err
	}
	return o.evaluation.read(c)
}

func runSpec(ctx context.Context, t *console, o *runOptions) error {
	e := o.evaluation.on(t)
	e.Single, e.Outputs = true, o.outputs
	choose := sync.OnceValues(func() (device.Listed, error) { return selectDevice(o.device) })
	if o.json && o.spec.isInput() {
		return o.runEach(ctx, t, e, choose)
	}
	return o.runOne(ctx, t, e, choose)
}

// runEach answers each specification on standard input, until that ends. A specification that is wrong costs its own answer only.
func (o *runOptions) runEach(ctx context.Context, t *console, e session.Evaluation, choose func() (device.Listed, error)) error {
	reserve, done := o.evaluation.prepareWorker(t, o.device)
	defer done()
	e.Reserve = reserve
	if _, err := choose(); err != nil {
		return err
	}
	for n := 1; ; n++ {
		if o.outputs != "" {
			e.Outputs = filepath.Join(o.outputs, strconv.Itoa(n))
		}
		switch err := o.runOne(ctx, t, e, choose); {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, errNoSpecification):
			return nil
		case err != nil && !errors.Is(err, errReported):
			t.stream.tell(streamEnd{Kind: "error", Status: exitStatus(err, false), Error: err.Error()})
		}
	}
}

// runOne evaluates the only configuration of a specification.
func (o *runOptions) runOne(ctx context.Context, t *console, e session.Evaluation, choose func() (device.Listed, error)) error {
	s, err := o.spec.loadChecked(ctx, t)
	if err != nil {
		return err
	}
	if open := openParameters(s.Problem); len(open) > 0 {
		return wrong("run evaluates one configuration: name one value for %s with -p", strings.Join(open, ", "))
	}
	listed, err := choose()
	if err != nil {
		return err
	}
	if e.Outputs != "" {
		if err := cmp.Or(os.MkdirAll(e.Outputs, 0o777), checkWritable(filepath.Join(e.Outputs, "out.npy"))); err != nil {
			return wrong("--outputs: %w", err)
		}
	}
	one := session.New(session.Plan{Spec: s}, session.Place{Devices: []device.Listed{listed}}, e, t.listener())
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
	printOne(t.out, s.Problem, outcome)
	for _, warning := range outcome.Warnings {
		t.note(warning)
	}
	if t.stream != nil {
		line, err := record.ResultLine(outcome.Results[0])
		if err != nil {
			return err
		}
		t.stream.lines(line)
	}
	if outcome.Best == nil && ctx.Err() == nil {
		return errIncorrect
	}
	return ctx.Err()
}

// openParameters lists the parameters that have more than one value left, with their values.
func openParameters(p *problem.Problem) []string {
	var open []string
	for i := range p.Parameters().Len() {
		q := p.Parameters().At(i)
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
		fmt.Fprintln(w, coldCaches)
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
		fmt.Fprintln(w, formatMeasured(r.Configuration.String(), r.Time(), r.Metrics))
		fmt.Fprintf(w, "times: minimum %s, median %s, mean %s, maximum %s, standard deviation %s (%s)\n",
			formatTime(s.Min), formatTime(s.Median), formatTime(s.Mean), formatTime(s.Max), formatTime(s.StandardDeviation),
			figure.Count(s.Count, "launch"))
		fmt.Fprintf(w, "each: %s\n", joinTexts(" ", formatTime, r.Times...))
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
		fmt.Fprintln(w, limitText(l, r.Time()))
		if doubt := limitDoubt(l, r.Time()); doubt != "" {
			fmt.Fprintln(w, doubt)
		}
	}
	d := r.Durations
	fmt.Fprintf(w, "spent: build %s, verify %s, measure %s, all else %s\n",
		round(d.Build), round(d.Verify), round(d.Measure), round(d.Framework))
	printBuild(w, p, r.Configuration, o.Device)
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }
