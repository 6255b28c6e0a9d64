package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/simulate"
)

func newPriorFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "prior", TakesFile: true, Category: categorySearch, Usage: "learn from `RECORD`, results of the same parameters on another device, for another size or of an older source, as far as its ranking is found to hold; may be repeated (docs/strategies.md#priors)"}
}

// A namedRecord is a record that the command line names.
type namedRecord struct {
	*record.Record
	path, name string
}

// readPriors reads the priors of a search by a strategy. The problem is nil in a simulation.
func readPriors(c *cli.Context, strategy string, p *problem.Problem) ([]namedRecord, error) {
	paths := c.StringSlice("prior")
	names := recordNames(paths)
	var priors []namedRecord
	for i, path := range paths {
		if p != nil {
			if err := search.CheckPriors(strategy, len(p.Objective().All())); err != nil {
				return nil, err
			}
		}
		r, err := record.Read(path)
		if err != nil {
			return nil, err
		}
		if p != nil {
			if _, err := r.Prior(names[i], p.Parameters(), p.Objective()); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
		}
		priors = append(priors, namedRecord{r, path, names[i]})
	}
	return priors, nil
}

// text says which results a prior is, for a search of a problem.
func (r namedRecord) text(p *problem.Problem) string {
	correct := 0
	for i := range r.Results {
		if r.Results[i].Rankable() {
			correct++
		}
	}
	text := fmt.Sprintf("prior %s: %s, %d correct", r.name, countNoun(len(r.Results), "result"), correct)
	if name := r.Header.Device.Name; name != "" {
		text += ", " + name
	}
	if size := r.Header.Size; size != "" {
		text += ", " + size
	}
	switch {
	case r.Header.Kernel != "" && r.Header.Kernel != p.KernelName():
		text += ", of another kernel, " + r.Header.Kernel
	case r.Header.KernelDigest != "" && r.Header.KernelDigest != p.KernelDigest():
		text += ", of another source"
	}
	return text
}

// addPriors gives the priors of the command line to the recordings.
func addPriors(c *cli.Context, recordings []*simulate.Recording) error {
	priors, err := readPriors(c, "", nil)
	if err != nil {
		return fmt.Errorf("--prior: %w", err)
	}
	for _, r := range priors {
		for _, n := range recordings {
			if n.Objective.Several() {
				return errors.New("--prior: a prior helps to improve one objective, and the records have several")
			}
			prior, err := r.Prior(r.name, n.Space.Parameters(), n.Objective)
			if err != nil {
				return fmt.Errorf("--prior %s: for %s: %w", r.path, n.Name, err)
			}
			n.Priors = append(n.Priors, prior)
		}
	}
	return nil
}

// trustText says what a prior was found to be worth.
func trustText(t search.Trust) string {
	text := fmt.Sprintf("prior %s: rank correlation %.2f with the results of the search", t.Name, t.Agreement)
	if t.Scales {
		text += "; said how much each parameter matters"
	}
	if t.Won {
		return text + "; its best configurations were a good beginning"
	}
	return text + "; its best configurations were no better than others"
}

// simulatedTrustText is trustText for the mean over repeats.
func simulatedTrustText(name string, t simulate.Trust) string {
	return fmt.Sprintf("prior %s: at the end, rank correlation %.2f with the results of the search; said how much each parameter matters in %.0f%% of the searches; its best configurations were a good beginning in %.0f%%",
		name, t.Agreement, 100*t.Scales, 100*t.Won)
}

// withPriors returns the names of the strategies that learn from priors.
func withPriors(objectives int) []string {
	return slices.DeleteFunc(search.Names(), func(name string) bool { return search.CheckPriors(name, objectives) != nil })
}
