package main

import (
	"context"
	"slices"

	"github.com/urfave/cli/v2"
)

type tuneOptions struct {
	searchOptions
	check, json bool
}

func tuneCommand(run runner[tuneOptions]) *cli.Command {
	o := &tuneOptions{}
	o.spec.takesInput = true
	return &cli.Command{
		Name:      "tune",
		Usage:     "search a specification's space for its fastest configuration",
		ArgsUsage: "SPEC",
		Description: `Reads a specification (docs/spec.md), builds and verifies its configurations on a device,
times the correct ones, and prints each result as it arrives and the best at the end. Before
it names the winner, it measures the ten best, the finalists, again, in rounds with one launch of
each. A table of them on stderr says which are indistinguishable from the winner (docs/report.md).

   ndtune tune kernel.yaml
   ndtune tune kernel.yaml --device gpu --set n=4096 -o results.json -o results.csv
   ndtune tune kernel.yaml -p block_size_x=32,64 -v
   ndtune tune kernel.yaml --max-evals 100 --log kernel.jsonl
   ndtune tune kernel.yaml --serve 127.0.0.1:0
   ndtune tune kernel.yaml --set n=1024,2048,4096 --log kernel.jsonl
   ndtune tune kernel.yaml --max-evals 50 --prior other-device.jsonl

An interrupted run (Ctrl-C) keeps its results: the same command with the same --log
continues it, also after values of parameters or restrictions have changed (docs/spec.md). Add
--retry-failures to evaluate failed configurations again:

   ndtune tune kernel.yaml --log kernel.jsonl --retry-failures
   ndtune tune kernel.yaml --log kernel.jsonl --retry-failures=compile,timeout

Several values of a constant, or sizes in the specification, tune it at each of these sizes, with a
run log for each. Each size begins with the best configurations of the nearest sizes before it. A table shows
the cost of each best at the other sizes, and the best over all sizes (docs/compare.md#sizes).

With --fleet, the devices of one kind in a fleet of machines share the search (docs/fleet.md):

   ndtune tune kernel.yaml --fleet nats://127.0.0.1:4222 --device gpu

With --serve, browsers on this machine show the report of the running search at the printed
address (docs/report.md).

For programs, there are JSON lines, and - is a specification on standard input (docs/stream.md):

   ndtune tune kernel.yaml --json`,
		Flags: slices.Concat(o.spec.flags(), o.searchOptions.flags(), []cli.Flag{o.checkFlag(), jsonLinesFlag(&o.json)},
			o.fleet.searchFlags("evaluate on the devices of the fleet")),
		Action: streamed(action(o, run)),
	}
}

func (o *tuneOptions) read(c *cli.Context) error {
	if err := o.spec.readArgument(c); err != nil {
		return err
	}
	return o.readSearch(c)
}

// tuneSpec searches the space of a specification, at each of its sizes.
func tuneSpec(ctx context.Context, t *console, o *tuneOptions) error {
	reserve, done := o.evaluation.prepareWorker(t, o.device)
	defer done()
	s, err := o.spec.loadSizes(ctx, t)
	if err != nil {
		return err
	}
	if len(s.Sizes) > 0 {
		return tuneSizes(ctx, t, o, s)
	}
	if err := s.CheckSpace(ctx); err != nil {
		return err
	}
	j, err := newJob(ctx, t, &o.searchOptions, s, s.Path)
	if err != nil {
		return err
	}
	if err := j.checkFiles(); err != nil {
		return err
	}
	if o.spec.isInput() {
		if j.plan.Known, err = knownResults(ctx, t, s.Problem); err != nil {
			return err
		}
	}
	page, closePage, err := o.openPage(t)
	if err != nil {
		return err
	}
	defer closePage()
	j.page = page
	j.evaluation.Reserve = reserve
	f, err := j.chooseDevices(ctx)
	if err != nil {
		return err
	}
	defer f.close()
	outcome, err := j.searchAndWrite(ctx)
	if o.check {
		err = joined([]error{err, checkFinalists(ctx, j, outcome)})
	}
	return err
}
