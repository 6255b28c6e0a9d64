package report

import (
	"errors"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/tune/compare"
)

// A Comparison is what the page shows of several devices: the figures as they are, and the
// tables as texts, which are those of the terminal.
type Comparison struct {
	*compare.Comparison
	Title      string          `json:"title"`
	Tables     []compare.Table `json:"tables"`
	Candidates string          `json:"candidates"` // of the best over all
	NoOverall  string          `json:"no_overall"` // why there is no best over all
}

// Compare is a comparison for the page. Reasons of failures are cut as those of runs are.
func Compare(c *compare.Comparison) *Comparison {
	shown := *c
	shown.Matrix = make([][]compare.Cell, len(c.Matrix))
	for i := range c.Matrix {
		shown.Matrix[i] = withShortReasons(c.Matrix[i])
	}
	if c.Overall != nil {
		overall := *c.Overall
		overall.Cells = withShortReasons(overall.Cells)
		shown.Overall = &overall
	}
	return &Comparison{Comparison: &shown, Title: c.Title(), Tables: c.Tables(), Candidates: c.Candidates(), NoOverall: c.NoOverall()}
}

func withShortReasons(cells []compare.Cell) []compare.Cell {
	cells = slices.Clone(cells)
	for i := range cells {
		cells[i].Reason = shortened(strings.TrimSpace(cells[i].Reason), maxReason)
	}
	return cells
}

// comparisonOf compares records of one problem on several devices. Of others it is nil, and so it
// is where a record does not name its device: two tables may well be of the same one.
func comparisonOf(sources []Source, tool string) (*Comparison, error) {
	var compared []compare.Source
	several := false
	for _, s := range sources {
		several = several || !compare.SameDevice(sources[0].Record.Header.Device, s.Record.Header.Device)
		if strings.TrimSpace(s.Record.Header.Device.Name) == "" {
			return nil, nil
		}
		compared = append(compared, compare.Source{Name: s.Name, Record: s.Record})
	}
	if !several {
		return nil, nil
	}
	c, err := compare.New(compared, compare.Options{Tool: tool})
	switch {
	case errors.Is(err, compare.ErrDifferentProblems):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return Compare(c), nil
}
