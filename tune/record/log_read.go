package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"runtime"
	"sync"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/space"
)

// The beginning of a run log as Open writes it, and as another tool may have written it
// anew.
const logBeginning = `{"format":"` + FormatLog + `"`

var anyLogBeginning = regexp.MustCompile(`^\s*\{\s*"format"\s*:\s*"` + FormatLog + `"`)

// headLength is how much of a file is enough to know a run log.
const headLength = 512

// looksLikeLog tells by the beginning of a file whether it is a run log.
func looksLikeLog(head []byte) bool {
	return anyLogBeginning.Match(head[:min(len(head), headLength)])
}

// isTornHeader tells whether data can be what is left of a run log whose header was not
// written to its end.
func isTornHeader(data []byte) bool {
	return !bytes.Contains(data, []byte{'\n'}) &&
		(bytes.HasPrefix(data, []byte(logBeginning)) || bytes.HasPrefix([]byte(logBeginning), data))
}

// A DamagedLine is a line of a run log that cannot be trusted. The header is line 1.
type DamagedLine struct {
	Number int    `json:"line"`
	Reason string `json:"reason"`
}

func (d DamagedLine) String() string { return fmt.Sprintf("line %d: %s", d.Number, d.Reason) }

// refuse is the error for a log with damaged lines.
func refuse(damaged []DamagedLine) error {
	more := ""
	if n := len(damaged) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	return fmt.Errorf("line %d%s is damaged: %s; ndtune convert --skip-damaged writes the other lines to another file",
		damaged[0].Number, more, damaged[0].Reason)
}

// A logContent is what the whole lines of a log say.
type logContent struct {
	header    Header
	line      int // of the header in the file
	results   []tune.Result
	withdrawn []space.Configuration // by a line after their results
	session   int                   // of the latest final measurement
	damaged   []DamagedLine
}

// A part of a run log begins with a header. Programs before 2026-11-27 appended a header, and copies of results, as many as it says, for each
// further search space and clock: what follows the last header says all.
type part struct {
	line, begin int // of the header in the file
	data        []byte
}

// lastPart returns the last part of a run log. A later header that fewer lines follow than it says is torn.
func lastPart(data []byte) part {
	at := bytes.LastIndex(data, []byte("\n"+logBeginning)) + 1
	if at == 0 {
		return part{line: 1, data: data}
	}
	header, rest, whole := bytes.Cut(data[at:], []byte{'\n'})
	var h struct{ Reused int }
	if !whole || json.Unmarshal(header, &h) == nil && bytes.Count(rest, []byte{'\n'}) < h.Reused {
		return lastPart(data[:at])
	}
	return part{1 + bytes.Count(data[:at], []byte{'\n'}), at, data[at:]}
}

// readPart reads a part of a run log. The layout, made for its header, gives configurations the
// parameters that they shall have. Damaged lines are an error, or left out and listed where
// they are to be skipped. A line that a newer program wrote is an error.
func readPart(p part, skip bool, layoutFor func(Header) (*layout, error)) (c logContent, err error) {
	c.line = p.line
	rest, err := c.readHeader(p.data)
	if err != nil {
		return c, err
	}
	if len(c.damaged) > 0 {
		if !skip {
			return c, refuse(c.damaged)
		}
		c.damaged[0].Reason += "; it is taken as it reads"
	}
	l, err := layoutFor(c.header)
	if err != nil {
		return c, err
	}
	if err := c.readLines(rest, l); err != nil {
		return c, err
	}
	if len(c.damaged) > 0 && !skip {
		return c, refuse(c.damaged)
	}
	return c, nil
}

// readHeader reads the header, which is line c.line of the file, and returns the lines after it.
func (c *logContent) readHeader(data []byte) (rest []byte, err error) {
	line, rest, whole := bytes.Cut(data, []byte{'\n'})
	if !whole {
		return nil, fmt.Errorf("line %d: the header is torn, and nothing follows it", c.line)
	}
	line = bytes.TrimSpace(line)
	if err := c.header.UnmarshalJSON(line); err != nil {
		return nil, fmt.Errorf("line %d is damaged, and nothing else says what the results belong to: %w", c.line, err)
	}
	has, right := checkLine(line)
	switch {
	case has && !right:
		c.damaged = append(c.damaged, DamagedLine{c.line, "the header's checksum does not match"})
	case c.header.Version != LogVersion:
		return nil, fmt.Errorf("a run log of version %d, and this program reads version %d: use the ndtune that wrote it",
			c.header.Version, LogVersion)
	case !has:
		c.damaged = append(c.damaged, DamagedLine{c.line, "the header has no checksum"})
	}
	if c.header.Format != FormatLog {
		return nil, fmt.Errorf("line %d: the format %q is not %q", c.line, c.header.Format, FormatLog)
	}
	return rest, nil
}

// readLines reads what follows the header, which gets the peaks that stand there.
func (c *logContent) readLines(rest []byte, l *layout) error {
	lines := completeLines(rest)
	parsed := parseLines(lines, l)
	c.results = make([]tune.Result, 0, len(parsed))
	seen := make(map[string]int, len(parsed))
	withdrawn := map[int]bool{} // by the place of the result
	var late *latePeaks         // the last of them
	measured := 0               // results before the last line of a final measurement
	for i := range parsed {
		p := &parsed[i]
		key, number := p.configuration.indices.key(), c.line+1+i
		at, known := seen[key]
		switch {
		case len(lines[i]) == 0:
		case p.unknown != nil:
			return fmt.Errorf("line %d: %w; its checksum is right: a newer ndtune wrote it and can read it", number, p.unknown)
		case p.damage != "":
			c.damaged = append(c.damaged, DamagedLine{number, p.damage})
		case p.late != nil:
			late = p.late
		case p.kind == kindResult && !known:
			seen[key] = len(c.results)
			c.header.retime(&p.result)
			c.results = append(c.results, p.result)
		case p.kind == kindWithdrawn && known:
			withdrawn[at] = true
			delete(seen, key)
		case p.kind == kindFinal && !known:
			why := fmt.Sprintf("a final measurement of %s, which has no result", p.result.Configuration)
			c.damaged = append(c.damaged, DamagedLine{number, why})
		case p.kind == kindFinal:
			if p.session > c.session {
				c.session = p.session
				tune.ForgetFinals(c.results)
			}
			measured = len(c.results)
			if p.session == c.session {
				r := &c.results[at]
				r.Final, r.FinalFailure, r.Compared = p.result.Times, p.result.Reason, p.result.Compared
				r.FinalDevice = p.result.FinalDevice
				r.FinalReadings = p.result.Readings
				r.AtFinal = p.result.AtFinal
			}
		}
	}
	c.forgetOvertaken(measured, withdrawn)
	if late != nil {
		late.complete(&c.header, c.results, seen)
	}
	c.withdraw(withdrawn)
	return nil
}

// forgetOvertaken forgets the final measurements if a result that came after them overtakes their winner. Before them came the first
// measured results. Results withdrawn, by place, do not count.
func (c *logContent) forgetOvertaken(measured int, withdrawn map[int]bool) {
	winner := tune.Best(c.header.Objective, c.results[:measured])
	for i := measured; i < len(c.results); i++ {
		if !withdrawn[i] && c.results[i].Overtakes(c.header.Objective, winner) {
			tune.ForgetFinals(c.results)
			return
		}
	}
}

// withdraw takes the results at some places out, and notes their configurations.
func (c *logContent) withdraw(places map[int]bool) {
	if len(places) == 0 {
		return
	}
	rest := c.results[:0]
	for i, r := range c.results {
		if places[i] {
			c.withdrawn = append(c.withdrawn, r.Configuration)
		} else {
			rest = append(rest, r)
		}
	}
	c.results = rest
}

// completeLines splits off the lines that end.
func completeLines(data []byte) [][]byte {
	end := bytes.LastIndexByte(data, '\n') + 1
	lines := make([][]byte, 0, bytes.Count(data[:end], []byte{'\n'}))
	for line := range bytes.Lines(data[:end]) {
		lines = append(lines, bytes.TrimSpace(line))
	}
	return lines
}

// parseLines parses lines on all processors. An empty line is left zero.
func parseLines(lines [][]byte, l *layout) []entry {
	parsed := make([]entry, len(lines))
	workers := min(runtime.GOMAXPROCS(0), len(lines)/64+1)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for i := len(lines) * w / workers; i < len(lines)*(w+1)/workers; i++ {
				if len(lines[i]) > 0 {
					parsed[i] = l.parseChecked(lines[i])
				}
			}
		})
	}
	wait.Wait()
	return parsed
}

// decodeLog reads a whole run log, and lists the lines that it has skipped.
func decodeLog(data []byte, skip bool) (*Record, []DamagedLine, error) {
	c, err := readPart(lastPart(data), skip, layoutOf)
	if err != nil {
		return nil, nil, err
	}
	return &Record{c.header, c.results}, c.damaged, nil
}

// layoutOf is the layout for a log of which nothing more is known than its header.
func layoutOf(h Header) (*layout, error) {
	l, err := newLayout(h.Parameters)
	if err != nil {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	return l, nil
}
