package compare

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/record"
)

// A Source is a record of one device.
type Source struct {
	Name   string // of the record, usually a file name
	Record *record.Record

	// Listing is the selector (device.Listed.Selector) of the device on this machine. Sources with
	// different listings are of different devices. If it is empty, the identity in the record
	// decides.
	Listing string

	// Trouble is the reason why the record has no results, if known.
	Trouble string
}

// isSearch reports whether the record is that of a search. The results of a record made by [Cross] count for the comparison
// of configurations, not for the figures of a device's search.
func (s *Source) isSearch() bool { return s.Record.Header.Strategy != record.StrategyCompare }

// ErrDifferentProblems is the error for records of different problems.
var ErrDifferentProblems = errors.New("of different problems")

// sameProblem returns an error, which names both, if two records are of different problems. Sizes of one
// problem differ in their digests and problem sizes. It also returns the doubts that remain.
func sameProblem(sources []Source) (doubts []string, err error) {
	first := &sources[0]
	for i := range sources[1:] {
		s := &sources[i+1]
		a, b := &first.Record.Header, s.Record.Header
		j := slices.IndexFunc(sources, func(o Source) bool {
			return o.Record.Header.Size == b.Size && o.Record.Header.Digest != ""
		})
		if j >= 0 && b.Size != a.Size && a.Size != "" && b.Size != "" {
			if err := sources[j].Record.Header.SameProblem(b); err != nil {
				return nil, fmt.Errorf("%s and %s are %w: %w", sources[j].Name, s.Name, ErrDifferentProblems, err)
			}
			b.Digest, b.ProblemSize = "", nil
		}
		if err := a.SameProblem(b); err != nil {
			return nil, fmt.Errorf("%s and %s are %w: %w", first.Name, s.Name, ErrDifferentProblems, err)
		}
		if a.Digest == "" {
			first = s // a record with more information judges the others
		}
	}
	for i := range sources {
		if s := &sources[i]; s.Record.Header.Digest == "" {
			doubts = append(doubts, s.Name+" does not hold the digest of its problem: "+
				"nothing but its parameters and its objective says that it is of the same one.")
		}
	}
	return doubts, nil
}

// described returns the identity of a source's device. If the record has no name for it, the name is
// that of the record.
func described(s *Source) hardware.Device {
	d := s.Record.Header.Device
	d.Name = cmp.Or(d.Name, s.Name)
	d.Extensions = nil // long, and of no interest here
	return d
}
