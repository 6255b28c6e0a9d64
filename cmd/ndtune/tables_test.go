package main

import (
	"encoding/csv"
	"fmt"
	"hash/crc32"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// table turns tables, NAME.csv, into T4 files, NAME.json. A table has a column for each parameter, whose values are integers, then
// status, time, the metrics, verified, and possibly early_stopped and build_ms.
func table(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: table NAME.csv…")
	}
	for _, name := range args {
		rows, err := csv.NewReader(strings.NewReader(ts.ReadFile(name))).ReadAll()
		ts.Check(err)
		r, err := recordOfTable(rows[0], rows[1:])
		if err != nil {
			ts.Fatalf("%s: %v", name, err)
		}
		ts.Check(record.Write(ts.MkAbs(strings.TrimSuffix(name, ".csv")+".json"), r))
	}
}

func recordOfTable(head []string, rows [][]string) (*record.Record, error) {
	r := &record.Record{Header: record.Header{Objective: score.Objective{Name: "time"}}}
	status := 0
	for head[status] != "status" {
		var values []int
		for _, row := range rows {
			v, err := strconv.Atoi(row[status])
			if err != nil {
				return nil, err
			}
			values = append(values, v)
		}
		slices.Sort(values)
		p := space.Parameter{Name: head[status]}
		for _, v := range slices.Compact(values) {
			p.Values = append(p.Values, v)
		}
		r.Header.Parameters = append(r.Header.Parameters, p)
		status++
	}
	if len(rows) == 0 {
		r.Header.Parameters = nil
	}
	parameters, err := space.NewParameters(r.Header.Parameters)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		values := map[string]space.Value{}
		for i, p := range r.Header.Parameters {
			values[p.Name], _ = strconv.Atoi(row[i])
		}
		c, err := parameters.Configure(values)
		if err != nil {
			return nil, err
		}
		result := tune.Result{Configuration: c, Status: tune.Status(row[status]), Durations: tune.Durations{Framework: time.Nanosecond}}
		for i := status + 1; i < len(row); i++ {
			if row[i] != "" {
				if err := setColumn(&result, head[i], row[i]); err != nil {
					return nil, err
				}
			}
		}
		r.Results = append(r.Results, result)
	}
	return r, nil
}

func setColumn(r *tune.Result, name, text string) error {
	switch name {
	case "verified":
		r.Verified = text == "true"
		return nil
	case "early_stopped":
		r.EarlyStopped = text == "true"
		return nil
	}
	v, err := strconv.ParseFloat(text, 64)
	switch name {
	case "time":
		r.Times, r.Objective = []float64{v}, v
	case "build_ms":
		r.Durations.Build = time.Duration(v * float64(time.Millisecond))
	default:
		r.Metrics = append(r.Metrics, score.MetricValue{Name: name, Value: v})
	}
	return err
}

// seal gives each line of run logs that is an object the right checksum.
func seal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: seal FILE…")
	}
	for _, name := range args {
		var sealed strings.Builder
		for line := range strings.Lines(ts.ReadFile(name)) {
			content, isObject := strings.CutSuffix(line, "}\n")
			content, _, _ = strings.Cut(content, `,"crc32c":"`)
			if !isObject {
				sealed.WriteString(line)
				continue
			}
			sum := crc32.Checksum([]byte(content), crc32.MakeTable(crc32.Castagnoli))
			fmt.Fprintf(&sealed, "%s,\"crc32c\":\"%08x\"}\n", content, sum)
		}
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(sealed.String()), 0o666))
	}
}
