package check

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/source"
)

// A Kind is the kind of a fault.
type Kind string

// The kinds. A write beyond local memory is OutOfBounds too.
const (
	DataRace       Kind = "data race"
	OutOfBounds    Kind = "out of bounds"
	Uninitialised  Kind = "uninitialised memory"
	Divergence     Kind = "divergent barrier"
	Misaligned     Kind = "misaligned access"
	ConstWrite     Kind = "write to constant memory"
	Nondeterminism Kind = "non-determinism"
	Order          Kind = "order of work-groups"
	WrongOutput    Kind = "wrong output"
	Crash          Kind = "crash"
)

// kinds lists all kinds, in the order of a report.
var kinds = []Kind{DataRace, OutOfBounds, Uninitialised, Divergence, Misaligned, ConstWrite, Crash, WrongOutput, Nondeterminism, Order}

// A Location is a line of a source.
type Location struct {
	File   string `json:"file"` // as the specification names it
	Line   int    `json:"line"`
	Column int    `json:"column,omitempty"`
	Text   string `json:"text"` // of the line, without white space around it
}

// compare compares by the file, then by the position in it.
func (l Location) compare(other Location) int {
	return cmp.Or(cmp.Compare(l.File, other.File), l.Line-other.Line, l.Column-other.Column)
}

func (l Location) String() string { return fmt.Sprintf("%s:%d", l.File, l.Line) }

// A Finding is a fault of a kernel, which configurations share.
type Finding struct {
	Kind     Kind       `json:"kind"`
	Note     bool       `json:"note,omitempty"` // it may be no fault: the bits of an output differ within its tolerance
	Kernel   string     `json:"kernel"`
	Text     string     `json:"text"`
	Where    []Location `json:"locations,omitempty"` // two of a data race; none of a fault that was seen in the content of buffers
	Memory   string     `json:"memory,omitempty"`    // global, local, private or constant; in CUDA C, shared in place of local
	Argument string     `json:"argument,omitempty"`
	Index    *int       `json:"index,omitempty"` // of the first element, in the argument or the array
	Entity   string     `json:"entity,omitempty"`
	Device   string     `json:"device"` // where it was seen

	// Configurations are those that share the fault, the smallest first: by the number of work-items, then by the size of the work-group.
	Configurations []string `json:"configurations"`

	sizes []size // by configuration
}

// cause returns a text that is the same for findings with one cause.
func (f *Finding) cause() string {
	if len(f.Where) == 0 {
		return fmt.Sprint(f.Kind, f.Note, f.Kernel, f.Argument, f.Device)
	}
	var lines []string
	for _, l := range f.Where {
		line := l.String()
		if f.Kind != DataRace { // one missing barrier lets several accesses of a line race
			line = fmt.Sprint(line, ":", l.Column)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return fmt.Sprint(f.Kind, f.Note, f.Kernel, lines)
}

// A grouping collects findings by their causes.
type grouping struct {
	byCause map[string]*Finding
	all     []*Finding
}

// add adds a finding of one configuration.
func (g *grouping) add(f Finding, configuration string, of size) {
	if g.byCause == nil {
		g.byCause = map[string]*Finding{}
	}
	known := g.byCause[f.cause()]
	if known == nil {
		f.Configurations, f.sizes = []string{configuration}, []size{of}
		g.byCause[f.cause()] = &f
		g.all = append(g.all, &f)
		return
	}
	if known.Argument == "" && f.Argument != "" {
		known.Argument, known.Index, known.Memory, known.Text = f.Argument, f.Index, f.Memory, f.Text
	}
	at := slices.Index(known.Configurations, configuration)
	if at < 0 {
		at = len(known.sizes)
		for at > 0 && known.sizes[at-1].compare(of) > 0 {
			at--
		}
		known.Configurations, known.sizes = slices.Insert(known.Configurations, at, configuration), slices.Insert(known.sizes, at, of)
		if at == 0 { // it is described for its smallest configuration
			known.Text, known.Where, known.Index, known.Entity = f.Text, f.Where, f.Index, f.Entity
			known.Argument, known.Memory = cmp.Or(f.Argument, known.Argument), cmp.Or(f.Memory, known.Memory)
		}
	}
}

// sorted returns the findings: faults before notes, by kind and location.
func (g *grouping) sorted() []Finding {
	first := func(f *Finding) Location {
		if len(f.Where) == 0 {
			return Location{}
		}
		return f.Where[0]
	}
	note := map[bool]int{true: 1}
	slices.SortStableFunc(g.all, func(a, b *Finding) int {
		return cmp.Or(note[a.Note]-note[b.Note], slices.Index(kinds, a.Kind)-slices.Index(kinds, b.Kind), first(a).compare(first(b)))
	})
	all := make([]Finding, len(g.all))
	for i, f := range g.all {
		all[i] = *f
	}
	return all
}

// unnamed is the name that Oclgrind gives to a source without #line directives.
const unnamed = "input.cl"

// reader turns messages of Oclgrind into findings.
type reader struct {
	problem   *problem.Problem
	lines     map[source.Place]string // of the source
	addresses []uint64                // by argument; nil: unknown
	file      string                  // the name of the unnamed file; "": it stays unnamed
}

// bitsOfOffset are those of an address that are the offset in its buffer.
const bitsOfOffset = 48

// finding returns the finding of a message.
func (r *reader) finding(m message) Finding {
	f := Finding{Kind: m.Kind, Kernel: m.Kernel, Memory: m.Space, Entity: m.Entity, Device: "Oclgrind"}
	access := ""
	if m.Kind == DataRace { // which of the two came first says nothing
		slices.SortStableFunc(m.Positions, func(a, b position) int { return a.compare(b.Location) })
	}
	for i, p := range m.Positions {
		at := source.Place{File: p.File, Line: p.Line}
		if p.File == unnamed {
			at.File = ""
		}
		line := r.lines[at]
		if i == 0 {
			access = accessed(line, p.Column)
		}
		if p.File == unnamed {
			p.File = cmp.Or(r.file, unnamed)
		}
		p.Text = strings.TrimSpace(line)
		f.Where = append(f.Where, p.Location)
	}
	if m.Static {
		f.Index = &m.Index
	}
	if m.Space != "" {
		r.locate(&f, m)
	}
	f.Text = describe(m, &f, access)
	return f
}

// locate finds the argument and the index of an address.
func (r *reader) locate(f *Finding, m message) {
	offset := func(base uint64) int64 { return int64(m.Address - base) }
	if m.Space != "global" && m.Space != "constant" {
		if size := accessSize(m.Positions); size > 0 {
			index := int(m.Address&(1<<bitsOfOffset-1)) / size
			f.Index = &index
		}
		return
	}
	best := -1
	for i, base := range r.addresses {
		if base != 0 && abs(offset(base)) < 1<<(bitsOfOffset-1) && (best < 0 || abs(offset(base)) < abs(offset(r.addresses[best]))) {
			best = i
		}
	}
	if best < 0 {
		return
	}
	r.element(f, best, offset(r.addresses[best]))
}

// element says which element of an argument lies at an offset of n bytes.
func (r *reader) element(f *Finding, argument int, n int64) {
	size := int64(r.problem.Arguments()[argument].Element.Size())
	index := int(n / size)
	if n < 0 {
		index = -int((-n + size - 1) / size)
	}
	f.Argument, f.Index = r.problem.Arguments()[argument].Name, &index
}

func abs(n int64) int64 { return max(n, -n) }

var accessType = regexp.MustCompile(`(?:load|store) (?:volatile )?(?:<(\d+) x )?(i8|i16|i32|i64|half|float|double)\b`)

// accessSize returns the size in bytes of the scalars that an instruction reads or writes, or 0.
func accessSize(positions []position) int {
	if len(positions) == 0 {
		return 0
	}
	m := accessType.FindStringSubmatch(positions[0].Instruction)
	if m == nil {
		return 0
	}
	return scalarSizes[m[2]]
}

// scalarSizes are the sizes in bytes of the scalars of LLVM.
var scalarSizes = map[string]int{"i8": 1, "i16": 2, "half": 2, "i32": 4, "float": 4, "i64": 8, "double": 8}

var (
	subscripted = regexp.MustCompile(`^[A-Za-z_]\w*(?:\s*(?:\.|->)\s*\w+)*\s*\[`)
	assigned    = regexp.MustCompile(`([A-Za-z_]\w*(?:\[[^\]]*\])+)\s*$`)
)

// accessed returns the expression that an access at a column of a line reads or writes, or "" if the line does not show it. A
// compiler gives a load the column of its array, and a store that of the assignment.
func accessed(line string, column int) string {
	if column < 1 || column > len(line) {
		return ""
	}
	if m := subscripted.FindString(line[column-1:]); m != "" {
		depth, rest := 0, line[column-1:]
		for i, c := range rest {
			switch c {
			case '[':
				depth++
			case ']':
				if depth--; depth == 0 && !strings.HasPrefix(rest[i+1:], "[") {
					return rest[:i+1]
				}
			}
		}
		return ""
	}
	if m := assigned.FindStringSubmatch(line[:column-1]); m != nil {
		return m[1]
	}
	return ""
}

// describe returns a sentence about a finding.
func describe(m message, f *Finding, access string) string {
	target := f.Memory + " memory"
	switch {
	case f.Argument != "":
		target = fmt.Sprintf("%s[%d]", f.Argument, *f.Index)
	case access != "" && f.Index != nil:
		target = fmt.Sprintf("%s, element %d of the array in %s memory", access, *f.Index, cmp.Or(f.Memory, "local or private"))
	case access != "":
		target = access
	}
	first, _, _ := strings.Cut(m.Text, " at ")
	switch m.Kind {
	case DataRace:
		race, _, _ := strings.Cut(m.Text, " ")
		return fmt.Sprintf("%s race at %s", strings.ToLower(race), target)
	case OutOfBounds:
		if m.Static {
			return fmt.Sprintf("index beyond the array: %s", strings.TrimSuffix(target, " "))
		}
		way := "read"
		if strings.Contains(first, "write") {
			way = "write"
		}
		return fmt.Sprintf("%s out of bounds at %s", way, target)
	case Uninitialised:
		switch {
		case strings.HasPrefix(m.Text, "Controlflow"):
			return "a condition depends on memory that nothing has written"
		case strings.HasPrefix(m.Text, "Instruction"):
			return "an index depends on memory that nothing has written"
		case strings.Contains(m.Text, "address used"):
			return "an address depends on memory that nothing has written: " + target
		}
		return "a value that depends on memory that nothing has written goes to " + target
	case Divergence:
		return "not all work-items of the work-group come here"
	case Misaligned:
		return "the address is no multiple of the size of the type"
	case ConstWrite:
		return "write to a buffer that the kernel declares constant"
	}
	return m.Text
}
