package capture

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/tune/process"
)

// Launches are all launches of a kernel with the same sizes on one device, while an application ran.
type Launches struct {
	Kernel      string  `json:"kernel"`
	Hash        string  `json:"hash"`         // of the program's source, in the layer's words
	OptionsHash string  `json:"options_hash"` // of its build options
	Global      []int   `json:"global"`
	Local       []int   `json:"local"`  // null: the application leaves it to the driver
	Offset      []int   `json:"offset"` // null: zero
	Device      string  `json:"device"`
	Calls       int     `json:"calls"`
	Total       int     `json:"total_ns"` // device time
	Cost        float64 `json:"cost_ns"`  // the same without what only the first launches of a process take
	Min         int     `json:"min_ns"`
	Folder      string  `json:"folder,omitempty"`  // beside the profile, of the launch that was captured
	Refused     string  `json:"refused,omitempty"` // why none could be captured

	wanted bool
}

// Build identifies a build of the kernel's program, by the hashes of its source and its options.
func (l Launches) Build() string { return l.Hash + "_" + l.OptionsHash }

// Is reports whether two have the same kernel and sizes.
func (l Launches) Is(o Launches) bool {
	return l.Kernel == o.Kernel && l.Build() == o.Build() && slices.Equal(l.Global, o.Global) && slices.Equal(l.Local, o.Local) &&
		slices.Equal(l.Offset, o.Offset)
}

// Mean is the mean time of a launch, in nanoseconds, by the cost.
func (l Launches) Mean() float64 { return l.Cost / float64(max(1, l.Calls)) }

// LocalText is the local size for people.
func (l Launches) LocalText() string {
	if l.Local == nil {
		return "NULL"
	}
	return figure.Sizes(l.Local)
}

// A Profile says on what an application spends the time of its devices.
type Profile struct {
	Program   []string   `json:"program"`
	Status    int        `json:"exit_status"`
	Wall      int        `json:"wall_ns"`
	Transfers int        `json:"transfers_ns"` // device time of commands that are no kernels
	Launches  []Launches `json:"launches"`     // the costliest first

	End *process.End `json:"-"` // of the last run
}

// ProfileFile is the name of the file with the [Profile] of a folder.
const ProfileFile = "capture.json"

// ReadProfile reads the profile of a folder.
func ReadProfile(folder string) (*Profile, error) {
	text, err := files.ReadFile(filepath.Join(folder, ProfileFile))
	p := &Profile{}
	if err == nil {
		err = json.Unmarshal(text, p)
	}
	for _, l := range p.Launches {
		if l.Folder != "" && !filepath.IsLocal(l.Folder) {
			err = fmt.Errorf("%q is no folder in it", l.Folder)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s is not what ndtune capture run writes: %w", folder, err)
	}
	return p, nil
}

// Write writes the profile of a folder, for its owner alone.
func (p *Profile) Write(folder string) error {
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	return files.WritePrivate(filepath.Join(folder, ProfileFile), append(text, '\n'))
}

// Kernels is the cost of all launches.
func (p *Profile) Kernels() (cost float64) {
	for _, l := range p.Launches {
		cost += l.Cost
	}
	return cost
}

// Share returns the share of a time, in nanoseconds, in that of all launches and transfers.
func (p *Profile) Share(ns float64) float64 { return ns / max(1, p.Kernels()+float64(p.Transfers)) }

// Choose wants a launch of each kernel that belongs to the first part of the kernels' time, or of those with given names: one of the sizes
// that cost most in all. Different builds of a kernel are different kernels. It returns the number of launches.
func (p *Profile) Choose(part float64, names ...string) int {
	cost := map[string]float64{}
	var first []*Launches // of each kernel
	for i := range p.Launches {
		l := &p.Launches[i]
		if _, again := cost[l.Kernel+l.Build()]; !again {
			first = append(first, l)
		}
		cost[l.Kernel+l.Build()] += l.Cost
	}
	slices.SortStableFunc(first, func(a, b *Launches) int { return cmp.Compare(cost[b.Kernel+b.Build()], cost[a.Kernel+a.Build()]) })
	before := 0.0
	for _, l := range first {
		l.wanted = slices.Contains(names, l.Kernel) || len(names) == 0 && before < part*p.Kernels()
		before += cost[l.Kernel+l.Build()]
	}
	return len(p.missing())
}

// missing returns the wanted launches that were not captured.
func (p *Profile) missing() []Launches {
	return slices.DeleteFunc(slices.Clone(p.Launches), func(l Launches) bool { return !l.wanted || l.Folder != "" || l.Refused != "" })
}

var (
	deviceLine = regexp.MustCompile(`^Device Performance Timing Results for (.*?)(?: \(\d+CUs, \d+MHz\))?:$`)
	timeLine   = regexp.MustCompile(`^\s*(\S.*),\s+(\d+),\s+(\d+),\s+[-+.\da-z]+%,\s+\d+,\s+(\d+),\s+(\d+)$`)
	shapeTag   = regexp.MustCompile(`^(\S+)\$([0-9A-F]{8})_\d+_([0-9A-F]{8}) GWO\[ (.*) \] GWS\[ (.*) \] LWS\[ (.*) \]$`)
)

// addReport adds what a report of the layer says.
func (p *Profile) addReport(from io.Reader) error {
	device := ""
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxText)
	for lines.Scan() {
		if found := deviceLine.FindStringSubmatch(lines.Text()); found != nil {
			device = strings.TrimSpace(found[1])
		}
		cells := timeLine.FindStringSubmatch(lines.Text())
		if cells == nil || device == "" {
			continue
		}
		calls, total, least, most := sizes(cells[2])[0], sizes(cells[3])[0], sizes(cells[4])[0], sizes(cells[5])[0]
		tag := shapeTag.FindStringSubmatch(cells[1])
		if tag == nil {
			p.Transfers += total
			continue
		}
		l := p.find(Launches{
			Kernel: tag[1], Hash: tag[2], OptionsHash: tag[3], Offset: withoutZeros(sizes(tag[4])), Global: sizes(tag[5]), Local: sizes(tag[6]),
			Device: device, Min: least,
		})
		l.Calls, l.Total, l.Cost, l.Min = l.Calls+calls, l.Total+total, l.Cost+costOf(calls, total, most), min(l.Min, least)
	}
	return lines.Err()
}

// costOf returns the time of launches as if the longest took as long as the others, if it takes several times as long: drivers for CPUs compile
// a kernel when it is launched first.
func costOf(calls, total, longest int) float64 {
	if others := float64(total-longest) / float64(max(1, calls-1)); calls > 1 && float64(longest) > 3*others {
		return others * float64(calls)
	}
	return float64(total)
}

// find returns the launches of the profile that are these, also on another device if these have none. It adds those that are not there.
func (p *Profile) find(these Launches) *Launches {
	i := slices.IndexFunc(p.Launches, func(l Launches) bool { return l.Is(these) && (these.Device == "" || these.Device == l.Device) })
	if i < 0 {
		i = len(p.Launches)
		p.Launches = append(p.Launches, these)
	}
	return &p.Launches[i]
}

// sizes reads sizes such as «64 x 8» and «0, 4»; nil is «NULL».
func sizes(text string) (numbers []int) {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == 'x' }) {
		if n, err := strconv.Atoi(word); err == nil || errors.Is(err, strconv.ErrRange) {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// withoutZeros returns nil for an offset that is none.
func withoutZeros(offset []int) []int {
	if slices.ContainsFunc(offset, func(n int) bool { return n != 0 }) {
		return offset
	}
	return nil
}

// readReports adds the reports of all processes that an application had.
func (p *Profile) readReports(folders []string) error {
	for _, folder := range folders {
		f, err := files.Open(filepath.Join(folder, "clintercept_report.txt"))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it has ended before the layer could write one
		}
		if err == nil {
			err = p.addReport(f)
			f.Close()
		}
		if err != nil {
			return fmt.Errorf("read the layer's report: %w", err)
		}
	}
	slices.SortStableFunc(p.Launches, func(a, b Launches) int { return cmp.Compare(b.Cost, a.Cost) })
	return nil
}
