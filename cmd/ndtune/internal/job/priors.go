package job

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/session"
	"github.com/ndtune/ndtune/tune/simulate"
)

// Values of --prior that are no files.
const (
	priorFind = "find"
	priorNone = "none"
)

// Priors name records that a search or a simulation learns from.
type Priors struct {
	values cli.StringSlice

	Paths []string
	Find  bool // looks for others
}

// Flag is that of a simulation, which finds nothing by itself. More describes further values.
func (o *Priors) Flag(more string) cli.Flag {
	return flags.List(&o.values, "prior", flags.CategorySearch, "learn from `RECORD`, results of the same parameters on another device, for another size "+
		"or of an older source: how much each parameter matters, and where to begin; may be repeated"+more+" (docs/strategies.md#priors)")
}

// searchFlag is that of a search, which can find priors.
func (o *Priors) searchFlag() cli.Flag {
	return o.Flag("; find: from such records in the user's state folder (wisdom tune: and from the file); none: from nothing; default: find")
}

// IsGiven reports whether the command line says anything about priors.
func (o *Priors) IsGiven() bool { return len(o.values.Value()) > 0 }

// Read reads which records are named, and whether to look for others.
func (o *Priors) Read() error {
	values := o.values.Value()
	switch {
	case len(values) == 0:
		o.Find = true
	case slices.Equal(values, []string{priorNone}):
	case slices.Contains(values, priorNone):
		return fmt.Errorf("%s excludes all records (./%s is a file)", priorNone, priorNone)
	default:
		o.Paths = slices.DeleteFunc(slices.Clone(values), func(path string) bool { return path == priorFind })
		o.Find = len(o.Paths) < len(values)
	}
	return nil
}

// Load reads the records for a search by a strategy. The problem is nil in a simulation.
func (o *Priors) Load(ctx context.Context, strategy string, p *problem.Problem) (priors session.Priors, err error) {
	switch {
	case p == nil && o.Find && o.IsGiven():
		return priors, errors.New("a simulation takes the records that are named, and looks for no others")
	case p != nil && o.IsGiven() && (o.Find || len(o.Paths) > 0):
		if err := search.CheckPriors(strategy, len(p.Objective().All())); err != nil {
			return priors, err
		}
	}
	priors.Find = o.Find
	names := RecordNames(o.Paths)
	for i, path := range o.Paths {
		r, err := ui.ReadRecord(ctx, path)
		if err != nil {
			return priors, err
		}
		if p != nil {
			if _, err := r.Prior(names[i], p.Parameters(), p.Objective()); err != nil {
				return priors, fmt.Errorf("%s: %w", path, err)
			}
		}
		priors.Named = append(priors.Named, session.Prior{Record: r, Path: path, Name: names[i]})
	}
	return priors, nil
}

// RecordNames returns the names of files without folders and extensions, or the whole paths if several
// files, or the mean over all, would have the same name.
func RecordNames(paths []string) []string {
	names, count := make([]string, len(paths)), map[string]int{simulate.AllRecords: 1}
	for i, path := range paths {
		name := filepath.Base(path)
		for _, extension := range []string{".gz", ".json", ".jsonl", ".csv"} {
			if cut := len(name) - len(extension); cut > 0 && strings.EqualFold(name[cut:], extension) {
				name = name[:cut]
			}
		}
		names[i] = name
		count[name]++
	}
	for i, name := range names {
		if count[name] > 1 {
			names[i] = paths[i]
		}
	}
	return names
}
