package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/session"
	"github.com/ndtune/ndtune/tune/spec"
	"github.com/ndtune/ndtune/tune/task"
)

func runCommand() *cli.Command {
	flags := append(append(specFlags(), deviceFlag("")), evaluationFlags()...)
	flags = append(flags, &cli.BoolFlag{
		Name: "verbose", Aliases: []string{"v"}, Category: categoryOutput,
		Usage: "show the output of the kernel and the driver",
	})
	return &cli.Command{
		Name:      "run",
		Usage:     "build, verify and time one configuration",
		ArgsUsage: "SPEC",
		Description: `Evaluates the configuration that the -p flags name, and shows all its details: the launch,
every single time, the use of the time, and the whole reason of a failure. A parameter that has
a single value in the specification may be left out.

   ndtune run kernel.yaml -p block_size_x=64 -p tile_size=2
   ndtune run kernel.yaml -p block_size_x=64 -p tile_size=2 --iterations 100 --device cpu`,
		Flags: flags,
		Action: func(c *cli.Context) error {
			s, err := loadSpec(c)
			if err != nil {
				return err
			}
			return runOne(c, s)
		},
	}
}

// runOne evaluates the only configuration of a specification.
func runOne(c *cli.Context, s *spec.Spec) error {
	if err := checkWorkers(c); err != nil {
		return err
	}
	if open := openParameters(s.Problem); len(open) > 0 {
		return wrong("run evaluates one configuration: name one value for %s with -p", strings.Join(open, ", "))
	}
	listed, err := selectDevice(c)
	if err != nil {
		return err
	}
	evaluation := evaluationOf(c)
	evaluation.Named = true
	one := session.New(session.Plan{Spec: s}, session.Place{Devices: []device.Listed{listed}}, evaluation, listener(c))
	defer one.Close()
	if err := one.FindPeaks(c.Context, nil); err != nil {
		return err
	}
	if err := one.OpenEvaluator(c.Context); err != nil {
		return err
	}
	outcome, err := one.RunOne(c.Context)
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
	if err := one.AddLimits(c.Context, outcome); err != nil {
		return err
	}
	printOne(c.App.Writer, s.Problem, outcome)
	if outcome.Results[0].Unchanged {
		fmt.Fprintln(c.App.ErrWriter, unchangedNotice)
	}
	if outcome.Best == nil && c.Context.Err() == nil {
		return errIncorrect
	}
	return c.Context.Err()
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
	if p.Timing().Cache == task.CacheCold {
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
	fmt.Fprintln(w, formatMeasured(r.Configuration.String(), r.Time(), r.Metrics))
	s := r.Stats()
	fmt.Fprintf(w, "times: minimum %s, median %s, mean %s, maximum %s, standard deviation %s (%s)\n",
		formatTime(s.Min), formatTime(s.Median), formatTime(s.Mean), formatTime(s.Max), formatTime(s.StandardDeviation),
		figure.Count(s.Count, "launch"))
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
	fmt.Fprintf(w, "each: %s\noutput: %s\n", joinTexts(" ", formatTime, r.Times...), verified)
	if l, err := p.Limit(r.Configuration, o.Device); err == nil {
		fmt.Fprintln(w, limitText(l, r.Time()))
		if note := quickText(o.Device.Peaks); note != "" {
			fmt.Fprintln(w, note)
		}
	}
	d := r.Durations
	fmt.Fprintf(w, "spent: build %s, verify %s, measure %s, all else %s\n",
		round(d.Build), round(d.Verify), round(d.Measure), round(d.Framework))
	printBuild(w, p, r.Configuration, o.Device)
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }
