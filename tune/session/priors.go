package session

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
)

// Priors are what a search learns from, beside its own results.
type Priors struct {
	Named []Prior // records that the user names
	Find  bool    // looks for records in the user's state folder, and asks Nearest

	// Nearest returns the best configurations for the nearest devices and sizes that the caller knows of, and says what
	// these are; nil: it knows of none.
	Nearest func() (best []space.Configuration, of string, err error)
}

// A Prior is a record that a search learns from.
type Prior struct {
	*record.Record
	Path, Name string
}

// FoundPriors are notes about what a session has found to learn from.
type FoundPriors struct {
	Notes   []string
	Details []string // the files that were found, and what could not be read
}

func (f *FoundPriors) note(format string, a ...any) {
	f.Notes = append(f.Notes, fmt.Sprintf(format, a...))
}

func (f *FoundPriors) detail(format string, a ...any) {
	f.Details = append(f.Details, fmt.Sprintf(format, a...))
}

// findPriors returns the named priors and those that it finds, and the best configurations for the nearest devices and sizes. It
// looks for nothing where a prior is of no use: for a strategy that does not learn from one, and for a budget that covers the space.
func (s *Session) findPriors(budget int) (all []Prior, nearest []space.Configuration) {
	all = slices.Clone(s.plan.Priors.Named)
	objectives := len(s.plan.Spec.Problem.Objective().All())
	if !s.plan.Priors.Find || budget >= s.Space.Len() || search.CheckPriors(s.plan.Strategy.Name, objectives) != nil {
		return all, nil
	}
	related, troubles := s.relatedRecords()
	var texts []string
	for _, r := range related {
		all = append(all, Prior{r.Record, r.Path, r.How})
		texts = append(texts, fmt.Sprintf("%s (%s)", r.How, figure.Count(len(r.Results), "result")))
		s.Found.detail("prior %s: %s", r.How, r.Path)
	}
	if len(texts) > 0 {
		s.Found.note("priors: %s of this problem: %s; --prior none searches without",
			figure.Count(len(texts), "record"), strings.Join(texts, "; "))
	}
	if s.plan.Priors.Nearest != nil && len(s.plan.Neighbours) == 0 {
		best, of, err := s.plan.Priors.Nearest()
		if err != nil {
			troubles = append(troubles, err)
		}
		if nearest = best; len(best) > 0 {
			s.Found.note("It begins with %s of %s; --prior none searches without", figure.Count(len(best), "best configuration"), of)
		}
	}
	if n := len(troubles); n > 0 {
		s.Found.detail("%s could not be used as priors; the first: %v", figure.Count(n, "file"), troubles[0])
	}
	return all, nearest
}

// relatedRecords returns the records of this problem in the user's state folder, without those that the user names.
func (s *Session) relatedRecords() (found []record.Related, troubles []error) {
	header := s.header(nil)
	if s.begun != nil {
		header.Started = s.begun.Started // so that the search finds again what it found at its beginning
	}
	folder, err := record.StateFolder()
	if err != nil {
		return nil, []error{err}
	}
	found, troubles = record.FindRelated(folder, header, s.plan.LogPath)
	return slices.DeleteFunc(found, func(r record.Related) bool {
		return slices.ContainsFunc(s.plan.Priors.Named, func(named Prior) bool { return files.Same(named.Path, r.Path) })
	}), troubles
}

// Text says which results a prior is, for a search of a problem.
func (r Prior) Text(p *problem.Problem) string {
	correct := each.Count(r.Results, func(r tune.Result) bool { return r.Rankable() })
	text := fmt.Sprintf("prior %s: %s, %d correct", r.Name, figure.Count(len(r.Results), "result"), correct)
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
