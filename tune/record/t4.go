package record

import (
	"bufio"
	"io"
	"strconv"
	"time"

	"github.com/ndtune/ndtune/tune"
)

// t4Version is the version of the T4 results schema that is written.
const t4Version = "1.0.0"

// EncodeT4 writes a record in the T4 format, the results format of the FAIR Benchmark Hub
// for Auto-Tuning, version 1.0.0 (https://github.com/odgaard/TuningSchema). Times are in
// milliseconds and timestamps are cut to microseconds, as Kernel Tuner writes them. A
// failure has 0 for correctness, no runtimes, and the name of Kernel Tuner's error that is
// nearest to it for the value of its time.
//
// What T4 has no place for stands where readers look for nothing: metadata.ndtune is the
// [Header]; the reason of a failure is «reason» beside «invalidity», unless it is the
// error's name, and there stand «early_stopped» and «device», too, «verified» where it is not
// what the header says, «exact_timestamp» where microseconds are not enough, and
// «reason_base64» where the reason is not UTF-8; «times» has «benchmark», as Kernel Tuner
// writes it, and «final_runtimes», whose median is the measurement «final_time». What the metrics
// and the objective are at that median is «at_final», as in a run log. [Read] takes them back.
// After a final measurement «rank» is the place of a correct result, from 1, which is that of the
// winner (see [tune.Ranking]): the objectives are those of the search, and do not tell it.
func EncodeT4(w io.Writer, r *Record) error {
	l, err := newLayout(r.Header.Parameters)
	if err != nil {
		return err
	}
	header, err := r.Header.MarshalJSON()
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 1<<16)
	_, _ = out.WriteString(`{"metadata":{"timeunit":"miliseconds","ndtune":`)
	_, _ = out.Write(header)
	_, _ = out.WriteString(`},"results":[`)
	ranks := r.ranks()
	var b []byte
	for i := range r.Results {
		d, err := l.digits(r.Results[i].Configuration)
		if err != nil {
			return err
		}
		b = b[:0]
		if i > 0 {
			b = append(b, ',')
		}
		rank := 0
		if ranks != nil {
			rank = ranks[i]
		}
		b = l.appendT4(append(b, '\n'), d, &r.Results[i], &r.Header, rank)
		_, _ = out.Write(b)
	}
	_, _ = out.WriteString("\n],\"schema_version\":\"" + t4Version + "\"}\n")
	return out.Flush() // an error of any write comes again here
}

// appendT4 writes one result.
func (l *layout) appendT4(b []byte, d digits, r *tune.Result, h *Header, rank int) []byte {
	objective := h.Objective
	correct := r.Status == tune.Correct
	b = append(b, `{"timestamp":`...)
	b = appendText(b, pythonTime(r.Timestamp))
	b = append(b, `,"configuration":`...)
	b = l.append(b, d)
	b = append(b, `,"times":{"compilation":`...)
	b = appendMilliseconds(b, r.Durations.Build)
	if r.Durations.Measure != 0 {
		b = appendMilliseconds(append(b, `,"benchmark":`...), r.Durations.Measure)
	}
	b = appendMilliseconds(append(b, `,"framework":`...), r.Durations.Framework)
	b = appendMilliseconds(append(b, `,"search_algorithm":`...), r.Durations.Search)
	b = appendMilliseconds(append(b, `,"validation":`...), r.Durations.Verify)
	if len(r.Times) > 0 {
		b = appendFloats(append(b, `,"runtimes":`...), r.Times)
	}
	if len(r.Final) > 0 {
		b = appendFloats(append(b, `,"final_runtimes":`...), r.Final)
	}
	b = append(b, `},"invalidity":`...)
	b = appendText(b, string(r.Status))
	if correct {
		b = append(b, `,"correctness":1`...)
	} else {
		b = append(b, `,"correctness":0`...)
	}
	if r.Reason != "" && r.Reason != errorName(r.Status) {
		b = appendReason(b, r.Reason)
	}
	b = appendCircumstances(b, r)
	if rank > 0 {
		b = strconv.AppendInt(append(b, `,"rank":`...), int64(rank), 10)
	}
	if r.AtFinal != nil {
		b = appendJudgement(append(b, `,"at_final":`...), r.AtFinal)
	}
	if r.Verified != verifiedBy(h, r) {
		b = strconv.AppendBool(append(b, `,"verified":`...), r.Verified)
	}
	if t := r.Timestamp; !t.IsZero() && !t.Equal(t.Truncate(time.Microsecond)) {
		b = appendTime(append(b, `,"exact_timestamp":`...), t)
	}
	b = append(b, `,"measurements":[`...)
	if correct {
		b = appendMeasurements(b, r, objective)
	} else {
		b = appendErrors(b, r.Status, objective)
	}
	b = append(b, `],"objectives":[`...)
	b = appendText(b, objectiveName(objective))
	return append(b, "]}"...)
}

// verifiedBy is whether a result was verified as far as the header tells.
func verifiedBy(h *Header, r *tune.Result) bool {
	return h.Verified && (r.Status == tune.Correct || r.Status == tune.Correctness)
}

func appendMeasurements(b []byte, r *tune.Result, objective tune.Objective) []byte {
	b = appendMeasurement(b, "time", r.Time())
	if len(r.Final) > 0 {
		b = appendMeasurement(append(b, ','), "final_time", r.FinalTime())
	}
	name := objectiveName(objective)
	if _, metric := r.Metric(name); name != "time" && !metric {
		b = appendMeasurement(append(b, ','), name, r.Objective)
	}
	for _, m := range r.Metrics {
		b = appendMeasurement(append(b, ','), m.Name, m.Value)
	}
	return b
}

func appendMeasurement(b []byte, name string, value float64) []byte {
	b = append(b, `{"name":`...)
	b = appendText(b, name)
	b = append(b, `,"value":`...)
	b = appendFloat(b, value)
	return append(b, `,"unit":""}`...)
}

// appendErrors writes the measurements of a failure: whatever a reader looks for, the time
// or the objective, is the name of an error.
func appendErrors(b []byte, s tune.Status, objective tune.Objective) []byte {
	for i, name := range []string{"time", objectiveName(objective)} {
		if i > 0 {
			if name == "time" {
				break
			}
			b = append(b, ',')
		}
		b = append(b, `{"name":`...)
		b = appendText(b, name)
		b = append(b, `,"value":"`+errorName(s)+`","unit":""}`...)
	}
	return b
}

func objectiveName(o tune.Objective) string {
	if o.Name == "" {
		return "time"
	}
	return o.Name
}

func milliseconds(d time.Duration) float64 { return float64(d) / 1e6 }

func appendMilliseconds(b []byte, d time.Duration) []byte {
	return appendFloat(b, milliseconds(d))
}

// pythonTime is the text that Python has for a point in time: microseconds where there are
// any, and the zone.
func pythonTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	t = t.UTC().Truncate(time.Microsecond)
	if t.Nanosecond() == 0 {
		return t.Format("2006-01-02 15:04:05-07:00")
	}
	return t.Format("2006-01-02 15:04:05.000000-07:00")
}
