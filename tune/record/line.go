package record

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/ndtune/ndtune/tune"
)

// The kinds of lines after the header.
const (
	kindResult    = "result"
	kindFinal     = "final"
	kindWithdrawn = "withdrawn"
)

// A line of a result leaves out what is zero:
//
//	{"kind":"result","configuration":{"block_size_x":16},"status":"correct","times":[1.5],
//	 "verified":true,"early_stopped":true,"device":"1:0","metrics":{"GB/s":90.5},"objective":1.5,
//	 "durations_ns":{"build":1200300},"timestamp":"2026-01-02T03:04:05.678901234Z"}
//
// A line of a final measurement names its configuration, and the session that it belongs
// to, counted from 1: what was measured before and after a log was resumed cannot be
// compared, so those of an earlier session are forgotten as soon as a later one has any.
//
//	{"kind":"final","session":1,"configuration":{"block_size_x":16},"times":[1.5,1.4],
//	 "at_final":{"metrics":{"GB/s":93.6},"objective":1.45}}
//
// at_final is what the metrics and the objective are at the median of these times; logs of earlier
// versions do not have it.
//
// Every line, the header too, has one more member at its end, which these examples leave out:
// the CRC-32C (Castagnoli) of the bytes before it.
//
//	{"kind":"result","configuration":{"block_size_x":16},"status":"correct","crc32c":"a94f4e59"}

const checksumMember = `,"crc32c":"`

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// endLine makes a JSON object a line of a run log: it adds the checksum and a newline.
func endLine(object []byte) []byte {
	content := object[:len(object)-1]
	return append(appendChecksum(content, content), '\n')
}

func appendChecksum(b, content []byte) []byte {
	return fmt.Appendf(b, checksumMember+`%08x"}`, crc32.Checksum(content, castagnoli))
}

// checkLine reports whether a line has a checksum, and whether it is the right one. It is also
// right for a line that is the same but for white space between its tokens.
func checkLine(line []byte) (has, right bool) {
	at := bytes.LastIndex(line, []byte(checksumMember))
	if at >= 0 && bytes.Equal(line[at:], appendChecksum(nil, line[:at])) {
		return true, true
	}
	if !bytes.Contains(line, []byte(`"crc32c"`)) {
		return false, false
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, line); err != nil || compact.Len() == len(line) {
		return true, false
	}
	return checkLine(compact.Bytes())
}

// A line of a withdrawn result says that the one before it of this configuration counts no more:
// its failure may have been the environment's, or it is about to be evaluated again.
//
//	{"kind":"withdrawn","configuration":{"block_size_x":16}}

// appendWithdrawn writes the line of a withdrawn result, without its end.
func (l *layout) appendWithdrawn(b []byte, d digits) []byte {
	b = append(b, `{"kind":"withdrawn","configuration":`...)
	return append(l.append(b, d), '}')
}

// appendResult writes the line of a result, without its end.
func (l *layout) appendResult(b []byte, d digits, r *tune.Result) ([]byte, error) {
	if !knownStatus[r.Status] {
		return b, fmt.Errorf("the status %q is none that a result can have", r.Status)
	}
	b = append(b, `{"kind":"result","configuration":`...)
	b = l.append(b, d)
	b = append(b, `,"status":`...)
	b = appendText(b, string(r.Status))
	if r.Reason != "" {
		b = appendReason(b, r.Reason)
	}
	if len(r.Times) > 0 {
		b = appendFloats(append(b, `,"times":`...), r.Times)
	}
	if r.Verified {
		b = append(b, `,"verified":true`...)
	}
	b = appendCircumstances(b, r)
	if len(r.Metrics) > 0 {
		b = appendMetrics(append(b, `,"metrics":`...), r.Metrics)
	}
	if math.Float64bits(r.Objective) != 0 { // -0 is kept
		b = appendFloat(append(b, `,"objective":`...), r.Objective)
	}
	if r.Durations != (tune.Durations{}) {
		b = appendDurations(append(b, `,"durations_ns":`...), r.Durations)
	}
	if !r.Timestamp.IsZero() {
		if year := r.Timestamp.UTC().Year(); year < 0 || year > 9999 {
			return b, fmt.Errorf("the year %d of a timestamp cannot be written", year)
		}
		b = appendTime(append(b, `,"timestamp":`...), r.Timestamp)
	}
	if len(r.Final) > 0 {
		b = appendFloats(append(b, `,"final":`...), r.Final)
		if r.AtFinal != nil {
			b = appendJudgement(append(b, `,"at_final":`...), r.AtFinal)
		}
	}
	return append(b, '}'), nil
}

// appendReason writes a reason, twice where it is not UTF-8, as members of the result in a run
// log and in T4 alike.
func appendReason(b []byte, reason string) []byte {
	b = appendText(append(b, `,"reason":`...), reason)
	if !utf8.ValidString(reason) {
		b = append(b, `,"reason_base64":"`...)
		b = base64.StdEncoding.AppendEncode(b, []byte(reason))
		b = append(b, '"')
	}
	return b
}

// appendCircumstances writes how a result was measured, as members of the result in a run log
// and in T4 alike.
func appendCircumstances(b []byte, r *tune.Result) []byte {
	if r.EarlyStopped {
		b = append(b, `,"early_stopped":true`...)
	}
	if r.Device != "" {
		b = appendText(append(b, `,"device":`...), r.Device)
	}
	return b
}

// appendFinal writes the line of a final measurement, without its end.
func (l *layout) appendFinal(b []byte, d digits, r *tune.Result, session int) []byte {
	b = append(b, `{"kind":"final","session":`...)
	b = strconv.AppendInt(b, int64(session), 10)
	b = append(b, `,"configuration":`...)
	b = l.append(b, d)
	b = append(b, `,"times":`...)
	b = appendFloats(b, r.Final)
	if r.AtFinal != nil {
		b = appendJudgement(append(b, `,"at_final":`...), r.AtFinal)
	}
	return append(b, '}')
}

// appendJudgement writes at_final, in a run log and in T4 alike.
func appendJudgement(b []byte, j *tune.Judgement) []byte {
	b = append(b, '{')
	if len(j.Metrics) > 0 {
		b = append(appendMetrics(append(b, `"metrics":`...), j.Metrics), ',')
	}
	b = appendFloat(append(b, `"objective":`...), j.Objective)
	return append(b, '}')
}

func appendMetrics(b []byte, metrics []tune.MetricValue) []byte {
	b = append(b, '{')
	for i, m := range metrics {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendText(b, m.Name), ':')
		b = appendFloat(b, m.Value)
	}
	return append(b, '}')
}

// durationFields are the parts of a Durations under their names in a line.
func durationFields(d *tune.Durations) [5]durationField {
	return [5]durationField{
		{"build", &d.Build}, {"verify", &d.Verify}, {"measure", &d.Measure},
		{"framework", &d.Framework}, {"search", &d.Search},
	}
}

type durationField struct {
	name string
	at   *time.Duration
}

func appendDurations(b []byte, d tune.Durations) []byte {
	b = append(b, '{')
	first := true
	for _, f := range durationFields(&d) {
		if *f.at == 0 {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(append(append(b, '"'), f.name...), `":`...)
		b = strconv.AppendInt(b, int64(*f.at), 10)
	}
	return append(b, '}')
}

var knownStatus = func() map[tune.Status]bool {
	known := map[tune.Status]bool{}
	for _, s := range tune.Statuses() {
		known[s] = true
	}
	return known
}()
