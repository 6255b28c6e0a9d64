package wisdom

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
)

// An Absence is a part of the records that a trial leaves out.
type Absence string

// The absences.
const (
	NoSize   Absence = "size"   // the records of this size; other sizes of the device stay
	NoDevice Absence = "device" // all records of the device
)

// A Trial is a choice for a device and a size from the records of others. The records of this device and
// size, which were left out, tell what the choice costs.
type Trial struct {
	Record  *record.Record // that was left out; of several, the one with the most results
	Without Absence
	Query   Query
	Choice  Choice
	Result  *tune.Result // of the chosen configuration; nil: it was not evaluated. It can be a failure.

	// The costs are ratios of an objective to the best one of the same record, usually at least 1, and NaN if
	// the configuration was not evaluated or failed. A choice can be better than the best if only one of them
	// took part in the final measurement.
	Cost    float64 // of the choice
	Overall float64 // of the configuration that is the best over all other records: see [File.Overall]
	Median  float64 // of the median of the correct configurations of Record; NaN if it is a sample that a search chose

	// Draws is the expected number of configurations that a random search evaluates until one is as good as
	// the choice; NaN if Cost or Median is.
	Draws float64
}

// tuned has the records of one device at one size, with the same constants.
type tuned struct {
	*File
	records []*record.Record // measurements in turn first, then the one with the most results
}

func (t *tuned) own() *Record { return &t.Records[0] }

// Check chooses a configuration for the device and the size of each record from the other records: first
// without this size alone if there is another size of its device, then without all records of its device
// if there is another device. This is leave-one-out cross-validation.
//
// Records of complete spaces give exact costs. In the record of a search, the choice may not have been
// evaluated; a search of several sizes measures the best of each at all of them. It is an error if a record
// cannot be taken (see [FromLog]), if the records are not about one kernel, or if no trial is possible.
func Check(records []*record.Record, s Source) ([]Trial, error) {
	var all []*tuned
	for i, r := range records {
		f, err := FromLog(r, s)
		if err != nil {
			return nil, fmt.Errorf("record %d: %w", i+1, err)
		}
		if i > 0 {
			if err := all[0].fits(f); err != nil {
				return nil, fmt.Errorf("record %d is of another kernel than the first: %w", i+1, err)
			}
		}
		own := &f.Records[0]
		at := slices.IndexFunc(all, func(t *tuned) bool {
			return sameDevice(&t.own().Device, &own.Device) && sameSize(t.own().ProblemSize, own.ProblemSize) &&
				constantsText(t.own().Constants) == constantsText(own.Constants)
		})
		if at < 0 {
			all = append(all, &tuned{File: f, records: []*record.Record{r}})
			continue
		}
		all[at].records = append(all[at].records, r)
		if err := all[at].Merge(f); err != nil {
			return nil, err
		}
	}
	var trials []Trial
	for _, left := range all {
		slices.SortStableFunc(left.records, func(a, b *record.Record) int {
			switch search := isSearch(a); {
			case search == isSearch(b):
				return cmp.Compare(len(b.Results), len(a.Results))
			case search:
				return 1
			}
			return -1
		})
		for _, without := range []Absence{NoSize, NoDevice} {
			others := &File{Key: left.Key, Parameters: left.Parameters, Objective: left.Objective}
			sizes := false // there is another size of the device
			for _, t := range all {
				same := sameDevice(&t.own().Device, &left.own().Device)
				if t == left || same && without == NoDevice {
					continue
				}
				sizes = sizes || same
				if err := others.Merge(t.File); err != nil {
					return nil, err
				}
			}
			if len(others.Records) == 0 || without == NoSize && !sizes {
				continue
			}
			t, err := left.without(others)
			if err != nil {
				return nil, err
			}
			t.Without = without
			trials = append(trials, t)
		}
	}
	if len(trials) == 0 {
		return nil, errors.New("each choice needs a record of another size or device, and there is none")
	}
	return trials, nil
}

// without chooses from other records.
func (t *tuned) without(others *File) (Trial, error) {
	q := Query{Device: t.own().Device, ProblemSize: t.own().ProblemSize, SourceDigest: t.own().SourceDigest, Constants: map[string]int{}}
	for name, v := range t.own().Constants {
		if n, whole := v.(int); whole {
			q.Constants[name] = n
		}
	}
	trial := Trial{Query: q, Record: t.records[max(0, slices.IndexFunc(t.records, isSearch))], Median: math.NaN(), Draws: math.NaN()}
	var err error
	if trial.Choice, err = others.Choose(q); err != nil {
		return trial, err
	}
	overall, err := others.Overall(q.SourceDigest)
	if err != nil {
		return trial, err
	}
	trial.Result, trial.Cost = t.cost(trial.Choice.Record.Configuration)
	_, trial.Overall = t.cost(overall.Configuration)

	results := trial.Record.Results
	if h := &trial.Record.Header; len(results) < h.SpaceSize && h.Strategy != "random_sample" {
		return trial, nil
	}
	best := tune.Best(t.Objective, results)
	var costs []float64
	for i := range results {
		if c, known := best.GainOver(t.Objective, &results[i]); known {
			costs = append(costs, c)
		}
	}
	slices.Sort(costs)
	trial.Median = (costs[(len(costs)-1)/2] + costs[len(costs)/2]) / 2
	if !math.IsNaN(trial.Cost) {
		// Of N results in random order, of which k are as good, the first of these k stands on average at
		// place (N+1)/(k+1).
		as := slices.IndexFunc(costs, func(c float64) bool { return c > trial.Cost })
		if as < 0 {
			as = len(costs)
		}
		trial.Draws = float64(len(results)+1) / float64(as+1)
	}
	return trial, nil
}

// isSearch reports whether a record is of a search, not of configurations that were found elsewhere.
func isSearch(r *record.Record) bool { return r.Header.Strategy != record.StrategyCompare }

// cost returns the result of a configuration in the first record that has it, and its ratio to the best of this
// record.
func (t *tuned) cost(configuration map[string]space.Value) (*tune.Result, float64) {
	for _, r := range t.records {
		result := tune.ResultOf(r.Results, configuration)
		if result == nil {
			continue
		}
		best := tune.Best(t.Objective, r.Results) // there is one: FromLog took it
		if ratio, known := best.GainOver(t.Objective, result); known {
			return result, ratio
		}
		return result, math.NaN()
	}
	return nil, math.NaN()
}

// A Summary is the mean over some trials.
type Summary struct {
	Trials, Known int     // number of trials, and of those whose cost is known
	Mean          float64 // geometric mean of the costs; NaN: none is known
	Worst         float64 // the highest cost; 0: none is known
}

// Summarize returns the summary of the trials of an absence.
func Summarize(trials []Trial, without Absence) Summary {
	var s Summary
	var logs []float64
	for _, t := range trials {
		if t.Without != without {
			continue
		}
		s.Trials++
		if !math.IsNaN(t.Cost) {
			s.Worst = max(s.Worst, t.Cost)
			logs = append(logs, math.Log(t.Cost))
		}
	}
	s.Known, s.Mean = len(logs), math.Exp(meanOf(logs))
	return s
}
