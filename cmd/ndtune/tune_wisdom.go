package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
	"github.com/ndtune/ndtune/tune/wisdom"
)

const categoryWisdom = "wisdom"

// wisdomFlags keep the results of searches in a wisdom file.
func wisdomFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "wisdom", TakesFile: true, Category: categoryWisdom, Usage: "add the best configurations to the wisdom file `FILE`"},
		&cli.BoolFlag{Name: "if-missing", Category: categoryWisdom, Usage: "search only if the file of --wisdom does not have the best configuration for the device, the size and the source; else print that"},
		&cli.StringFlag{Name: "wisdom-key", Category: categoryWisdom, Usage: "`KEY` of the wisdom file (default: the name of the kernel)"},
		&cli.StringFlag{Name: "wisdom-size", Category: categoryWisdom, Usage: "problem size, `X[,Y[,Z]]`, in the wisdom file, of a specification that has no fixed one, such as that of a pipeline"},
		&cli.BoolFlag{Name: "json", Category: categoryWisdom, Usage: "with --if-missing, print the configuration as JSON, an object for each size"},
	}
}

// checkWisdomFlags refuses flags that make no sense together.
func checkWisdomFlags(c *cli.Context) error {
	path := c.String("wisdom")
	for _, name := range []string{"if-missing", "wisdom-key", "wisdom-size"} {
		if c.IsSet(name) && path == "" {
			return wrong("--%s is about a wisdom file: name it with --wisdom FILE.wisdom", name)
		}
	}
	switch {
	case c.IsSet("json") && !c.Bool("if-missing"):
		return wrong("--json prints the result of --if-missing: add that, or write the results of a search with -o FILE.json")
	case !c.IsSet("wisdom"):
		return nil
	case filepath.Ext(path) != ".wisdom":
		return wrong("--wisdom %s: the name of a wisdom file ends with .wisdom", path)
	case c.Bool("if-missing") && c.IsSet("output"):
		return wrong("-o has no results to write if --if-missing makes no search: leave it out, and convert the file of --log")
	}
	if err := checkFolder(path); err != nil {
		return wrong("--wisdom %s: %w", path, err)
	}
	_, err := problemSizeIn(c, "wisdom-size")
	return err
}

// openEntry opens the entry of a specification on a device in the file of --wisdom; nil without one.
func openEntry(c *cli.Context, s sizedSpec, on device.Listed) (*wisdom.Entry, error) {
	path := c.String("wisdom")
	if path == "" {
		return nil, nil
	}
	size, err := problemSizeIn(c, "wisdom-size")
	if err != nil {
		return nil, err
	}
	e, err := wisdom.NewEntry(path, s.Problem, *on.Identity, wisdom.Source{Key: c.String("wisdom-key"), ProblemSize: size})
	if err != nil {
		return nil, wrong("--wisdom: %w", err)
	}
	return e, nil
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

// keepWisdom adds the best configurations of a search to the file of --wisdom, if there is one.
func (j *job) keepWisdom(e *wisdom.Entry, outcome *tune.Outcome) error {
	if e == nil || outcome == nil {
		return nil
	}
	r, err := wisdom.RecordOf(j.cli.Context, j.plan.Spec.Problem, outcome)
	if err != nil {
		return nil // the search has reported it
	}
	if _, err := e.Keep(j.cli.Context, r); err != nil {
		return err
	}
	j.say("wisdom: %s", j.cli.String("wisdom"))
	return nil
}

// tuneMissing tunes a specification at those of its sizes that the file of --wisdom does not know.
func tuneMissing(c *cli.Context, s *spec.Spec) error {
	j, err := newJob(c, s, c.Args().First(), c.String("log"))
	if err != nil {
		return err
	}
	options, err := specOptions(c)
	if err != nil {
		return err
	}
	sizes, err := sizedSpecs(s, options)
	if err != nil {
		return err
	}
	if len(s.Sizes) > 0 && c.IsSet("serve") {
		return tooManyToServe(len(s.Sizes))
	}
	f, err := j.chooseDevices()
	if err != nil {
		return err
	}
	defer f.close()
	entries := make([]*wisdom.Entry, len(sizes))
	for i, size := range sizes {
		if entries[i], err = openEntry(c, size, j.place.Devices[0]); err != nil {
			return err
		}
	}
	j.compared = c.Bool("json")
	var errs []error
	for i, size := range sizes {
		if err := j.findMissing(entries[i], size); err != nil {
			errs = append(errs, err)
			if c.Context.Err() != nil || isUsage(err) {
				break
			}
		}
	}
	return joined(errs)
}

// findMissing prints the configuration of an entry, after a search if it is not known.
func (j job) findMissing(e *wisdom.Entry, size sizedSpec) error {
	c := j.cli
	j.plan.Spec, j.plan.Size, j.entry = size.Spec, size.size, e
	j.plan.LogPath = labelled(j.plan.LogPath, fileLabel(size.size.String()))
	if size.size != nil && !c.Bool("json") {
		fmt.Fprintf(c.App.Writer, "size: %s\n", size.size)
	}
	waits := func() {
		j.say("Another process tunes this on %s; waiting for its result.", j.place.Devices[0].Name)
	}
	found, err := e.Find(c.Context, waits, func(_ context.Context, neighbours []space.Configuration) (*record.Record, error) {
		if err := size.check(c.Context); err != nil {
			return nil, err
		}
		j.beginWith(neighbours, "the nearest sizes in "+c.String("wisdom"))
		page, closePage, err := openPage(c)
		if err != nil {
			return nil, err
		}
		defer closePage()
		j.page = page
		outcome, err := j.search()
		if outcome == nil || err != nil && !isCancelled(err) { // a signal after its end changes nothing
			return nil, err
		}
		return wisdom.RecordOf(c.Context, j.plan.Spec.Problem, outcome)
	})
	if err != nil {
		if size.size != nil && !errors.Is(err, errReported) {
			err = fmt.Errorf("at %s: %w", size.size, err)
		}
		return err
	}
	for _, excluded := range found.Excluded {
		j.say("not used of %s: %s", c.String("wisdom"), excluded)
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, foundOutput{
			choiceOutput{recordOf(&found.Record), found.Level, found.String(), found.Weaknesses},
			found.Searched, j.plan.Spec.Problem.BuildOptions(found.Configuration, *j.place.Devices[0].Identity), found.Excluded,
		})
	}
	if !found.Searched {
		j.printFound(found)
	}
	fmt.Fprintf(c.App.Writer, "wisdom: %s\n", foundText(found))
	return nil
}

// foundOutput is the output of --if-missing --json.
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
func (j *job) printFound(f wisdom.Found) {
	out, p, d := j.cli.App.Writer, j.plan.Spec.Problem, *j.place.Devices[0].Identity
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
