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
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
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
		b = appendAtFinal(appendFloats(append(b, `,"final":`...), r.Final), r)
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
	return append(appendAtFinal(b, r), '}')
}

// appendAtFinal writes at_final, in a run log and in T4 alike.
func appendAtFinal(b []byte, r *tune.Result) []byte {
	j := r.AtFinal
	if j == nil {
		return b
	}
	b = append(b, `,"at_final":{`...)
	if len(j.Metrics) > 0 {
		b = append(appendMetrics(append(b, `"metrics":`...), j.Metrics), ',')
	}
	return append(appendFloat(append(b, `"objective":`...), j.Objective), '}')
}

func appendMetrics(b []byte, metrics []problem.MetricValue) []byte {
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
		return parsedLine{}, json.Unmarshal(line, new(any))
	}
	var p parsedLine
	if err := decodeObject(line, func(name string) any { return p.member(l, name) }); err != nil {
		return parsedLine{}, err
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

// member is where a member of the line goes, as decodeValue takes it.
func (p *parsedLine) member(l *layout, name string) any {
	if p.late != nil {
		return p.late.member(l, name)
	}
	r := &p.result
	switch name {
	case "kind":
		return func(raw []byte) (err error) {
			if p.kind, err = parseText(raw); p.kind == kindPeaks {
				p.late = &latePeaks{common: math.NaN()}
			}
			return err
		}
	case "session":
		return &p.session
	case "configuration":
		return func(raw []byte) (err error) {
			p.digits, err = l.scanOnly(raw)
			return err
		}
	case "status":
		return func(raw []byte) error {
			text, err := parseText(raw)
			if r.Status = tune.Status(text); err == nil && !knownStatus[r.Status] {
				err = fmt.Errorf("%q is none that a result can have", text)
			}
			return err
		}
	case "reason":
		return &r.Reason
	case "reason_base64":
		return func(raw []byte) error {
			var decoded []byte
			err := json.Unmarshal(raw, &decoded)
			r.Reason = string(decoded)
			return err
		}
	case "times":
		return &r.Times
	case "verified":
		return &r.Verified
	case "early_stopped":
		return &r.EarlyStopped
	case "device":
		return &r.Device
	case "metrics":
		return &r.Metrics
	case "objective":
		return &r.Objective
	case "durations_ns":
		return &r.Durations
	case "timestamp":
		return &r.Timestamp
	case "final":
		return &r.Final
	case "at_final":
		return &r.AtFinal
	}
	return nil
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
func (l *Log) AppendPeaks(p *hardware.Peaks, metricNames []string, results []tune.Result, limit func(*tune.Result) float64) error {
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
func (l *layout) appendPeaks(p *hardware.Peaks, metricNames []string, results []tune.Result, limit func(*tune.Result) float64) ([]byte, error) {
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
	peaks       *hardware.Peaks
	metricNames []string
	common      float64
	others      map[string]float64 // by the keys of digits
}

// member is where a member of the line goes, as decodeValue takes it.
func (p *latePeaks) member(l *layout, name string) any {
	switch name {
	case "peaks":
		return &p.peaks
	case "metric_names":
		return &p.metricNames
	case "limit":
		return &p.common
	case "limits":
		return func(raw []byte) error { return p.setLimits(l, raw) }
	}
	return nil
}

// setLimits takes the limits that differ from the common one.
func (p *latePeaks) setLimits(l *layout, raw []byte) error {
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
	return nil
}

// complete gives the results their «% of limit», and the header the peaks. Places are those of
// the results by the keys of their configurations.
func (p *latePeaks) complete(h *Header, results []tune.Result, places map[string]int) {
	h.Device.Peaks, h.Metrics = p.peaks, p.metricNames
	at := slices.Index(p.metricNames, problem.MetricOfLimit)
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
