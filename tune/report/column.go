package report

import (
	"encoding/binary"
	"math"
	"strconv"
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

// numbers is a column of numbers; nil where the run has none of that name.
func (run *Run) numbers(name string) []float64 {
	for _, c := range run.Columns {
		if c.Name != name {
			continue
		}
		values := make([]float64, c.Length)
		for i := range values {
			values[i] = math.Float64frombits(binary.LittleEndian.Uint64(c.bytes[8*i:]))
		}
		return values
	}
	return nil
}
