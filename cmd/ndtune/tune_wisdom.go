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

// keepWisdom adds the best configurations of a search to the file of --wisdom, if there is one.
func (t *tuning) keepWisdom(e *wisdom.Entry, outcome *tune.Outcome) error {
	if e == nil || outcome == nil {
		return nil
	}
	r, err := wisdom.RecordOf(t.cli.Context, t.spec.Problem, outcome)
	if err != nil {
		return nil // the search has reported it
	}
	if _, err := e.Keep(t.cli.Context, r); err != nil {
		return err
	}
	t.say("wisdom: %s", t.cli.String("wisdom"))
	return nil
}

// tuneMissing tunes a specification at those of its sizes that the file of --wisdom does not know.
func tuneMissing(c *cli.Context, s *spec.Spec) error {
	t, err := newTuning(c, s, c.Args().First(), c.String("log"))
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
	f, err := t.chooseDevices()
	if err != nil {
		return err
	}
	defer f.close()
	entries := make([]*wisdom.Entry, len(sizes))
	for i, size := range sizes {
		if entries[i], err = openEntry(c, size, t.devices[0]); err != nil {
			return err
		}
	}
	t.compared = c.Bool("json")
	var errs []error
	for i, size := range sizes {
		if err := t.findMissing(entries[i], size); err != nil {
			errs = append(errs, err)
			if c.Context.Err() != nil || isUsage(err) {
				break
			}
		}
	}
	return joined(errs)
}

// findMissing prints the configuration of an entry, after a search if it is not known.
func (t tuning) findMissing(e *wisdom.Entry, size sizedSpec) error {
	c := t.cli
	t.spec, t.size, t.entry = size.Spec, size.size, e
	t.logPath = labelled(t.logPath, fileLabel(size.size.String()))
	if size.size != nil && !c.Bool("json") {
		fmt.Fprintf(c.App.Writer, "size: %s\n", size.size)
	}
	waits := func() {
		t.say("Another process tunes this on %s; waiting for its result.", t.devices[0].Name)
	}
	found, err := e.Find(c.Context, waits, func(_ context.Context, neighbours []space.Configuration) (*record.Record, error) {
		if err := size.check(c.Context); err != nil {
			return nil, err
		}
		if len(neighbours) > 0 {
			t.say("It begins with %s of the nearest sizes in %s.", figure.Count(len(neighbours), "best configuration"), c.String("wisdom"))
			if t.neighbours = neighbours; !c.IsSet("patience") {
				t.patience = tune.NeighbourPatience
			}
		}
		page, closePage, err := openPage(c)
		if err != nil {
			return nil, err
		}
		defer closePage()
		t.page = page
		outcome, err := t.search()
		if outcome == nil || err != nil && !isCancelled(err) { // a signal after its end changes nothing
			return nil, err
		}
		return wisdom.RecordOf(c.Context, t.spec.Problem, outcome)
	})
	if err != nil {
		if size.size != nil && !errors.Is(err, errReported) {
			err = fmt.Errorf("at %s: %w", size.size, err)
		}
		return err
	}
	for _, excluded := range found.Excluded {
		t.say("not used of %s: %s", c.String("wisdom"), excluded)
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, foundOutput{
			choiceOutput{recordOf(&found.Record), found.Level, found.String(), found.Weaknesses},
			found.Searched, t.spec.Problem.BuildOptions(found.Configuration, *t.devices[0].Identity), found.Excluded,
		})
	}
	if !found.Searched {
		t.printFound(found)
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
func (t *tuning) printFound(f wisdom.Found) {
	out, p, d := t.cli.App.Writer, t.spec.Problem, *t.devices[0].Identity
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
