package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/spec"
)

func runCommand() *cli.Command {
	flags := append(append(specFlags(), deviceFlag()), evaluationFlags()...)
	flags = append(flags, &cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Category: categoryOutput, Usage: "show what the kernel and the driver print"})
	return &cli.Command{
		Name:      "run",
		Usage:     "build, verify and time one configuration",
		ArgsUsage: "SPEC",
		Description: `Evaluates the one configuration that the -p flags name, and shows everything about it: the
launch, every single time, where the time went, and on failure the whole reason. A
parameter that has a single value in the specification may be left out.

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
	if err := checkEvaluationFlags(c); err != nil {
		return err
	}
	if open := openParameters(s.Problem); len(open) > 0 {
		return wrong("run evaluates one configuration: name one value for %s with -p", strings.Join(open, ", "))
	}
	listed, err := selectDevice(c)
	if err != nil {
		return err
	}
	found, err := findPeaks(c, listed, s.Problem, "")
	if err != nil {
		return err
	}
	evaluator, err := openEvaluator(c, []device.Listed{listed}, s.Problem, found.peaks, true)
	if err != nil {
		return err
	}
	defer evaluator.Close()
	outcome, err := tune.Run(c.Context, s.Problem, evaluator, tune.Options{Finalists: -1})
	switch {
	case err != nil:
		return err
	case outcome.Stop == tune.Interrupted:
		return errInterrupted
	case outcome.Stop == tune.Environment:
		return fmt.Errorf("this may be no fault of the configuration: %s", outcome.Cause)
	case len(outcome.Results) == 0:
		return fmt.Errorf("the evaluator gave no result")
	}
	if found.later {
		evaluator.Close()
		addLimits(c, listed, s.Problem, outcome, &quickPeaks{})
	}
	printOne(c.App.Writer, s.Problem, outcome)
	switch {
	case c.Context.Err() != nil:
		return errInterrupted
	case outcome.Best == nil:
		return errReported
	}
	return nil
}

// openParameters are the parameters that have more than one value left, with them.
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
	if v, err := p.Variant(r.Configuration, o.Device); err == nil {
		fmt.Fprintf(w, "launch: %s work-groups of %s work-items\n", formatSizes(v.NDRange.Grid[:v.NDRange.Dimensions]), formatSizes(v.NDRange.WorkGroup()))
	}
	if r.Status != tune.Correct {
		fmt.Fprintf(w, "%s, %s: %s\n", r.Configuration, r.Status, strings.TrimSpace(r.Reason))
		return
	}
	fmt.Fprintln(w, formatMeasured(r.Configuration.String(), r.Time(), r.Metrics))
	s := r.Stats()
	fmt.Fprintf(w, "times: minimum %s, median %s, mean %s, maximum %s, standard deviation %s (%s)\n",
		formatTime(s.Min), formatTime(s.Median), formatTime(s.Mean), formatTime(s.Max), formatTime(s.StandardDeviation), countNoun(s.Count, "launch"))
	var each []string
	for _, t := range r.Times {
		each = append(each, formatTime(t))
	}
	fmt.Fprintf(w, "each: %s\n", strings.Join(each, " "))
	if r.Verified {
		fmt.Fprintln(w, "output: verified")
	} else {
		fmt.Fprintln(w, "output: unverified")
	}
	if l, err := p.Limit(r.Configuration, o.Device); err == nil {
		fmt.Fprintln(w, limitText(l, r.Time()))
		if note := quickText(o.Device.Peaks); note != "" {
			fmt.Fprintln(w, note)
		}
	}
	d := r.Durations
	fmt.Fprintf(w, "spent: build %s, verify %s, measure %s, all else %s\n", round(d.Build), round(d.Verify), round(d.Measure), round(d.Framework))
	if options := p.BuildOptions(r.Configuration); options != "" {
		fmt.Fprintf(w, "build options: %s\n", options)
	}
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }

func formatSizes(sizes []int) string {
	texts := make([]string, len(sizes))
	for i, n := range sizes {
		texts[i] = fmt.Sprint(n)
	}
	return strings.Join(texts, "×")
}
