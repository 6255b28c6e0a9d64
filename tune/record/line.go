package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// The kinds of lines after the header.
const (
	kindResult    = "result"
	kindCards     = "cards"
	kindFinal     = "final"
	kindWithdrawn = "withdrawn"
)

// A line of a result leaves out what is zero:
//
//	{"kind":"result","configuration":{"block_size_x":16},"status":"correct","times":[1.5],
//	 "verified":true,"early_stopped":true,"device":"1:0","global":[4096],"local":[16],"metrics":{"GB/s":90.5},"objective":1.5,
//	 "durations_ns":{"build":1200300},"timestamp":"2026-01-02T03:04:05.678901234Z"}
//
// A line of a final measurement names its configuration, and the session that it belongs
// to, counted from 1: what was measured before and after a log was resumed cannot be
// compared, so those of an earlier session are forgotten as soon as a later one has any.
//
//	{"kind":"final","session":1,"configuration":{"block_size_x":16},"times":[1.5,1.4],
//	 "final_device":"1:0","at_final":{"metrics":{"GB/s":93.6},"objective":1.45}}
//
// A finalist that failed has a reason, and no times.
//
// readings are those of the final measurement, where it observed again. at_final has the metrics and the objective at the median of
// these times. final_device is the card that measured them, if there were several.
//
// A line of cards is in logs of programs before 2026-11-26, and is ignored: the times of a configuration on several cards of one model.
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

// An entry is a line of a run log after the header.
type entry struct {
	kind          string // "": an empty line, or one that could not be read
	session       int
	configuration configured
	result        tune.Result // of a final measurement, Times are its times
	late          *latePeaks  // of a line of peaks, which has nothing else

	damage  string // why it is taken for damaged; "": it is not
	unknown error  // it is as it was written, but this program cannot read it
}

// A configured is the configuration of a line.
type configured struct {
	layout  *layout
	indices indices
}

// fields are the members of a line of any kind but that of peaks, in the order in which they are
// written.
func (p *entry) fields() [28]field {
	r := &p.result
	return [28]field{
		{"kind", &p.kind}, {"session", &p.session}, {"configuration", &p.configuration}, {"known", &r.Known},
		{"status", &r.Status}, {"reason", &r.Reason}, {"reason_base64", (*notUTF8)(&r.Reason)},
		{"times", &r.Times}, {"repeated", &r.Repeated}, {"verified", &r.Verified}, {"compared", &r.Compared},
		{"early_stopped", &r.EarlyStopped}, {"device", &r.Device},
		{"global", &r.Global}, {"local", &r.Local}, {"offset", &r.Offset}, {"kernels", &r.Parts}, {"readings", &r.Readings},
		{"metrics", &r.Metrics}, {"objective", &r.Objective}, {"durations_ns", &r.Durations}, {"timestamp", &r.Timestamp},
		{"final", &r.Final}, {"final_failure", &r.FinalFailure}, {"final_device", &r.FinalDevice}, {"at_final", &r.AtFinal}, {"final_readings", &r.FinalReadings},
		{"outputs", &r.Files},
	}
}

// append writes a line, without its end.
func (p *entry) append(b []byte) ([]byte, error) {
	if p.kind == kindResult && !knownStatus(p.result.Status) {
		return b, fmt.Errorf("the status %q is none that a result can have", p.result.Status)
	}
	if year := p.result.Timestamp.UTC().Year(); year < 0 || year > 9999 {
		return b, fmt.Errorf("the year %d of a timestamp cannot be written", year)
	}
	fields := p.fields()
	return append(appendFields(append(b, '{'), fields[:]...), '}'), nil
}

// ParseResults reads lines of results, which need neither a kind nor a checksum. It leaves out those of configurations of other
// parameters or values. An error names the line, counted from 1.
func ParseResults(text []byte, parameters *space.Parameters) (results []tune.Result, err error) {
	l, err := newLayout(parameters.List())
	if err != nil {
		return nil, err
	}
	n := 0
	for line := range bytes.Lines(text) {
		if n++; len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		p, err := l.parse(append([]byte(`{"kind":"result",`), bytes.TrimPrefix(bytes.TrimSpace(line), []byte("{"))...))
		var other *otherConfiguration
		switch {
		case errors.As(err, &other):
		case err != nil:
			return nil, fmt.Errorf("line %d: %w", n, err)
		case p.kind == kindResult:
			results = append(results, p.result)
		}
	}
	return results, nil
}

// ResultLine returns a result as it stands in a run log, without the checksum.
func ResultLine(r tune.Result) ([]byte, error) {
	l, err := newLayout(r.Configuration.Parameters().List())
	if err != nil {
		return nil, err
	}
	d, err := l.indices(r.Configuration)
	if err != nil {
		return nil, err
	}
	p := entry{kind: kindResult, configuration: configured{l, d}, result: r}
	line, err := p.append(nil)
	return append(line, '\n'), err
}

// An otherConfiguration is the error of a configuration of other parameters or values.
type otherConfiguration struct{ error }

// parseChecked reads a line after the header and tells damage from lines that this program
// does not know.
func (l *layout) parseChecked(text []byte) entry {
	has, right := checkLine(text)
	p, err := l.parse(text)
	switch {
	case right && err != nil:
		p.unknown = err
	case err != nil:
		p.damage = err.Error()
	case !has:
		p.damage = "it has no checksum"
	case !right:
		p.damage = fmt.Sprintf("its checksum does not match (it reads as a %s of %s)", p.kind, p.result.Configuration)
	}
	return p
}

// parse reads a line after the header. The layout is that of the header.
func (l *layout) parse(text []byte) (entry, error) {
	if !json.Valid(text) {
		return entry{}, json.Unmarshal(text, new(any))
	}
	if bytes.HasPrefix(text, []byte(peaksBeginning)) {
		late, err := l.parsePeaks(text)
		return entry{kind: kindPeaks, late: late}, err
	}
	p := entry{configuration: configured{layout: l}}
	fields := p.fields()
	err := decodeFields(text, fields[:]...)
	switch {
	case err != nil:
		return entry{}, err
	case !slices.Contains([]string{kindResult, kindCards, kindFinal, kindWithdrawn}, p.kind):
		return entry{}, fmt.Errorf("a line of the unknown kind %q", p.kind)
	case p.configuration.indices == nil:
		return entry{}, fmt.Errorf("no configuration")
	case p.kind == kindResult && p.result.Status == "":
		return entry{}, fmt.Errorf("no status")
	}
	p.result.Configuration = l.configuration(p.configuration.indices)
	return p, nil
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
func (l *layout) appendPeaks(peaks *hardware.Peaks, metricNames []string, results []tune.Result, limit func(*tune.Result) float64) ([]byte, error) {
	p := latePeaks{Kind: kindPeaks, Peaks: peaks, Names: metricNames}
	for i := range results {
		if results[i].Status != tune.Correct {
			continue
		}
		ms := limit(&results[i])
		if p.Limit == nil {
			p.common, p.Limit = ms, appendFloat(nil, ms)
		}
		if ms == p.common || math.IsNaN(ms) && math.IsNaN(p.common) {
			continue
		}
		d, err := l.indices(results[i].Configuration)
		if err != nil {
			return nil, err
		}
		p.Limits = append(p.Limits, lateLimit{l.append(nil, d), appendFloat(nil, ms)})
	}
	if p.Limit == nil {
		p.Limit = appendFloat(nil, 0)
	}
	return marshal(p)
}

// latePeaks are a line of peaks.
type latePeaks struct {
	Kind   string          `json:"kind"`
	Peaks  *hardware.Peaks `json:"peaks"`
	Names  []string        `json:"metric_names"`
	Limit  json.RawMessage `json:"limit"`
	Limits []lateLimit     `json:"limits,omitempty"`

	common float64
	others map[string]float64 // by the keys of indices
}

type lateLimit struct {
	Configuration json.RawMessage `json:"configuration"`
	MS            json.RawMessage `json:"ms"`
}

func (l *layout) parsePeaks(text []byte) (*latePeaks, error) {
	p := &latePeaks{others: map[string]float64{}}
	err := json.Unmarshal(text, p)
	if err == nil && p.Peaks == nil {
		err = errors.New("no peaks")
	}
	if err != nil {
		return nil, err
	}
	if p.common, err = parseNumber(p.Limit); err != nil {
		return nil, fmt.Errorf("limit: %w", err)
	}
	for _, limit := range p.Limits {
		d, err := l.scanOnly(limit.Configuration)
		if err == nil {
			p.others[d.key()], err = parseNumber(limit.MS)
		}
		if err != nil {
			return nil, fmt.Errorf("limits: %w", err)
		}
	}
	return p, nil
}

// complete gives the results their «% of limit», and the header the peaks. Indices are those of
// the results by the keys of their configurations.
func (p *latePeaks) complete(h *Header, results []tune.Result, indices map[string]int) {
	h.Device.Peaks, h.Metrics = p.Peaks, p.Names
	at := slices.Index(p.Names, score.MetricOfLimit)
	if at < 0 {
		return
	}
	for key, i := range indices {
		ms, other := p.others[key]
		if !other {
			ms = p.common
		}
		results[i].AddLimit(at, ms)
	}
}
