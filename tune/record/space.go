package record

import (
	"context"
	"slices"

	"github.com/ndtune/ndtune/tune/space"
)

// Space is the search space of the configurations in the record. It enumerates no more
// than is recorded, however large the product of all values is.
func (r *Record) Space(ctx context.Context) (*space.Space, error) {
	l, err := newLayout(r.Header.Parameters)
	if err != nil {
		return nil, err
	}
	recorded := make([]map[string]bool, l.parameters.Len()) // by their first n values
	for i := range recorded {
		recorded[i] = make(map[string]bool)
	}
	for i := range r.Results {
		d, err := l.digits(r.Results[i].Configuration)
		if err != nil {
			return nil, err
		}
		for n := range d {
			recorded[n][d[:n+1].key()] = true
		}
	}
	restrictions := make([]space.Restriction, len(recorded))
	for n := range recorded {
		restrictions[n] = space.Restriction{
			Reads: slices.Clone(l.parameters.Names()[:n+1]),
			Func: func(c space.Configuration) bool {
				d, err := l.digits(c)
				return err == nil && recorded[n][d[:n+1].key()]
			},
		}
	}
	return space.New(ctx, l.parameters, restrictions, nil)
}
