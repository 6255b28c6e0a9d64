package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/wisdom"
)

type wisdomTuneOptions struct {
	wisdomOptions
	searchOptions
}

func wisdomTuneCommand(run runner[wisdomTuneOptions]) *cli.Command {
	o := &wisdomTuneOptions{}
	return &cli.Command{
		Name:      "tune",
		Usage:     "print the best configuration for a device and a size, and search for it if the file does not have it",
		ArgsUsage: "FILE.wisdom SPEC",
		Description: `Prints the configuration that the file has for the device, the size and the source of the kernel.
If it has none, the command searches as ndtune tune does, begins with the best configurations of
the nearest sizes in the file, and adds the five best. Several processes that miss the same make
one search: the others wait for it.

   ndtune wisdom tune kernel.wisdom kernel.yaml --set n=4096 --time-limit 60s
   ndtune wisdom tune kernel.wisdom kernel.yaml --set n=1024,2048,4096 --json

A record of another driver counts; one of another source, and one that was not verified although
the specification verifies, does not (docs/wisdom.md).`,
		Flags: slices.Concat(o.spec.flags(), []cli.Flag{
			o.keyFlag(),
			o.problemSizeFlag("problem size of a specification that has no fixed one, such as that of a pipeline"),
			switchFlag(&o.json, "json", "", "print the configuration as JSON, an object for each size"),
		}, without(o.flags(), "output"), // there are no results to write if no search is made
			o.fleet.searchFlags("evaluate on the devices of the fleet")),
		Action: action(o, run),
	}
}

func (o *wisdomTuneOptions) read(c *cli.Context) error {
	others, err := o.readFile(c, "a wisdom file and a specification")
	if err != nil {
		return err
	}
	if len(others) != 1 {
		return wrong("want a wisdom file and a specification: %s %s", c.Command.HelpName, c.Command.ArgsUsage)
	}
	o.spec.path = others[0]
	return cmp.Or(o.checkPath(), o.spec.read(), o.readSearch(c))
}

// tuneWisdom prints the configurations that a wisdom file has for the sizes of a specification, and searches for those that
// it lacks.
func tuneWisdom(ctx context.Context, t *console, o *wisdomTuneOptions) error {
	s, err := o.spec.loadSizes(ctx, t)
	if err != nil {
		return err
	}
	j, err := newJob(ctx, t, &o.searchOptions, s, o.spec.path)
	if err != nil {
		return err
	}
	if err := j.checkFiles(); err != nil {
		return err
	}
	sizes, err := sizedSpecs(s, o.spec.changes)
	if err != nil {
		return err
	}
	if len(s.Sizes) > 0 && o.serve != "" {
		return tooManyToServe(len(s.Sizes))
	}
	f, err := j.chooseDevices(ctx)
	if err != nil {
		return err
	}
	defer f.close()
	entries := make([]*wisdom.Entry, len(sizes))
	for i, size := range sizes {
		of := wisdom.Source{Key: o.key, ProblemSize: o.problemSize}
		if entries[i], err = wisdom.NewEntry(o.path, size.Problem, *j.place.Devices[0].Identity, of); err != nil {
			return &usageError{err}
		}
	}
	j.compared = o.json
	var errs []error
	for i, size := range sizes {
		if err := findWisdom(ctx, j, o, entries[i], size); err != nil {
			errs = append(errs, err)
			if ctx.Err() != nil || isUsage(err) {
				break
			}
		}
	}
	return joined(errs)
}

// nearestOf returns what [session.Priors.Nearest] asks for.
func nearestOf(e *wisdom.Entry, file string) func() ([]space.Configuration, string, error) {
	return func() ([]space.Configuration, string, error) {
		configurations, choices, err := e.Nearest()
		if len(configurations) == 0 {
			return nil, "", err
		}
		return configurations, fmt.Sprintf("%s, for %s", file, choices[0]), err
	}
}

// findWisdom prints the configuration of an entry of a file, after a search if it is not known.
func findWisdom(ctx context.Context, j *job, o *wisdomTuneOptions, e *wisdom.Entry, size sizedSpec) error {
	one, path := *j, o.path
	one.plan.Spec, one.plan.Size, one.plan.Priors.Nearest = size.Spec, size.size, nearestOf(e, path)
	one.plan.LogPath = labelled(one.plan.LogPath, fileLabel(size.size.String()))
	if size.size != nil && !o.json {
		fmt.Fprintf(j.out, "size: %s\n", size.size)
	}
	waits := func() {
		one.say("Another process tunes this on %s; waiting for its result.", one.place.Devices[0].Name)
	}
	found, err := e.Find(ctx, waits, func(_ context.Context, neighbours []space.Configuration) (*record.Record, error) {
		if err := size.check(ctx); err != nil {
			return nil, err
		}
		one.beginWith(neighbours, "the nearest sizes in "+path)
		page, closePage, err := o.openPage(j.console)
		if err != nil {
			return nil, err
		}
		defer closePage()
		one.page = page
		outcome, err := one.searchAndWrite(ctx)
		if outcome == nil || err != nil && !isCancelled(err) { // a signal after its end changes nothing
			return nil, err
		}
		return wisdom.RecordOf(ctx, one.plan.Spec.Problem, outcome)
	})
	if err != nil {
		if size.size != nil && !errors.Is(err, errReported) {
			err = fmt.Errorf("at %s: %w", size.size, err)
		}
		return err
	}
	for _, excluded := range found.Excluded {
		one.say("not used of %s: %s", path, excluded)
	}
	if o.json {
		return j.json(foundOutput{
			choiceOf(found.Choice),
			found.Searched, one.plan.Spec.Problem.BuildOptions(found.Configuration, *one.place.Devices[0].Identity), found.Excluded,
		})
	}
	if !found.Searched {
		printFound(&one, found)
	}
	fmt.Fprintf(j.out, "wisdom: %s\n", foundText(found))
	return nil
}

// foundOutput is the output of --json.
type foundOutput struct {
	choiceOutput
	Searched     bool     `json:"searched"` // now; false: it was known
	BuildOptions string   `json:"build_options"`
	Excluded     []string `json:"excluded,omitempty"`
}

// foundText says how a configuration was found.
func foundText(f wisdom.Found) string {
	if f.Searched {
		return "tuned now"
	}
	return "known for " + f.String()
}

// printFound prints a known configuration in the form of a search's end.
func printFound(j *job, f wisdom.Found) {
	out, p, d := j.out, j.plan.Spec.Problem, *j.place.Devices[0].Identity
	best := formatMeasured(f.Configuration.String(), f.Record.Time, nil)
	if !f.Record.Verified {
		best += ", unverified"
	}
	fmt.Fprintf(out, "best performing configuration: %s\n", best)
	printBuild(out, p, f.Configuration, d)
	if launches, err := p.Launches(f.Configuration, d); err == nil && !p.IsPipeline() {
		r := launches[0].NDRange
		fmt.Fprintf(out, "launch: %s\n", figure.Launch(r.Global(), r.WorkGroup(), r.GlobalOffset()))
	}
}
