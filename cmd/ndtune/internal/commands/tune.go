package commands

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/job"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/check"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
)

type tuneOptions struct {
	job.Options
	check, json bool
}

func tuneCommand(run flags.Runner[tuneOptions]) *cli.Command {
	o := &tuneOptions{}
	o.Spec.TakesInput, o.Spec.TakesSizes = true, true
	return &cli.Command{
		Name:      "tune",
		Usage:     "search a specification's space for its fastest configuration",
		ArgsUsage: "SPEC",
		Description: `Builds and verifies the configurations of a specification (docs/spec.md), times the correct ones,
and measures the ten best, the finalists, again before it names the winner (docs/report.md).

   ndtune tune kernel.yaml
   ndtune tune kernel.yaml --device gpu --set n=4096 -o results.json -o results.csv
   ndtune tune kernel.yaml -p block_size_x=32,64 -v
   ndtune tune kernel.yaml --max-evals 50 --prior other-device.jsonl
   ndtune tune kernel.yaml --serve 127.0.0.1:0

Ctrl-C keeps the results: the same command with the same --log goes on.

   ndtune tune kernel.yaml --max-evals 100 --log kernel.jsonl
   ndtune tune kernel.yaml --log kernel.jsonl --retry-failures=compile,timeout

Several values of a constant are sizes: each is tuned, and compared (docs/compare.md#sizes). In a
fleet, the devices of one kind share the search (docs/fleet.md). JSON lines, and a specification
on standard input, are for programs (docs/stream.md).

   ndtune tune kernel.yaml --set n=1024,2048,4096 --log kernel.jsonl
   ndtune tune kernel.yaml --fleet nats://127.0.0.1:4222 --device gpu
   ndtune tune kernel.yaml --json`,
		Flags: slices.Concat(o.Spec.Flags(), o.Options.Flags(), []cli.Flag{
			flags.Switch(&o.check, "check", flags.CategoryEvaluation,
				"check the finalists for faults of the kernel at the end, on the device and in Oclgrind if it is installed (docs/check.md)"),
			flags.JSONLines(&o.json),
		},
			o.Fleet.SearchFlags("evaluate on the devices of the fleet")),
		Action: flags.Streamed(flags.Action(o, run)),
	}
}

func (o *tuneOptions) Read(c *cli.Context) error {
	if err := o.Spec.ReadArgument(c); err != nil {
		return err
	}
	return o.ReadSearch(c)
}

// tuneSpec searches the space of a specification, at each of its sizes.
func tuneSpec(ctx context.Context, t *ui.Console, o *tuneOptions) error {
	reserve, done := o.Evaluation.PrepareWorker(t, o.Device, o.Spec.Languages())
	defer done()
	s, err := o.Spec.Load(ctx, t)
	if err != nil {
		return err
	}
	if len(s.Sizes) > 0 {
		return tuneSizes(ctx, t, o, s)
	}
	if err := s.CheckSpace(ctx); err != nil {
		return err
	}
	j, err := job.New(ctx, t, &o.Options, s, s.Path)
	if err != nil {
		return err
	}
	if err := j.CheckFiles(); err != nil {
		return err
	}
	if o.Spec.IsInput() {
		if j.Plan.Known, err = knownResults(ctx, t, s.Problem); err != nil {
			return err
		}
	}
	j.Evaluation.Reserve = reserve
	f, err := j.ChooseDevices(ctx)
	if err != nil {
		return err
	}
	defer f.Close()
	outcome, err := j.SearchAndWrite(ctx)
	if o.check {
		err = ui.Joined([]error{err, checkFinalists(ctx, j, outcome)})
	}
	return err
}

// knownResults reads the results that follow the specification on standard input.
func knownResults(ctx context.Context, t *ui.Console, p *problem.Problem) (results []tune.Result, err error) {
	text, err := t.In.Next(ctx)
	if err == nil {
		results, err = record.ParseResults(text, p.Parameters())
	}
	switch {
	case err == io.EOF || ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, ui.Wrong("known results on standard input: %w", err)
	}
	return results, nil
}

// checkFinalists checks the finalists of a search for faults of the kernel, or the best configurations if there are no finalists.
func checkFinalists(ctx context.Context, j *job.Job, outcome *tune.Outcome) error {
	if outcome == nil || outcome.Best == nil || ctx.Err() != nil {
		return nil
	}
	ranking := tune.Rank(j.Plan.Spec.Problem.Objective(), outcome.Results)
	var configurations []space.Configuration
	for i, place := range ranking.Indices {
		if i == max(1, ranking.Finalists) {
			break
		}
		configurations = append(configurations, outcome.Results[place].Configuration)
	}
	s, d := j.Plan.Spec, j.Place.Devices[0]
	o := check.Options{
		File: s.SourceName(), Set: s.CheckConstants, Device: d.Selector(), Identity: *d.Identity, Jobs: runtime.GOMAXPROCS(0),
	}
	if err := o.Watch(s.Problem.Language()); err != nil {
		j.Say("--check: on the device alone: %v", err)
	}
	if hint := o.Hint(s.Problem); hint != "" {
		j.Say("--check: %s", hint)
	}
	r, err := check.Run(ctx, s.Problem, configurations, o)
	if err != nil {
		return err
	}
	r.Spec = s.Path
	fmt.Fprintln(j.Notes)
	if err := r.Write(j.Notes, "text"); err != nil {
		return err
	}
	if !r.Clean() {
		return ui.ErrIncorrect
	}
	return nil
}
