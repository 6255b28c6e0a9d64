package record

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// decodeCache reads a Kernel Tuner cache file of any version.
func decodeCache(doc document) (*Record, error) {
	var h Header
	if err := h.readCacheHeader(doc); err != nil {
		return nil, err
	}
	c, err := newCollector(h)
	if err != nil {
		return nil, err
	}
	for key, raw := range members(doc["cache"]) {
		d, result, err := readCacheEntry(c.layout, &c.Header, raw)
		if err != nil {
			return nil, fmt.Errorf("cache entry %q: %w", key, err)
		}
		c.add(d, result)
	}
	c.describe()
	return c.Record, nil
}

func (h *Header) readCacheHeader(doc document) error {
	h.Format, h.Tool = FormatCache, "Kernel Tuner"
	h.Kernel = textMember(doc["kernel_name"])
	h.Device = hardware.Device{Name: textMember(doc["device_name"]), Timer: hardware.TimerEvent}
	h.ProblemSize = listMember[int](doc["problem_size"])
	h.Objective = objectiveOf(cmp.Or(listMember[string](doc["objective"])...))

	var names []string
	if raw := doc["tune_params_keys"]; raw != nil {
		if err := json.Unmarshal(raw, &names); err != nil {
			return fmt.Errorf("tune_params_keys: %w", err)
		}
	}
	g := newGatherer(names)
	raw := doc["tune_params"]
	if raw == nil || raw[0] != '{' {
		return fmt.Errorf("tune_params: want an object, not %s", kindOf(raw))
	}
	for name, values := range members(raw) {
		if values[0] != '[' {
			return fmt.Errorf("tune_params: %s: want a list, not %s", name, kindOf(values))
		}
		i := g.name(name)
		for v := range elements(values) {
			if err := g.value(i, v); err != nil {
				return fmt.Errorf("tune_params: %w", err)
			}
		}
	}
	if raw := doc["cache"]; raw[0] != '{' {
		return fmt.Errorf("cache: want an object, not %s", kindOf(raw))
	}
	for key, raw := range members(doc["cache"]) { // values that were added after the list was written
		if raw[0] != '{' {
			return fmt.Errorf("cache entry %q: want an object, not %s", key, kindOf(raw))
		}
		for name, v := range members(raw) {
			if i, ok := g.index[name]; ok {
				if err := g.value(i, v); err != nil {
					return fmt.Errorf("cache entry %q: %w", key, err)
				}
			}
		}
	}
	h.Parameters = g.parameters
	return nil
}

// readCacheEntry reads one configuration.
func readCacheEntry(l *layout, h *Header, raw []byte) (indices, tune.Result, error) {
	r := tune.Result{Status: tune.Correct}
	fail := func(name string) { r.Status, r.Reason = statusOfError(name), name }
	mean := math.NaN()
	d, err := l.scan(raw, func(name string, raw []byte) (err error) {
		for _, f := range cacheDurations(&r.Durations) {
			if f.name == name {
				*f.at = millisecondsMember(raw, 1)
				return nil
			}
		}
		switch name {
		case "times":
			r.Times, err = parseNumbers(raw)
		case "timestamp":
			r.Timestamp = timestampMember(raw)
		case "__error__": // the newest versions
			fail(textMember(raw))
		case "time":
			if f, err := parseNumber(raw); err == nil {
				mean = f
			} else {
				fail(textMember(raw))
			}
		default:
			if f, err := parseNumber(raw); err == nil {
				r.Metrics = append(r.Metrics, score.MetricValue{Name: name, Value: f})
			} else if name == h.Objective.Name {
				fail(textMember(raw))
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	})
	if err != nil {
		return nil, r, err
	}
	finish(&r, h, mean)
	return d, r, nil
}

// finish makes a result of what a file says of it: the mean is the recorded time, NaN
// where there is none.
func finish(r *tune.Result, h *Header, mean float64) {
	if r.Status == tune.Correct {
		switch {
		case mean >= errorValue:
			r.Status, r.Reason = tune.Runtime, fmt.Sprintf("the time is %g, Kernel Tuner's mark of a failure", mean)
		case len(r.Times) > 0:
		case math.IsNaN(mean):
			r.Status, r.Reason = tune.Runtime, "no time was recorded"
		default:
			r.Times = []float64{mean}
			h.MeansOnly++
		}
	}
	if r.Status != tune.Correct {
		r.Times, r.Metrics = nil, nil
		if r.Reason == "" {
			r.Reason = "no reason was recorded"
		}
		return
	}
	r.Verified = r.Durations.Verify > 0
	r.Objective = h.Objective.Value(r.Stats(), r.Metrics)
}

// EncodeCache writes a record as a cache file of Kernel Tuner, in the form that Kernel
// Tuner itself appends to and resumes from. Times are in milliseconds. Reasons, final
// measurements, what is known of the device beyond its name, which of several devices it was
// and that a result was measured once only have no place in it.
func EncodeCache(w io.Writer, r *Record) error {
	l, err := newLayout(r.Header.Parameters)
	if err != nil {
		return err
	}
	begin := l.cacheHeader(&r.Header)
	return r.encode(w, r.Header.Parameters, begin, "}\n}\n", func(b []byte, of *layout, d indices, i int) ([]byte, error) {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(append(b, '\n'), of.configuration(d).Key())
		return of.appendCacheEntry(append(b, ": "...), d, &r.Results[i], r.Header.Objective), nil
	})
}

// cacheDurations are the parts of a Durations in an entry: three before the metrics and two behind.
func cacheDurations(d *tune.Durations) [5]durationName {
	return [5]durationName{
		{"compile_time", &d.Build}, {"verification_time", &d.Verify}, {"benchmark_time", &d.Measure},
		{"strategy_time", &d.Search}, {"framework_time", &d.Framework},
	}
}

// cacheHeader is what a cache file has before its entries.
func (l *layout) cacheHeader(h *Header) []byte {
	quoted := func(text string) string { return string(appendText(nil, text)) }
	names, lists := make([]string, l.parameters.Len()), make([]string, l.parameters.Len())
	for i := range names {
		p := l.parameters.At(i)
		var values []string
		for _, v := range p.Values {
			text, _ := space.MarshalValue(v) // a layout's values cannot fail
			values = append(values, string(text))
		}
		names[i] = quoted(p.Name)
		lists[i] = names[i] + ": [" + strings.Join(values, ", ") + "]"
	}
	size, _ := json.Marshal(append([]int{}, h.ProblemSize...)) // ints cannot fail
	members := []string{
		`"device_name": ` + quoted(h.Device.Name),
		`"kernel_name": ` + quoted(h.Kernel),
		`"problem_size": ` + string(size),
		`"tune_params_keys": [` + strings.Join(names, ", ") + "]",
		`"tune_params": {` + strings.Join(lists, ", ") + "}",
		`"objective": ` + quoted(h.Objective.First().Name),
		`"cache": {`,
	}
	return []byte("{\n" + strings.Join(members, ",\n"))
}

func (l *layout) appendCacheEntry(b []byte, d indices, r *tune.Result, objective score.Objective) []byte {
	b = l.appendMembers(append(b, '{'), d)
	if r.Status == tune.Correct {
		b = appendFloat(appendName(b, "time"), r.Time())
		b = appendFloats(appendName(b, "times"), r.Times)
	} else {
		b = appendText(appendName(b, "time"), errorName(r.Status))
		if name := objective.First().Name; name != "time" {
			b = appendText(append(appendText(append(b, ','), name), ':'), errorName(r.Status))
		}
	}
	durations := cacheDurations(&r.Durations)
	for _, f := range durations[:3] {
		b = appendMilliseconds(appendName(b, f.name), *f.at)
	}
	b = appendMetrics(b, r.Metrics)
	for _, f := range durations[3:] {
		b = appendMilliseconds(appendName(b, f.name), *f.at)
	}
	return append(appendText(appendName(b, "timestamp"), pythonTime(r.Timestamp)), '}')
}
