package simulate

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"
)

// EncodeCSV writes curves as a table: a row for each strategy, record and number of
// evaluations. The standard error is empty where there is none.
func EncodeCSV(w io.Writer, curves []Curve) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"strategy", "record", "evaluations", "mean", "stderr"}) // an error comes again below
	for _, c := range curves {
		for i, mean := range c.Mean {
			_ = out.Write([]string{c.Strategy, c.Record, strconv.Itoa(i + 1), cell(mean), cell(c.StandardError[i])})
		}
	}
	out.Flush()
	return out.Error()
}

func cell(f float64) string {
	if math.IsNaN(f) {
		return ""
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}
