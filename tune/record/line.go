package record

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
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

// A parsedLine is a line after the header.
type parsedLine struct {
	kind    string // "": an empty line, or one that could not be read
	session int
	digits  digits
	result  tune.Result // of a final measurement, only Configuration, Final and AtFinal
	late    *latePeaks  // of a line of peaks, which has nothing else

	checked bool   // it has a checksum
	damage  string // why it is taken for damaged; "": it is not
	unknown error  // it is as it was written, but this program cannot read it
}

// parseChecked reads a line after the header and tells damage from lines that this program
// does not know.
func (l *layout) parseChecked(line []byte) parsedLine {
	has, right := checkLine(line)
	p, err := l.parse(line)
	p.checked = has
	switch {
	case right && err != nil:
		p.unknown = err
	case err != nil:
		p.damage = err.Error()
	case has && !right:
		p.damage = fmt.Sprintf("its checksum does not match (it reads as a %s of %s)", p.kind, p.result.Configuration)
	}
	return p
}

// parse reads a line after the header. The layout is that of the header.
func (l *layout) parse(line []byte) (parsedLine, error) {
	if !json.Valid(line) {
		return parsedLine{}, syntaxError(line)
	}
	if line[0] != '{' {
		return parsedLine{}, fmt.Errorf("want an object, not %s", kindOf(line))
	}
	var p parsedLine
	for name, raw := range members(line) {
		if err := p.set(l, name, raw); err != nil {
			return parsedLine{}, fmt.Errorf("%s: %w", name, err)
		}
	}
	switch {
	case p.late != nil && p.late.peaks != nil:
		return p, nil
	case p.late != nil:
		return parsedLine{}, fmt.Errorf("no peaks")
	case p.kind != kindResult && p.kind != kindFinal && p.kind != kindWithdrawn:
		return parsedLine{}, fmt.Errorf("a line of the unknown kind %q", p.kind)
	case p.digits == nil:
		return parsedLine{}, fmt.Errorf("no configuration")
	case p.kind == kindResult && p.result.Status == "":
		return parsedLine{}, fmt.Errorf("no status")
	}
	if p.kind == kindFinal {
		p.result = tune.Result{Final: p.result.Times, AtFinal: p.result.AtFinal}
	}
	p.result.Configuration = l.configuration(p.digits)
	return p, nil
}

func (p *parsedLine) set(l *layout, name string, raw []byte) (err error) {
	r := &p.result
	if p.late != nil {
		return p.late.set(l, name, raw)
	}
	switch name {
	case "kind":
		if p.kind, err = parseText(raw); p.kind == kindPeaks {
			p.late = &latePeaks{common: math.NaN()}
		}
	case "session":
		p.session, err = strconv.Atoi(string(raw))
	case "configuration":
		p.digits, err = l.scanOnly(raw)
	case "status":
		var text string
		text, err = parseText(raw)
		if r.Status = tune.Status(text); err == nil && !knownStatus[r.Status] {
			err = fmt.Errorf("%q is none that a result can have", text)
		}
	case "reason":
		r.Reason, err = parseText(raw)
	case "reason_base64":
		var text string
		if text, err = parseText(raw); err == nil {
			var decoded []byte
			decoded, err = base64.StdEncoding.DecodeString(text)
			r.Reason = string(decoded)
		}
	case "times":
		r.Times, err = parseNumbers(raw)
	case "verified":
		r.Verified = string(raw) == "true"
	case "early_stopped":
		r.EarlyStopped = string(raw) == "true"
	case "device":
		r.Device, err = parseText(raw)
	case "metrics":
		r.Metrics, err = parseMetrics(raw)
	case "objective":
		r.Objective, err = parseNumber(raw)
	case "durations_ns":
		r.Durations, err = parseDurations(raw)
	case "timestamp":
		var text string
		if text, err = parseText(raw); err == nil {
			r.Timestamp, err = time.Parse(time.RFC3339Nano, text)
		}
	case "final":
		r.Final, err = parseNumbers(raw)
	case "at_final":
		r.AtFinal, err = parseJudgement(raw)
	}
	return err
}

func parseJudgement(raw []byte) (*tune.Judgement, error) {
	if raw[0] != '{' {
		return nil, fmt.Errorf("want an object, not %s", kindOf(raw))
	}
	j := tune.Judgement{Objective: math.NaN()}
	for name, value := range members(raw) {
		var err error
		switch name {
		case "metrics":
			j.Metrics, err = parseMetrics(value)
		case "objective":
			j.Objective, err = parseNumber(value)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return &j, nil
}

func parseMetrics(raw []byte) ([]tune.MetricValue, error) {
	if raw[0] != '{' {
		return nil, fmt.Errorf("want an object, not %s", kindOf(raw))
	}
	var metrics []tune.MetricValue
	for name, number := range members(raw) {
		f, err := parseNumber(number)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		metrics = append(metrics, tune.MetricValue{Name: name, Value: f})
	}
	return metrics, nil
}

func parseDurations(raw []byte) (tune.Durations, error) {
	var d tune.Durations
	if raw[0] != '{' {
		return d, fmt.Errorf("want an object, not %s", kindOf(raw))
	}
	fields := durationFields(&d)
	for name, number := range members(raw) {
		for _, f := range fields {
			if f.name != name {
				continue
			}
			ns, err := strconv.ParseInt(string(number), 10, 64)
			if err != nil {
				return d, fmt.Errorf("%s: %w", name, err)
			}
			*f.at = time.Duration(ns)
		}
	}
	return d, nil
}

// syntaxError says what is wrong with text that is not JSON.
func syntaxError(data []byte) error {
	var v json.RawMessage
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	return fmt.Errorf("not JSON")
}

const (
	kindPeaks      = "peaks"
	peaksBeginning = `{"kind":"` + kindPeaks + `",`
)

// A line of peaks says what the device was measured to give after the results before it were
// appended, which metrics they have with that, and the limit of each in milliseconds: a result
// that is not listed has the common one. Readers give the results «% of limit» by it.
//
//	{"kind":"peaks","peaks":{…},"metric_names":["GB/s","% of limit"],"limit":0.012,
//	 "limits":[{"configuration":{"block_size_x":16},"ms":0.024}]}

// AppendPeaks keeps peaks that were measured after the results were appended, with the names of
// the metrics that results have now. Limit is that of a correct result in milliseconds, NaN
// where it has none.
func (l *Log) AppendPeaks(p *tune.Peaks, metricNames []string, results []tune.Result, limit func(*tune.Result) float64) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	line, err := l.layout.appendPeaks(p, metricNames, results, limit)
	if err == nil {
		err = l.write(endLine(line))
	}
	if err != nil {
		return l.cannotAppend(err)
	}
	l.header.Device.Peaks, l.header.Metrics = p, metricNames
	return nil
}

// appendPeaks is the line of peaks, without its end. The common limit is that of the first
// correct result.
func (l *layout) appendPeaks(p *tune.Peaks, metricNames []string, results []tune.Result, limit func(*tune.Result) float64) ([]byte, error) {
	peaks, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	names, err := json.Marshal(metricNames)
	if err != nil {
		return nil, err
	}
	var others []byte
	common, some := 0.0, false
	for i := range results {
		if results[i].Status != tune.Correct {
			continue
		}
		ms := limit(&results[i])
		if !some {
			common, some = ms, true
		}
		if sameNumber(ms, common) {
			continue
		}
		d, err := l.digits(results[i].Configuration)
		if err != nil {
			return nil, err
		}
		if len(others) > 0 {
			others = append(others, ',')
		}
		others = l.append(append(others, `{"configuration":`...), d)
		others = append(appendFloat(append(others, `,"ms":`...), ms), '}')
	}
	b := fmt.Appendf(nil, peaksBeginning+`"peaks":%s,"metric_names":%s,"limit":`, peaks, names)
	b = appendFloat(b, common)
	if len(others) > 0 {
		b = append(append(append(b, `,"limits":[`...), others...), ']')
	}
	return append(b, '}'), nil
}

// latePeaks are a line of peaks, read back.
type latePeaks struct {
	peaks       *tune.Peaks
	metricNames []string
	common      float64
	others      map[string]float64 // by the keys of digits
}

// set takes a member of the line.
func (p *latePeaks) set(l *layout, name string, raw []byte) (err error) {
	switch name {
	case "peaks":
		err = json.Unmarshal(raw, &p.peaks)
	case "metric_names":
		err = json.Unmarshal(raw, &p.metricNames)
	case "limit":
		p.common, err = parseNumber(raw)
	case "limits":
		var list []struct{ Configuration, MS json.RawMessage }
		if err := json.Unmarshal(raw, &list); err != nil {
			return err
		}
		p.others = make(map[string]float64, len(list))
		for _, other := range list {
			if other.Configuration == nil || other.MS == nil {
				return fmt.Errorf("a limit without a configuration or without milliseconds")
			}
			d, err := l.scanOnly(other.Configuration)
			if err != nil {
				return err
			}
			if p.others[d.key()], err = parseNumber(other.MS); err != nil {
				return err
			}
		}
	}
	return err
}

// complete gives the results their «% of limit», and the header the peaks. Places are those of
// the results by the keys of their configurations.
func (p *latePeaks) complete(h *Header, results []tune.Result, places map[string]int) {
	h.Device.Peaks, h.Metrics = p.peaks, p.metricNames
	at := slices.Index(p.metricNames, tune.MetricOfLimit)
	if at < 0 {
		return
	}
	for key, i := range places {
		ms, other := p.others[key]
		if !other {
			ms = p.common
		}
		results[i].AddLimit(at, ms)
	}
}
