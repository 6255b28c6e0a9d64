package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/space"
)

// A run log can go on with another search space, after values of parameters or restrictions have changed, or with another clock.
// It then has a second header, with the digest of the new problem and the device. Copies of the results that the new space has
// follow it, as many as the header says, so that what follows the last header is a run log on
// its own. Readers take that alone. The lines before it stay: results that the new space does not have are known
// again if a later space has them.
//
// Header and copies are written at once. A header that fewer lines follow is torn, as a line without its end is.

// A part of a run log is of one search space: its header, and the lines after it.
type part struct {
	line int // of the header in the file
	data []byte
}

// partsOf splits a run log at its headers.
func partsOf(data []byte) []part {
	parts := []part{{1, data}}
	if bytes.Count(data, []byte(FormatLog)) < 2 {
		return parts
	}
	number, end, begin := 0, 0, 0
	for line := range bytes.Lines(data) {
		number++
		if number > 1 && line[len(line)-1] == '\n' && looksLikeLog(line) {
			parts[len(parts)-1].data = data[begin:end]
			begin = end
			parts = append(parts, part{number, data[begin:]})
		}
		end += len(line)
	}
	return parts
}

// header returns the header of a part as far as it can be read. [readPart] says what is wrong with it.
func (p part) header() (h Header) {
	line, _, _ := bytes.Cut(p.data, []byte{'\n'})
	_ = h.UnmarshalJSON(bytes.TrimSpace(line))
	return h
}

// A Reuse says what a run log had of older search spaces when it went on with another one.
type Reuse struct {
	Held  int // results of older spaces
	Known int // those of them that the space has
}

// Reuse says what Open found of older search spaces; zero: the log was new, or of this space.
func (l *Log) Reuse() Reuse { return l.reused }

// OpenReusing is [Open], but it takes the log of a search in another space too, in which values of parameters or
// restrictions were others: see [problem.Problem.MeasurementDigest]. The results that the space has are those of Previous,
// and the log goes on with the header. The function reports whether a result, of values that the parameters have, is one
// of the space.
func OpenReusing(path string, h Header, has func(tune.Result) bool) (*Log, error) {
	return openLog(path, h, has)
}

// InOtherSpace reports whether two headers are of one problem, but for the search space.
func (h Header) InOtherSpace(other Header) bool {
	return h.Digest != other.Digest && h.MeasurementDigest != "" && h.MeasurementDigest == other.MeasurementDigest
}

// goesOn reports whether a log with the header have goes on in a part with the header want: in another space, or by the host's clock.
func goesOn(have, want Header) bool {
	retimed := have.Device.Timer == hardware.TimerEvent && want.Device.Timer == hardware.TimerHost
	if retimed {
		have.Device.Timer = want.Device.Timer
	}
	return (have.InOtherSpace(want) || retimed && have.Digest == want.Digest) && have.Iterations == want.Iterations && hardware.SameKind(have.Device, want.Device) == nil
}

// ByHost goes on with launches that the host's clock times, in a part of its own. It has the failures of the search space, of which the
// function tells the results: see [OpenReusing].
func (l *Log) ByHost(has func(tune.Result) bool) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.header.Device.Timer = hardware.TimerHost
	l.previous, l.known, l.session, l.reused = nil, map[string]bool{}, 1, Reuse{}
	begin, err := l.reuse(partsOf(l.content), has)
	if err == nil {
		err = l.write(begin)
	}
	if err != nil {
		return l.cannotAppend(err)
	}
	return nil
}

// Outdated are the correct results of a log that another clock has timed: they are to be timed again.
func (l *Log) Outdated() []tune.Result { return l.outdated }

// reuse takes what the space has of the results in the parts of older spaces, and returns the beginning of its own
// part: the header and copies of the results.
func (l *Log) reuse(older []part, has func(tune.Result) bool) (begin []byte, err error) {
	seen := map[string]bool{} // also those that were taken back after they were copied
	var copies []byte
	for _, p := range slices.Backward(older) {
		content, err := readPart(p, false, layoutOf)
		if err != nil {
			return nil, err
		}
		for _, r := range content.results {
			key := identity(r.Configuration)
			if seen[key] {
				continue
			}
			seen[key] = true
			l.reused.Held++
			d, ok := l.layout.exactly(r.Configuration)
			if !ok {
				continue
			}
			r.Configuration = l.layout.configuration(d)
			if !has(r) {
				continue
			}
			if r.Status == tune.Correct && content.header.Device.Timer != l.header.Device.Timer {
				l.outdated = append(l.outdated, r)
				continue
			}
			p := entry{kind: kindResult, configuration: configured{l.layout, d}, result: r}
			b, err := p.append(nil)
			if err != nil {
				return nil, err
			}
			copies = append(copies, endLine(b)...)
			l.previous, l.known[d.key()] = append(l.previous, r), true
		}
		for _, c := range content.withdrawn {
			seen[identity(c)] = true
		}
	}
	l.reused.Known = len(l.previous)
	l.header.Reused = l.reused.Known
	begin, l.header, err = l.header.line()
	return append(begin, copies...), err
}

// exactly finds the very values of a configuration: 1 and 1.0 are two values for a kernel.
func (l *layout) exactly(c space.Configuration) (indices, bool) {
	d := make(indices, l.parameters.Len())
	for i, name := range l.parameters.Names() {
		v, ok := c.Get(name)
		if !ok {
			return nil, false
		}
		j, ok := l.byValue[i][v]
		if !ok {
			return nil, false
		}
		d[i] = uint16(j)
	}
	return d, c.Len() == len(d)
}

// identity is a configuration as a map key, whatever the order of its parameters.
func identity(c space.Configuration) string {
	var key []byte
	for _, name := range slices.Sorted(slices.Values(c.Parameters().Names())) {
		v, _ := c.Get(name)
		key = fmt.Appendf(key, "%q=%T %q ", name, v, space.FormatValue(v))
	}
	return string(key)
}

// withoutTornSpace cuts off a last header that fewer lines follow than it says, and these lines.
func withoutTornSpace(data []byte) []byte {
	at := bytes.LastIndex(data, []byte("\n"+logBeginning)) + 1
	if at == 0 {
		return data
	}
	header, rest, whole := bytes.Cut(data[at:], []byte{'\n'})
	var h struct{ Reused int }
	if !whole || json.Unmarshal(header, &h) != nil || bytes.Count(rest, []byte{'\n'}) >= h.Reused {
		return data
	}
	return data[:at]
}
