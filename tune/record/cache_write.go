package record

import (
	"bufio"
	"encoding/json"
	"io"

	"github.com/ndtune/ndtune/tune"
)

// EncodeCache writes a record as a cache file of Kernel Tuner, in the form that Kernel
// Tuner itself appends to and resumes from. Times are in milliseconds. Reasons, final
// measurements, what is known of the device beyond its name, which of several devices it was
// and that a result was measured once only have no place in it.
func EncodeCache(w io.Writer, r *Record) error {
	l, err := newLayout(r.Header.Parameters)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 1<<16)
	_, _ = out.Write(l.cacheHeader(&r.Header))
	for i := range r.Results {
		d, err := l.digits(r.Results[i].Configuration)
		if err != nil {
			return err
		}
		var b []byte
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '\n')
		b = appendText(b, l.configuration(d).Key())
		b = l.appendCacheEntry(append(b, ": "...), d, &r.Results[i], r.Header.Objective)
		_, _ = out.Write(b)
	}
	_, _ = out.WriteString("}\n}\n")
	return out.Flush() // an error of any write comes again here
}

func (l *layout) cacheHeader(h *Header) []byte {
	b := appendText([]byte("{\n\"device_name\": "), h.Device.Name)
	b = appendText(append(b, ",\n\"kernel_name\": "...), h.Kernel)
	size, _ := json.Marshal(append([]int{}, h.ProblemSize...)) // ints cannot fail
	b = append(append(b, ",\n\"problem_size\": "...), size...)
	b = append(b, ",\n\"tune_params_keys\": ["...)
	for i, name := range l.parameters.Names() {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = appendText(b, name)
	}
	b = append(b, "],\n\"tune_params\": {"...)
	for i := range l.parameters.Len() {
		p := l.parameters.At(i)
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(appendText(b, p.Name), ": ["...)
		for j, v := range p.Values {
			if j > 0 {
				b = append(b, ", "...)
			}
			b = appendValue(b, v)
		}
		b = append(b, ']')
	}
	b = appendText(append(b, "},\n\"objective\": "...), objectiveName(h.Objective))
	return append(b, ",\n\"cache\": {"...)
}

func (l *layout) appendCacheEntry(b []byte, d digits, r *tune.Result, objective tune.Objective) []byte {
	b = append(b, '{')
	if len(d) > 0 {
		b = append(l.appendMembers(b, d), ',')
	}
	if r.Status == tune.Correct {
		b = appendFloat(append(b, `"time":`...), r.Time())
		b = appendFloats(append(b, `,"times":`...), r.Times)
	} else {
		b = append(b, `"time":"`+errorName(r.Status)+`"`...)
		if name := objectiveName(objective); name != "time" {
			b = append(appendText(append(b, ','), name), `:"`+errorName(r.Status)+`"`...)
		}
	}
	b = appendMilliseconds(append(b, `,"compile_time":`...), r.Durations.Build)
	b = appendMilliseconds(append(b, `,"verification_time":`...), r.Durations.Verify)
	b = appendMilliseconds(append(b, `,"benchmark_time":`...), r.Durations.Measure)
	for _, m := range r.Metrics {
		b = append(appendText(append(b, ','), m.Name), ':')
		b = appendFloat(b, m.Value)
	}
	b = appendMilliseconds(append(b, `,"strategy_time":`...), r.Durations.Search)
	b = appendMilliseconds(append(b, `,"framework_time":`...), r.Durations.Framework)
	b = appendText(append(b, `,"timestamp":`...), pythonTime(r.Timestamp))
	return append(b, '}')
}
