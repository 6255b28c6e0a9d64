package matmul

import (
	"encoding/csv"
	"io"
	"strconv"

	"github.com/ndtune/ndtune/tune"
)

// EncodeCSV writes cells as a table of one row each, with a header row: the entrant, n, of the
// multiplications alone the median and the least time in milliseconds, their number and the
// rate at the median in GFLOP/s, the same of the round trips, the configuration, whether the
// host's clock took the times alone, and why there is no measurement. What there is not is
// empty; on the CPU there are no round trips.
func EncodeCSV(w io.Writer, cells []Cell) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{ // an error comes again below
		"entrant", "n", "time_ms", "time_min_ms", "runs", "gflops",
		"with_transfers_ms", "with_transfers_min_ms", "with_transfers_runs", "with_transfers_gflops",
		"configuration", "host_timer", "left_out",
	})
	for _, c := range cells {
		row := []string{c.Entrant, strconv.Itoa(c.N)}
		m := c.Measurement
		if m == nil {
			m = &Measurement{}
		}
		row = append(append(row, columns(c.N, m.Alone)...), columns(c.N, m.RoundTrips)...)
		host := ""
		if m.HostTimer {
			host = "true"
		}
		_ = out.Write(append(row, m.Configuration, host, c.Why))
	}
	out.Flush()
	return out.Error()
}

// columns are the median, the minimum, the number and the rate of times.
func columns(n int, times []float64) []string {
	if len(times) == 0 {
		return make([]string, 4)
	}
	s := tune.StatsOf(times)
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	return []string{number(s.Median), number(s.Min), strconv.Itoa(s.Count), number(Rate(n, s.Median))}
}

// A Crossover is the size from which one entrant is faster than another.
type Crossover struct {
	From     int // the smallest N from which it is faster at every size; 0: none
	Smallest int // both were measured from this N
	Largest  int // to this N; 0: at no size
}

// CrossoverOf compares an entrant with another at the sizes at which both were measured: alone, or
// with both transfers.
func CrossoverOf(cells []Cell, entrant, over string, withTransfers bool) Crossover {
	var c Crossover
	time := (*Measurement).Time
	if withTransfers {
		time = (*Measurement).WithTransfers
	}
	others := map[int]*Measurement{}
	for _, cell := range cells {
		if cell.Entrant == over && cell.Measurement != nil {
			others[cell.N] = cell.Measurement
		}
	}
	for _, cell := range cells { // ascending
		other := others[cell.N]
		if cell.Entrant != entrant || cell.Measurement == nil || other == nil {
			continue
		}
		switch {
		case time(cell.Measurement) >= time(other):
			c.From = 0
		case c.From == 0:
			c.From = cell.N
		}
		if c.Smallest == 0 {
			c.Smallest = cell.N
		}
		c.Largest = cell.N
	}
	return c
}
