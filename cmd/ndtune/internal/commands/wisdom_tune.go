package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/job"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/wisdom"
)

type wisdomTuneOptions struct {
	wisdomOptions
	job.Options
}

func wisdomTuneCommand(run flags.Runner[wisdomTuneOptions]) *cli.Command {
	o := &wisdomTuneOptions{}
	o.Spec.TakesSizes = true
	return &cli.Command{
		Name:      "tune",
		Usage:     "print the best configuration for a device and a size, and search for it if the file does not have it",
		ArgsUsage: "FILE.wisdom SPEC",
		Description: `Prints the configuration that the file has for the device, the size and the source of the kernel. If
it has none, the command searches as ndtune tune does, and adds the five best (docs/wisdom.md). If
several processes lack the same entry, one searches and the others wait.

   ndtune wisdom tune kernel.wisdom kernel.yaml --set n=4096 --time-limit 60s
   ndtune wisdom tune kernel.wisdom kernel.yaml --set n=1024,2048,4096 --json`,
		Flags: slices.Concat(o.Spec.Flags(), []cli.Flag{
			o.keyFlag(),
			o.problemSizeFlag("problem size of a specification that has no fixed one, such as that of a pipeline"),
			flags.Switch(&o.json, "json", "", "print the configuration as JSON, an object for each size"),
		}, flags.Without(o.Flags(), "output"), // there are no results to write if no search is made
			o.Fleet.SearchFlags("evaluate on the devices of the fleet")),
		Action: flags.Action(o, run),
	}
}

func (o *wisdomTuneOptions) Read(c *cli.Context) error {
	others, err := o.readFile(c, "a wisdom file and a specification")
	if err != nil {
		return err
	}
	if len(others) != 1 {
		return ui.Wrong("want a wisdom file and a specification: %s %s", c.Command.HelpName, c.Command.ArgsUsage)
	}
	o.Spec.Path = others[0]
	return cmp.Or(o.checkPath(), o.Spec.Read(), o.ReadSearch(c))
}

// tuneWisdom prints the configurations that a wisdom file has for the sizes of a specification, and searches for those that
// it lacks.
func tuneWisdom(ctx context.Context, t *ui.Console, o *wisdomTuneOptions) error {
	s, err := o.Spec.Load(ctx, t)
	if err != nil {
		return err
	}
	j, err := job.New(ctx, t, &o.Options, s, o.Spec.Path)
	if err != nil {
		return err
	}
	if err := j.CheckFiles(); err != nil {
		return err
	}
	sizes, err := job.SizedSpecs(s, o.Spec.Changes)
	if err != nil {
		return err
	}
	if len(s.Sizes) > 0 && o.Serve != "" {
		return tooManyToServe(len(s.Sizes))
	}
	f, err := j.ChooseDevices(ctx)
	if err != nil {
		return err
	}
	defer f.Close()
	entries := make([]*wisdom.Entry, len(sizes))
	for i := range sizes {
		size := &sizes[i]
		if size.Spec, err = size.In(device.LanguageOf(*j.Place.Devices[0].Identity)); err != nil {
			return err
		}
		of := wisdom.Source{Key: o.key, ProblemSize: o.problemSize}
		if entries[i], err = wisdom.NewEntry(o.path, size.Problem, *j.Place.Devices[0].Identity, of); err != nil {
			return ui.Usage(err)
		}
	}
	j.Compared = o.json
	var errs []error
	for i, size := range sizes {
		if err := findWisdom(ctx, j, o, entries[i], size); err != nil {
			errs = append(errs, err)
			if ctx.Err() != nil || ui.IsUsage(err) {
				break
			}
		}
	}
	return ui.Joined(errs)
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
func findWisdom(ctx context.Context, j *job.Job, o *wisdomTuneOptions, e *wisdom.Entry, size job.SizedSpec) error {
	one, path := *j, o.path
	one.Plan.Spec, one.Plan.Size, one.Plan.Priors.Nearest = size.Spec, size.Size, nearestOf(e, path)
	one.Plan.LogPath = ui.Labelled(one.Plan.LogPath, ui.FileLabel(size.Size.String()))
	if size.Size != nil && !o.json {
		fmt.Fprintf(j.Out, "size: %s\n", size.Size)
	}
	waits := func() {
		one.Say("Another process tunes this on %s; waiting for its result.", one.Place.Devices[0].Name)
	}
	found, err := e.Find(ctx, waits, func(_ context.Context, neighbours []space.Configuration) (*record.Record, error) {
		if err := size.Check(ctx); err != nil {
			return nil, err
		}
		one.BeginWith(neighbours, "the nearest sizes in "+path)
		outcome, err := one.SearchAndWrite(ctx)
		if outcome == nil || err != nil && !ui.IsCancelled(err) { // a signal after its end changes nothing
			return nil, err
		}
		return wisdom.RecordOf(ctx, one.Plan.Spec.Problem, outcome)
	})
	if err != nil {
		if size.Size != nil && !errors.Is(err, ui.ErrReported) {
			err = fmt.Errorf("at %s: %w", size.Size, err)
		}
		return err
	}
	for _, excluded := range found.Excluded {
		one.Say("not used of %s: %s", path, excluded)
	}
	if o.json {
		return j.JSON(foundOutput{
			found.Choice.Content(),
			found.Searched, one.Plan.Spec.Problem.BuildOptions(found.Configuration, *one.Place.Devices[0].Identity), found.Excluded,
		})
	}
	if !found.Searched {
		printFound(&one, found)
	}
	fmt.Fprintf(j.Out, "wisdom: %s\n", foundText(found))
	return nil
}

// foundOutput is the output of --json.
type foundOutput struct {
	wisdom.ChoiceContent
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
func printFound(j *job.Job, f wisdom.Found) {
	out, p, d := j.Out, j.Plan.Spec.Problem, *j.Place.Devices[0].Identity
	var sizes []string
	if launches, err := p.Launches(f.Configuration, d); err == nil && !p.IsPipeline() {
		r := launches[0].NDRange
		sizes = []string{figure.Launch(r.Global(), r.WorkGroup(), r.GlobalOffset())}
	}
	job.PrintBest(out, p, f.Configuration, ui.FormatMeasured(f.Configuration.String(), f.Record.Time, nil), f.Record.Verified, d, sizes)
}
