package report

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
)

// fillColumns makes all columns but that of reasons, and the devices.
func (run *Run) fillColumns(parameters []space.Parameter, metrics []string) error {
	for i, p := range parameters {
		indices, err := valueIndices(p, run.results)
		if err != nil {
			return err
		}
		run.Columns = append(run.Columns, indexColumn(parameterColumn(i), len(p.Values), indices))
	}
	run.statusColumns()
	run.timeColumns()
	for i, name := range metrics {
		run.addNumbers(metricColumn(i), func(r *tune.Result) float64 {
			if v, ok := r.Metric(name); ok && r.Status == tune.Correct {
				return v
			}
			return math.NaN()
		})
	}
	run.durationColumns()
	if ends := endsOf(run.results, run.began); ends != nil {
		run.Columns = append(run.Columns, numberColumn(columnEnd, ends))
	}
	return nil
}

// valueIndices are the places of a parameter's value in its list, by row.
func valueIndices(p space.Parameter, results []tune.Result) ([]uint32, error) {
	place := map[space.Value]uint32{}
	for i, v := range p.Values {
		place[v] = uint32(i)
	}
	indices := make([]uint32, len(results))
	for i := range results {
		v, ok := results[i].Configuration.Get(p.Name)
		if !ok {
			return nil, fmt.Errorf("the configuration %s has no parameter %s", results[i].Configuration, p.Name)
		}
		at, ok := place[v]
		if !ok {
			j := slices.IndexFunc(p.Values, func(w space.Value) bool { return space.SameValue(v, w) })
			if j < 0 {
				return nil, fmt.Errorf("%s=%s is not among the values of the parameter", p.Name, space.FormatValue(v))
			}
			at = uint32(j)
			place[v] = at
		}
		indices[i] = at
	}
	return indices, nil
}

func (run *Run) statusColumns() {
	n := len(run.results)
	status, flags, devices, launches := make([]uint32, n), make([]uint32, n), make([]uint32, n), make([]uint32, n)
	most := uint32(0)
	for i := range run.results {
		r := &run.results[i]
		status[i] = uint32(slices.Index(tune.Statuses(), r.Status))
		if r.Verified {
			flags[i] |= flagVerified
		}
		if r.EarlyStopped {
			flags[i] |= flagEarly
		}
		if r.Device != "" {
			at := slices.Index(run.Devices, r.Device)
			if at < 0 {
				at = len(run.Devices)
				run.Devices = append(run.Devices, r.Device)
			}
			devices[i] = uint32(at) + 1
		}
		launches[i] = uint32(len(r.Times))
		most = max(most, launches[i])
	}
	run.Columns = append(run.Columns,
		indexColumn(columnStatus, len(tune.Statuses()), status), indexColumn(columnFlags, 4, flags),
		indexColumn(columnLaunches, int(most)+1, launches))
	if len(run.Devices) > 0 {
		run.Columns = append(run.Columns, indexColumn(columnDevice, len(run.Devices)+1, devices))
	}
}

func (run *Run) timeColumns() {
	n := len(run.results)
	times := [6][]float64{}
	for j := range times {
		times[j] = make([]float64, n)
	}
	final := false
	for i := range run.results {
		r := &run.results[i]
		row := [6]float64{math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN()}
		if len(r.Times) > 0 {
			s := r.Stats()
			row = [6]float64{s.Mean, s.Min, s.Median, s.Max, s.StandardDeviation, math.NaN()}
		}
		if len(r.Final) > 0 {
			row[5], final = r.FinalTime(), true
		}
		for j := range times {
			times[j][i] = row[j]
		}
	}
	for j, name := range []string{columnTime, columnMin, columnMedian, columnMax, columnDeviation} {
		run.Columns = append(run.Columns, numberColumn(name, times[j]))
	}
	if final {
		run.Columns = append(run.Columns, numberColumn(columnFinal, times[5]))
	}
	run.addNumbers(columnObjective, func(r *tune.Result) float64 {
		if r.Rankable() {
			return r.Objective
		}
		return math.NaN()
	})
	if run.ranking.Finalists > 0 {
		ranks := make([]uint32, n)
		for i, row := range run.ranking.Places {
			ranks[row] = uint32(i) + 1
		}
		run.Columns = append(run.Columns, indexColumn(columnRank, len(run.ranking.Places)+1, ranks))
	}
}

func (run *Run) durationColumns() {
	known := slices.ContainsFunc(run.results, func(r tune.Result) bool { return r.Durations != tune.Durations{} })
	if !known {
		return
	}
	for _, c := range []struct {
		name string
		of   func(*tune.Durations) time.Duration
	}{
		{columnBuild, func(d *tune.Durations) time.Duration { return d.Build }},
		{columnVerify, func(d *tune.Durations) time.Duration { return d.Verify }},
		{columnMeasure, func(d *tune.Durations) time.Duration { return d.Measure }},
		{columnFramework, func(d *tune.Durations) time.Duration { return d.Framework }},
		{columnSearch, func(d *tune.Durations) time.Duration { return d.Search }},
	} {
		run.addNumbers(c.name, func(r *tune.Result) float64 { return milliseconds(c.of(&r.Durations)) })
	}
}

func (run *Run) addNumbers(name string, of func(*tune.Result) float64) {
	values := make([]float64, len(run.results))
	for i := range run.results {
		values[i] = of(&run.results[i])
	}
	run.Columns = append(run.Columns, numberColumn(name, values))
}

// metricNames are the metrics of the header, and after them others that results have.
func metricNames(r *record.Record) []string {
	names := slices.Clone(r.Header.Metrics)
	for i := range r.Results {
		for _, m := range r.Results[i].Metrics {
			if !slices.Contains(names, m.Name) {
				names = append(names, m.Name)
			}
		}
	}
	return names
}
