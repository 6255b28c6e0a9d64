package compare

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/record"
)

// A Source is a record of one device.
type Source struct {
	Name   string // of the record, for people: a file's
	Record *record.Record

	// Listing is which of this machine's devices it is of, as device.Listed.Selector gives it.
	// Sources with two listings are of two devices, whatever else they have in common. Empty:
	// the identity in the record says which device it is of.
	Listing string

	// Trouble says why there is no result in the record, where that is known.
	Trouble string
}

// Strategy stands in the header of a record that was made by running the configurations of a
// comparison on a device (see [Cross]). It is no search: such a record counts where
// configurations are compared, and not in what is said of a device's search.
const Strategy = "compare"

func (s *Source) isSearch() bool { return s.Record.Header.Strategy != Strategy }

// ErrDifferentProblems says that records cannot be compared because they are of different problems.
var ErrDifferentProblems = errors.New("of different problems")

// sameProblem refuses records of different problems, naming both. It says what had to be taken
// on trust.
func sameProblem(sources []Source) (doubts []string, err error) {
	first := &sources[0]
	for i := range sources[1:] {
		s := &sources[i+1]
		a, b := &first.Record.Header, &s.Record.Header
		if err := a.SameProblem(*b); err != nil {
			return nil, fmt.Errorf("%s and %s are %w: %w", first.Name, s.Name, ErrDifferentProblems, err)
		}
		if a.Digest == "" {
			first = s // what knows more judges the rest
		}
	}
	for i := range sources {
		if s := &sources[i]; s.Record.Header.Digest == "" {
			doubts = append(doubts, fmt.Sprintf("%s does not hold the digest of its problem: nothing but its parameters and its objective says that it is of the same one.", s.Name))
		}
	}
	return doubts, nil
}

// sharers are the devices that shared the search of a record, where they are several.
func sharers(r *record.Record) []string {
	var devices []string
	for i := range r.Results {
		if d := r.Results[i].Device; d != "" && !slices.Contains(devices, d) {
			devices = append(devices, d)
		}
	}
	slices.Sort(devices)
	return devices
}

// described is the identity of a source's device. A record that names none is told by the
// record's own name.
func described(s *Source) tune.Device {
	d := s.Record.Header.Device
	if d.Name == "" {
		d.Name = s.Name
	}
	d.Extensions = nil // of no interest here, and long
	return d
}
