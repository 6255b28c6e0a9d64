package record

import (
	"bytes"
	"fmt"
	"regexp"
	"runtime"
	"sync"

	"github.com/ndtune/ndtune/tune"
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

// A logContent is what the whole lines after the header say.
type logContent struct {
	results []tune.Result
	whole   int // bytes of the whole lines: a torn last line begins there
	session int // of the latest final measurement
}

// readLogHeader reads the first line of a run log and returns the rest.
func readLogHeader(data []byte) (h Header, rest []byte, err error) {
	line, rest, whole := bytes.Cut(data, []byte{'\n'})
	if !whole {
		return h, nil, fmt.Errorf("line 1: the header is torn, and nothing follows it")
	}
	if err := h.UnmarshalJSON(bytes.TrimSpace(line)); err != nil {
		return h, nil, fmt.Errorf("line 1: the header of a run log: %w", err)
	}
	if h.Format != FormatLog {
		return h, nil, fmt.Errorf("line 1: the format %q is not %q", h.Format, FormatLog)
	}
	if h.Version > LogVersion {
		return h, nil, fmt.Errorf("a run log of version %d, and this program knows %d: a newer ndtune can read it", h.Version, LogVersion)
	}
	return h, rest, nil
}

// readLogLines reads what follows the header. The layout gives configurations the
// parameters that they shall have.
func readLogLines(rest []byte, l *layout) (c logContent, err error) {
	lines, whole := wholeLines(rest)
	parsed, err := parseLines(lines, l)
	if err != nil {
		return c, err
	}
	c.whole = whole
	c.results = make([]tune.Result, 0, len(parsed))
	seen := make(map[string]int, len(parsed))
	withdrawn := map[int]bool{} // by the place of the result
	for i := range parsed {
		p := &parsed[i]
		if p.kind == "" { // an empty line
			continue
		}
		at, known := seen[p.digits.key()]
		switch {
		case p.kind == kindResult && !known:
			seen[p.digits.key()] = len(c.results)
			c.results = append(c.results, p.result)
		case p.kind == kindWithdrawn && known:
			withdrawn[at] = true
			delete(seen, p.digits.key())
		case p.kind == kindFinal && !known:
			return c, fmt.Errorf("line %d: a final measurement of %s, which has no result", i+2, p.result.Configuration)
		case p.kind == kindFinal:
			if p.session > c.session {
				c.session = p.session
				forgetFinals(c.results)
			}
			if p.session == c.session {
				c.results[at].Final = p.result.Final
			}
		}
	}
	c.results = without(c.results, withdrawn)
	return c, nil
}

// without leaves out the results at some places.
func without(results []tune.Result, places map[int]bool) []tune.Result {
	if len(places) == 0 {
		return results
	}
	rest := results[:0]
	for i := range results {
		if !places[i] {
			rest = append(rest, results[i])
		}
	}
	return rest
}

func forgetFinals(results []tune.Result) {
	for i := range results {
		results[i].Final = nil
	}
}

// wholeLines splits off the lines that end, and counts their bytes.
func wholeLines(data []byte) (lines [][]byte, whole int) {
	whole = bytes.LastIndexByte(data, '\n') + 1
	lines = make([][]byte, 0, bytes.Count(data[:whole], []byte{'\n'}))
	for line := range bytes.Lines(data[:whole]) {
		lines = append(lines, bytes.TrimSpace(line))
	}
	return lines, whole
}

// parseLines parses lines on all processors. An empty line is left zero. The error is that
// of the first bad line and names it; the header is line 1.
func parseLines(lines [][]byte, l *layout) ([]parsedLine, error) {
	parsed := make([]parsedLine, len(lines))
	workers := min(runtime.GOMAXPROCS(0), len(lines)/64+1)
	errs := make([]error, workers)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for i := len(lines) * w / workers; i < len(lines)*(w+1)/workers; i++ {
				if len(lines[i]) == 0 {
					continue
				}
				var err error
				if parsed[i], err = l.parse(lines[i]); err != nil {
					errs[w] = fmt.Errorf("line %d: %w", i+2, err)
					return
				}
			}
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return parsed, nil
}

// decodeLog reads a whole run log.
func decodeLog(data []byte) (*Record, error) {
	header, rest, err := readLogHeader(data)
	if err != nil {
		return nil, err
	}
	l, err := newLayout(header.Parameters)
	if err != nil {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	c, err := readLogLines(rest, l)
	if err != nil {
		return nil, err
	}
	return &Record{header, c.results}, nil
}
