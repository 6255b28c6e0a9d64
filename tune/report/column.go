package report

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// A Column is one figure of every row. Its numbers are little-endian in the report's blob,
// from Offset (bytes, a multiple of 8) on. Of f64, NaN is «there is none».
type Column struct {
	Name   string `json:"name"`
	Type   string `json:"type"` // u32 or f64
	Offset int    `json:"offset"`
	Length int    `json:"length"` // rows

	indices []uint32  // of u32
	numbers []float64 // of f64
}

// The columns beside those of parameters and metrics. Times are in milliseconds.
const (
	columnStatus    = "status"    // index in tune.Statuses
	columnFlags     = "flags"     // flagVerified, flagEarly
	columnReason    = "reason"    // index in Reasons plus 1; 0 for none
	columnDevice    = "device"    // index in Devices plus 1; 0 for none
	columnObjective = "objective" // of correct configurations
	columnTime      = "time"      // the median of the timed launches
	columnMin       = "min"
	columnMean      = "mean"
	columnMax       = "max"
	columnDeviation = "deviation" // standard deviation of the timed launches
	columnLaunches  = "launches"  // how many these are
	columnFinal     = "final"     // the median of the measurement in turn at the end
	columnRank      = "rank"      // the place in the ranking, from 1; 0 for none; only after a final measurement
	columnBuild     = "build"
	columnVerify    = "verify"
	columnMeasure   = "measure"
	columnFramework = "framework"
	columnSearch    = "search"
	columnEnd       = "end" // when the result was complete, since the beginning of the run
)

const (
	flagVerified = 1 << iota
	flagEarly    // measured once only
)

// size is the number of bytes of a row.
func (c *Column) size() int {
	if c.Type == "f64" {
		return 8
	}
	return 4
}

// since is the column without its first rows.
func (c *Column) since(from int) Column {
	rest := Column{Name: c.Name, Type: c.Type, Length: c.Length - from}
	if c.Type == "f64" {
		rest.numbers = c.numbers[from:]
	} else {
		rest.indices = c.indices[from:]
	}
	return rest
}

// bytes are the numbers of the column, padded to a length at which a column of any type can begin.
func (c *Column) bytes() []byte {
	b := make([]byte, 0, padded(c.Length*c.size()))
	for _, v := range c.numbers {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	for _, v := range c.indices {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b[:cap(b)]
}

func parameterColumn(i int) string { return "p" + strconv.Itoa(i) }
func metricColumn(i int) string    { return "m" + strconv.Itoa(i) }

// addIndices adds a column of integers.
func (run *Run) addIndices(name string, values []uint32) {
	run.Columns = append(run.Columns, Column{Name: name, Type: "u32", Length: len(values), indices: values})
}

// addNumbers adds a column of a number of each result.
func (run *Run) addNumbers(name string, of func(row int, r *tune.Result) float64) {
	values := make([]float64, len(run.results))
	for i := range run.results {
		values[i] = of(i, &run.results[i])
	}
	run.Columns = append(run.Columns, Column{Name: name, Type: "f64", Length: len(values), numbers: values})
}

// index is a column of integers.
func (run *Run) index(name string) []uint32 {
	i := slices.IndexFunc(run.Columns, func(c Column) bool { return c.Name == name })
	return run.Columns[i].indices
}

// fillColumns makes all columns but that of reasons, and the devices.
func (run *Run) fillColumns(parameters []space.Parameter, metrics []string) error {
	for i, p := range parameters {
		indices, err := valueIndices(p, run.results)
		if err != nil {
			return err
		}
		run.addIndices(parameterColumn(i), indices)
	}
	run.statusColumns()
	run.timeColumns()
	for i, name := range metrics {
		run.addNumbers(metricColumn(i), func(_ int, r *tune.Result) float64 {
			v, ok := r.Metric(name)
			return known(ok && r.Status == tune.Correct, v)
		})
	}
	run.durationColumns()
	if ends := endsOf(run.results, run.began); ends != nil {
		run.addNumbers(columnEnd, func(row int, _ *tune.Result) float64 { return ends[row] })
	}
	return nil
}

// valueIndices are the indices of a parameter's value in its list, by row.
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
	}
	run.addIndices(columnStatus, status)
	run.addIndices(columnFlags, flags)
	run.addIndices(columnLaunches, launches)
	if len(run.Devices) > 0 {
		run.addIndices(columnDevice, devices)
	}
}

func (run *Run) timeColumns() {
	stats := make([]score.Stats, len(run.results))
	for i := range run.results {
		stats[i] = run.results[i].Stats()
	}
	for _, c := range []struct {
		name string
		of   func(*score.Stats) float64
	}{
		{columnTime, func(s *score.Stats) float64 { return s.Median }},
		{columnMin, func(s *score.Stats) float64 { return s.Min }},
		{columnMean, func(s *score.Stats) float64 { return s.Mean }},
		{columnMax, func(s *score.Stats) float64 { return s.Max }},
		{columnDeviation, func(s *score.Stats) float64 { return s.StandardDeviation }},
	} {
		run.addNumbers(c.name, func(row int, r *tune.Result) float64 {
			return known(len(r.Times) > 0, c.of(&stats[row]))
		})
	}
	if slices.ContainsFunc(run.results, func(r tune.Result) bool { return len(r.Final) > 0 }) {
		run.addNumbers(columnFinal, func(_ int, r *tune.Result) float64 { return known(len(r.Final) > 0, r.FinalTime()) })
	}
	run.addNumbers(columnObjective, func(_ int, r *tune.Result) float64 { return known(r.Rankable(), r.Objective) })
	if run.ranking.Finalists > 0 {
		ranks := make([]uint32, len(run.results))
		for i, row := range run.ranking.Indices {
			ranks[row] = uint32(i) + 1
		}
		run.addIndices(columnRank, ranks)
	}
}

// known is a number, or NaN if it is not known.
func known(is bool, v float64) float64 {
	if !is {
		return math.NaN()
	}
	return v
}

func (run *Run) durationColumns() {
	if !slices.ContainsFunc(run.results, func(r tune.Result) bool { return r.Durations != tune.Durations{} }) {
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
		run.addNumbers(c.name, func(_ int, r *tune.Result) float64 { return milliseconds(c.of(&r.Durations)) })
	}
}

// place gives columns their offsets in a blob, from one on, and returns where they end.
func place(columns []Column, offset int) int {
	for i := range columns {
		columns[i].Offset = offset
		offset += padded(columns[i].Length * columns[i].size())
	}
	return offset
}

// padded is a length up to the next multiple of 8, where a column of any type can begin.
func padded(n int) int { return (n + 7) / 8 * 8 }

// pack is columns at their offsets, gzipped, in base64.
func pack(columns []Column) (string, error) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for _, c := range columns {
		if _, err := z.Write(c.bytes()); err != nil {
			return "", err
		}
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(packed.Bytes()), nil
}
