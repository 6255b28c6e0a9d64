package record

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ndtune/ndtune/tune"
)

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
