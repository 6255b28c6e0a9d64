package record

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/score"
)

// A field is a member of a JSON object and a pointer to its value. The type of the pointer decides
// how the value is written and read.
type field struct {
	name string
	at   any
}

// appendFields writes the fields whose values are not zero as members of an object.
func appendFields(b []byte, fields ...field) []byte {
	for i := range fields {
		b = fields[i].append(b)
	}
	return b
}

// notUTF8 is the second form of a text, in base64. It is zero if the text is valid UTF-8, whose
// first form says all.
type notUTF8 string

func (f *field) append(b []byte) []byte {
	before := len(b)
	b = appendName(b, f.name)
	begin := len(b)
	switch at := f.at.(type) {
	case *string:
		if *at != "" {
			b = appendText(b, *at)
		}
	case *tune.Status:
		if *at != "" { // one of tune.Statuses, which need no escapes
			b = append(append(append(b, '"'), *at...), '"')
		}
	case *notUTF8:
		if !utf8.ValidString(string(*at)) {
			b = base64.StdEncoding.AppendEncode(append(b, '"'), []byte(*at))
			b = append(b, '"')
		}
	case *bool:
		if *at {
			b = append(b, "true"...)
		}
	case *int:
		if *at != 0 {
			b = strconv.AppendInt(b, int64(*at), 10)
		}
	case *float64:
		if math.Float64bits(*at) != 0 { // -0 is kept
			b = appendFloat(b, *at)
		}
	case *[]float64:
		if len(*at) > 0 {
			b = appendFloats(b, *at)
		}
	case *[]int:
		if len(*at) > 0 {
			b = append(b, '[')
			for _, n := range *at {
				b = strconv.AppendInt(separate(b), int64(n), 10)
			}
			b = append(b, ']')
		}
	case *[]score.MetricValue:
		if len(*at) > 0 {
			b = appendMetrics(append(b, '{'), *at)
			b = append(b, '}')
		}
	case **score.Judgement:
		if j := *at; j != nil {
			b = appendFields(append(b, '{'), field{"metrics", &j.Metrics})
			b = append(appendFloat(appendName(b, "objective"), j.Objective), '}')
		}
	case *time.Duration:
		if *at != 0 {
			b = strconv.AppendInt(b, int64(*at), 10)
		}
	case *tune.Durations:
		if *at != (tune.Durations{}) {
			parts := durationFields(at)
			b = append(appendFields(append(b, '{'), parts[:]...), '}')
		}
	case *time.Time:
		if !at.IsZero() {
			b = append(at.UTC().AppendFormat(append(b, '"'), time.RFC3339Nano), '"')
		}
	case *configured:
		b = at.layout.append(b, at.indices)
	case *[]problem.Part:
		b = appendJSON(b, len(*at), at)
	case *[]hardware.Reading:
		b = appendJSON(b, len(*at), at) // whose numbers are finite
	case *map[string]string:
		b = appendJSON(b, len(*at), at)
	default:
		panic("record: no JSON form of " + f.name)
	}
	if len(b) == begin {
		return b[:before]
	}
	return b
}

// appendJSON writes a list or a map of some length, unless it is empty.
func appendJSON(b []byte, length int, v any) []byte {
	if length == 0 {
		return b
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("record: %T cannot be written: %v", v, err))
	}
	return append(b, text...)
}

// appendMetrics writes metrics as members of an object.
func appendMetrics(b []byte, metrics []score.MetricValue) []byte {
	for i := range metrics {
		b = append(appendText(separate(b), metrics[i].Name), ':')
		b = appendFloat(b, metrics[i].Value)
	}
	return b
}

// durationFields are the parts of a Durations under their names in a line.
func durationFields(d *tune.Durations) [5]field {
	return [5]field{
		{"build", &d.Build}, {"verify", &d.Verify}, {"measure", &d.Measure},
		{"framework", &d.Framework}, {"search", &d.Search},
	}
}

// decodeFields reads an object. Members that are not among the fields are ignored.
func decodeFields(object []byte, fields ...field) error {
	if object[0] != '{' {
		return fmt.Errorf("want an object, not %s", kindOf(object))
	}
	for name, raw := range members(object) {
		for i := range fields {
			if fields[i].name != name {
				continue
			}
			if err := decodeValue(raw, fields[i].at); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

// decodeValue decodes a value to a pointer.
func decodeValue(raw []byte, to any) (err error) {
	switch to := to.(type) {
	case *string:
		*to, err = parseText(raw)
	case *tune.Status:
		var text string
		text, err = parseText(raw)
		if *to = tune.Status(text); err == nil && !knownStatus(*to) {
			err = fmt.Errorf("%q is none that a result can have", text)
		}
	case *notUTF8:
		var decoded []byte
		err = json.Unmarshal(raw, &decoded)
		*to = notUTF8(decoded)
	case *bool:
		*to = string(raw) == "true"
	case *float64:
		*to, err = parseNumber(raw)
	case *[]float64:
		*to, err = parseNumbers(raw)
	case *[]score.MetricValue:
		*to, err = parseMetrics(raw)
	case **score.Judgement:
		j := &score.Judgement{Objective: math.NaN()}
		*to = j
		err = decodeFields(raw, field{"metrics", &j.Metrics}, field{"objective", &j.Objective})
	case *time.Duration:
		var ns int64
		ns, err = strconv.ParseInt(string(raw), 10, 64)
		*to = time.Duration(ns)
	case *tune.Durations:
		parts := durationFields(to)
		err = decodeFields(raw, parts[:]...)
	case *configured:
		if to.indices, err = to.layout.scanOnly(raw); err != nil {
			err = &otherConfiguration{err}
		}
	case *time.Time:
		err = to.UnmarshalJSON(raw)
	default:
		err = json.Unmarshal(raw, to)
	}
	return err
}

// parseMetrics reads an object of numbers.
func parseMetrics(raw []byte) (metrics []score.MetricValue, err error) {
	if raw[0] != '{' {
		return nil, fmt.Errorf("want an object, not %s", kindOf(raw))
	}
	for name, raw := range members(raw) {
		m := score.MetricValue{Name: name}
		if m.Value, err = parseNumber(raw); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		metrics = append(metrics, m)
	}
	return metrics, nil
}

// knownStatus reports whether a result can have a status.
func knownStatus(s tune.Status) bool { return slices.Contains(tune.Statuses(), s) }
