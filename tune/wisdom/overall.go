package wisdom

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/record"
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

// WriteTable shows the records by device and size, the best first, and the best over all.
func (f *File) WriteTable(w io.Writer) {
	fmt.Fprintf(w, "%s: %s\n", f.Key, figure.Count(len(f.Records), "record"))
	if len(f.Records) == 0 {
		return
	}
	rows := [][]string{{"device", "architecture", "driver", "size", "time", "configuration"}}
	ownObjective := f.Objective.Name != "time"
	if ownObjective {
		rows[0] = slices.Insert(rows[0], 5, f.Objective.Name)
	}
	for _, r := range f.Sorted() {
		row := []string{r.Device.Name, r.Device.Architecture, r.Device.Driver, figure.Sizes(r.ProblemSize), figure.Milliseconds(r.Time) + "ms"}
		if ownObjective {
			row = append(row, figure.Number(r.Objective))
		}
		row = append(row, f.Text(&r))
		if !r.Verified {
			row[len(row)-1] += " (unverified)"
		}
		rows = append(rows, row)
	}
	figure.Columns(w, "  ", func(i int) bool { return i >= 3 && i < len(rows[0])-1 }, rows...)
	if o, err := f.Overall(""); err == nil && o.Of > 1 {
		fmt.Fprintf(w, "best over all: %s, on average %.2f times the best of the %d of %d devices and sizes for which it is recorded\n",
			f.Text(&Record{Configuration: o.Configuration}), o.Slowdown, o.Recorded, o.Of)
	}
}

// A Content is a file for JSON.
type Content struct {
	Key        string               `json:"key"`
	Parameters []string             `json:"parameters"`
	Objective  string               `json:"objective"`
	Maximize   bool                 `json:"maximize"`
	Records    []Record             `json:"records"`
	Overall    *Overall             `json:"overall,omitempty"`
	Skipped    []record.DamagedLine `json:"skipped,omitempty"`
}

// Content returns the file for JSON.
func (f *File) Content() Content {
	c := Content{f.Key, f.Parameters, f.Objective.Name, f.Objective.Maximize, f.Sorted(), nil, f.Skipped}
	if o, err := f.Overall(""); err == nil {
		c.Overall = &o
	}
	return c
}

// A ChoiceContent is a choice for JSON.
type ChoiceContent struct {
	Record     Record     `json:"record"`
	Level      Level      `json:"level"`
	Match      string     `json:"match"` // for people
	Weaknesses []Weakness `json:"weaknesses,omitempty"`
}

// Content returns the choice for JSON.
func (c Choice) Content() ChoiceContent {
	return ChoiceContent{c.Record, c.Level, c.String(), c.Weaknesses}
}
