package wisdom

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/ndtune/ndtune/tune/space"
)

// An Overall is the configuration that is the best over all devices and sizes of a file.
type Overall struct {
	Configuration space.Named `json:"configuration"`

	// Slowdown is the geometric mean of the slow-downs, at least 1: of the ratios of the configuration's
	// objective to the best one, each for one device, driver, source and size.
	Slowdown float64 `json:"slowdown"`

	// Recorded is the number of these for which the configuration is recorded, Of the number of all.
	Recorded int `json:"recorded"`
	Of       int `json:"of"`
}

// Overall returns the configuration with the least geometric mean of its slow-downs. Records of the given
// source count alone if there are any; "" stands for any source.
//
// A file has only the best few configurations of each device and size. A configuration that is missing there
// has an unknown slow-down, and one that is recorded once, as the winner, would have none at all. So only those
// take part that are recorded for more than half of the devices and sizes, or, if there are none, those that
// are recorded for the most. Of equal ones, the one that is recorded for more wins.
//
// The mean is geometric because slow-downs are ratios: it does not depend on the device that they refer to
// (P. J. Fleming and J. J. Wallace, «How not to lie with statistics: the correct way to summarize benchmark
// results», Communications of the ACM 29(3), 1986). Package compare uses the harmonic mean of efficiencies,
// which is 0 if a configuration fails anywhere; it knows that of all configurations, and a file does not.
//
// It is an error if there are no records.
func (f *File) Overall(source string) (Overall, error) {
	groups := map[group][]*Record{}
	ofSource := slices.ContainsFunc(f.Records, func(r Record) bool { return r.SourceDigest == source })
	for i := range f.Records {
		if r := &f.Records[i]; source == "" || !ofSource || r.SourceDigest == source {
			groups[groupOf(r)] = append(groups[groupOf(r)], r)
		}
	}
	if len(groups) == 0 {
		return Overall{}, fmt.Errorf("the wisdom about %s has no records", f.Key)
	}
	slowdowns := map[string][]float64{} // their logarithms by the keys of configurations, one of each group
	of := map[string]*Record{}
	for _, records := range groups {
		slices.SortStableFunc(records, f.compare)
		seen := map[string]bool{}
		for _, r := range records {
			key := f.key(r)
			if seen[key] { // a file of others can have a configuration twice
				continue
			}
			seen[key], of[key] = true, r
			// Of the logarithms, no quotient is too large. The first record is the best, in either direction.
			slowdowns[key] = append(slowdowns[key], math.Abs(math.Log(r.Objective)-math.Log(records[0].Objective)))
		}
	}
	most := 0
	for _, s := range slowdowns {
		most = max(most, len(s))
	}
	needed := min(most, len(groups)/2+1)
	var best Overall
	for _, key := range slices.Sorted(maps.Keys(slowdowns)) {
		s := slowdowns[key]
		if len(s) < needed {
			continue
		}
		slices.Sort(s) // so that their order does not matter
		o := Overall{of[key].Configuration, math.Exp(stat.Mean(s, nil)), len(s), len(groups)}
		if best.Recorded == 0 || cmp.Or(cmp.Compare(o.Slowdown, best.Slowdown), cmp.Compare(best.Recorded, o.Recorded)) < 0 {
			best = o
		}
	}
	return best, nil
}
