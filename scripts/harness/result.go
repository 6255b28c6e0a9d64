//go:build linux

package harness

import (
	"bytes"
	"encoding/json"
)

// A Result is a line of a run log.
type Result struct {
	Kind, Status, Reason string
	Configuration        json.RawMessage

	Line string `json:"-"` // the whole
}

// Results returns the results in the text of a log. Torn lines, and those of other kinds, are left out.
func Results(log []byte) (all []Result) {
	for line := range bytes.Lines(log) {
		var r Result
		if json.Unmarshal(line, &r) == nil && r.Kind == "result" {
			r.Line = string(line)
			all = append(all, r)
		}
	}
	return all
}
