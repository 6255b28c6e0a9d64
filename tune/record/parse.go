package record

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/ndtune/ndtune/tune"
)

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
