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
	"github.com/ndtune/ndtune/tune/space"
)

// A Column is one figure of every row. Its numbers are little-endian in the report's blob,
// from Offset (bytes, a multiple of 8) on. Of f64, NaN is «there is none».
type Column struct {
	Name   string `json:"name"`
	Type   string `json:"type"` // u8, u16, u32 or f64
	Offset int    `json:"offset"`
	Length int    `json:"length"` // rows

	bytes []byte
}

// The columns beside those of parameters and metrics. Times are in milliseconds.
const (
	columnStatus    = "status"    // index in tune.Statuses
	columnFlags     = "flags"     // flagVerified, flagEarly
	columnReason    = "reason"    // index in Reasons plus 1; 0 for none
	columnDevice    = "device"    // index in Devices plus 1; 0 for none
	columnObjective = "objective" // of correct configurations
	columnTime      = "time"      // the mean of the timed launches
	columnMin       = "min"
	columnMedian    = "median"
	columnMax       = "max"
	columnDeviation = "deviation" // standard deviation of the timed launches
	columnLaunches  = "launches"  // how many these are
	columnFinal     = "final"     // the median of the interleaved measurement at the end
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

// size is how many bytes a row has.
func (c *Column) size() int {
	switch c.Type {
	case "u8":
		return 1
	case "u16":
		return 2
	case "u32":
		return 4
	}
	return 8
}

// since is the column without its first rows.
func (c *Column) since(from int) Column {
	return Column{Name: c.Name, Type: c.Type, Length: c.Length - from, bytes: c.bytes[from*c.size():]}
}

func parameterColumn(i int) string { return "p" + strconv.Itoa(i) }
func metricColumn(i int) string    { return "m" + strconv.Itoa(i) }

func indexColumn(name string, size int, values []uint32) Column {
	c := Column{Name: name, Type: "u8", Length: len(values)}
	switch {
	case size > 1<<16:
		c.Type = "u32"
	case size > 1<<8:
		c.Type = "u16"
	}
	for _, v := range values {
		switch c.Type {
		case "u8":
			c.bytes = append(c.bytes, byte(v))
		case "u16":
			c.bytes = binary.LittleEndian.AppendUint16(c.bytes, uint16(v))
		default:
			c.bytes = binary.LittleEndian.AppendUint32(c.bytes, v)
		}
	}
	return c
}

func numberColumn(name string, values []float64) Column {
	c := Column{Name: name, Type: "f64", Length: len(values), bytes: make([]byte, 0, 8*len(values))}
	for _, v := range values {
		c.bytes = binary.LittleEndian.AppendUint64(c.bytes, math.Float64bits(v))
	}
	return c
}

// index is a column of indices.
func (run *Run) index(name string) []uint32 {
	for _, c := range run.Columns {
		if c.Name != name {
			continue
		}
		values := make([]uint32, c.Length)
		for i := range values {
			switch c.Type {
			case "u8":
				values[i] = uint32(c.bytes[i])
			case "u16":
				values[i] = uint32(binary.LittleEndian.Uint16(c.bytes[2*i:]))
			default:
				values[i] = binary.LittleEndian.Uint32(c.bytes[4*i:])
			}
		}
		return values
	}
	panic("report: there is no column " + name)
}

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

// place gives columns their offsets in a blob, from one on, and returns where they end.
func place(columns []Column, offset int) int {
	for i := range columns {
		columns[i].Offset = offset
		offset += padded(len(columns[i].bytes))
	}
	return offset
}

// padded is a length up to the next multiple of 8, where a column of any type can begin.
func padded(n int) int { return (n + 7) / 8 * 8 }

// pack is columns at their offsets, gzipped, in base64.
func pack(columns []Column) (string, error) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	var zeros [8]byte
	for _, c := range columns {
		if _, err := z.Write(c.bytes); err != nil {
			return "", err
		}
		if _, err := z.Write(zeros[:padded(len(c.bytes))-len(c.bytes)]); err != nil {
			return "", err
		}
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(packed.Bytes()), nil
}
