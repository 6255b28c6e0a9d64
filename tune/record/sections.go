package record

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// StrategyCompare is the strategy of a record that a comparison made: not of a search, but of
// configurations that were found elsewhere.
const StrategyCompare = "compare"

// A run log can hold the searches of one specification at several sizes, on one device. Each size
// has a section: a header that names the size, and the lines after it. The measurements of a
// comparison at a size are a section of their own. A section that goes on after another one was
// begun has its header again, which only says that the section goes on. A header with another digest goes on with
// another search space: see [OpenReusing].

// section is the name of the section that a header begins.
func (h Header) section() string {
	if h.Size != "" && h.Strategy == StrategyCompare {
		return h.Size + ", compared"
	}
	return h.Size
}

// A section is a part of a run log as a run log of its own: lines of other sections are empty in it, so
// that lines have their numbers, but for the header. Each search space of a section is one of its own.
type section struct {
	header Header
	line   int    // of the header in the file
	data   []byte // begins with the header
	older  bool   // the section goes on with another search space
}

// sectionsOf splits a run log at its headers. Last is the section of the last line.
func sectionsOf(data []byte) (sections []*section, last *section, err error) {
	data = withoutTornSpace(data)
	if bytes.Count(data, []byte(FormatLog)) < 2 {
		s := &section{line: 1, data: data} // readLog says what is wrong with the header
		_ = s.header.UnmarshalJSON(bytes.TrimSpace(firstLineOf(data)))
		return []*section{s}, s, nil
	}
	number := 0
	for line := range bytes.Lines(data) {
		number++
		begins := number == 1 || line[len(line)-1] == '\n' && bytes.Contains(line[:min(len(line), headLength)], []byte(FormatLog)) && looksLikeLog(line)
		if begins {
			next := &section{line: number}
			if err := next.header.UnmarshalJSON(bytes.TrimSpace(line)); err != nil && number > 1 {
				return nil, nil, fmt.Errorf("line %d is damaged, and nothing else says what the results after it belong to: %w", number, err)
			}
			i := slices.IndexFunc(sections, func(s *section) bool { return !s.older && s.header.section() == next.header.section() })
			if i >= 0 && sections[i].header.Digest == next.header.Digest {
				last, begins = sections[i], false
				line = line[len(line)-1:]
			} else {
				at := len(sections)
				if i >= 0 {
					sections[i].older, at = true, i+1
				}
				next.data = append(bytes.Clone(line), bytes.Repeat([]byte{'\n'}, number-1)...)
				sections, last = slices.Insert(sections, at, next), next
			}
		}
		for _, s := range sections {
			switch {
			case s == last && begins: // it has the line
			case s == last:
				s.data = append(s.data, line...)
			case line[len(line)-1] == '\n':
				s.data = append(s.data, '\n')
			}
		}
	}
	return sections, last, nil
}

func firstLineOf(data []byte) []byte {
	line, _, _ := bytes.Cut(data, []byte{'\n'})
	return line
}

// readSections reads all sections of a run log: see [readLog].
func readSections(data []byte, skip bool) ([]logContent, []DamagedLine, error) {
	sections, _, err := sectionsOf(data)
	if err != nil {
		return nil, nil, err
	}
	var contents []logContent
	var damaged []DamagedLine
	for _, s := range sections {
		c, err := readLog(s.data, true, layoutOf)
		if err != nil {
			return nil, nil, err
		}
		c.line, c.older = s.line, s.older
		for i := range c.damaged {
			if c.damaged[i].Number == 1 {
				c.damaged[i].Number = s.line
			}
		}
		contents, damaged = append(contents, c), append(damaged, c.damaged...)
	}
	slices.SortFunc(damaged, func(a, b DamagedLine) int { return cmp.Compare(a.Number, b.Number) })
	if len(damaged) > 0 && !skip {
		return nil, nil, refuse(damaged)
	}
	return contents, damaged, nil
}

// sameLog tells whether the section of the header want can be in a log whose first header is have, and if
// not, why.
func sameLog(have, want Header) error {
	switch {
	case have.section() == want.section():
		return nil // sameRun tells
	case want.Size == "":
		return fmt.Errorf("it holds searches of several sizes, %s first, and this run is of one size alone; name another file", have.Size)
	case have.Size == "":
		return fmt.Errorf("it holds the search of one size alone, and this run is of several; name another file")
	case have.Kernel != want.Kernel:
		return fmt.Errorf("it holds results of another problem: %s, not %s", have.problem(), want.problem())
	}
	if have.Digest = want.Digest; have.KernelDigest != "" && have.KernelDigest == want.KernelDigest {
		have.Parameters = want.Parameters // their values may have changed between the sizes
	}
	return sameRun(have, want)
}

// sizesText lists the sizes of records.
func sizesText(records []*Record) string {
	var sizes []string
	for _, r := range records {
		if !slices.Contains(sizes, r.Header.Size) {
			sizes = append(sizes, r.Header.Size)
		}
	}
	return strings.Join(sizes, "; ")
}
