package capture

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/internal/files"
)

// A Shape stands for all launches of one kernel with the same sizes.
type Shape struct {
	Kernel      string `json:"kernel"`
	Hash        string `json:"hash"` // of the program's source, in the layer's words
	OptionsHash string `json:"options_hash"`
	Global      []int  `json:"global"`
	Local       []int  `json:"local"`  // null: the application leaves it to the driver
	Offset      []int  `json:"offset"` // null: zero
}

// Build identifies the kernel of one build of its program.
func (s Shape) Build() string { return s.Kernel + "$" + s.Hash + "_" + s.OptionsHash }

// Is reports whether two shapes are the same.
func (s Shape) Is(o Shape) bool {
	return s.Build() == o.Build() && s.Sized(o.Global, o.Local, o.Offset)
}

// Sized reports whether a shape has these sizes.
func (s Shape) Sized(global, local, offset []int) bool {
	return slices.Equal(s.Global, global) && slices.Equal(s.Local, local) && slices.Equal(withoutZeros(s.Offset), withoutZeros(offset))
}

// withoutZeros returns nil for an offset that is none.
func withoutZeros(offset []int) []int {
	if slices.ContainsFunc(offset, func(n int) bool { return n != 0 }) {
		return offset
	}
	return nil
}

// Launches are the launches of a shape on one device, while an application ran.
type Launches struct {
	Shape
	Device string `json:"device"`
	Calls  int    `json:"calls"`
	Total  int    `json:"total_ns"` // of device time
	Min    int    `json:"min_ns"`
	Folder string `json:"folder,omitempty"` // beside the profile, with the launch that was captured
}

// Mean is the mean time of a launch, in nanoseconds.
func (l Launches) Mean() float64 { return float64(l.Total) / float64(max(1, l.Calls)) }

// A Profile says on what an application spends the time of its devices.
type Profile struct {
	Program   []string   `json:"program"`
	Status    int        `json:"exit_status"`
	Wall      int        `json:"wall_ns"`
	Transfers int        `json:"transfers_ns"` // device time of all commands that are no kernels
	Launches  []Launches `json:"launches"`     // the costliest first
}

// ProfileFile is the name of the file with the [Profile] of a folder.
const ProfileFile = "capture.json"

// ReadProfile reads the profile of a folder.
func ReadProfile(folder string) (*Profile, error) {
	path := filepath.Join(folder, ProfileFile)
	text, err := files.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s holds nothing that ndtune capture has written: %w", folder, err)
	}
	p := &Profile{}
	if err := json.Unmarshal(text, p); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, l := range p.Launches {
		if l.Folder != "" && !filepath.IsLocal(l.Folder) {
			return nil, fmt.Errorf("%s: %q is no folder beside it", path, l.Folder)
		}
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

// Kernels is the device time of all launches, in nanoseconds.
func (p *Profile) Kernels() (total int) {
	for _, l := range p.Launches {
		total += l.Total
	}
	return total
}

// Share returns the share of a time in the time of the devices, transfers included.
func (p *Profile) Share(ns float64) float64 { return ns / float64(max(1, p.Kernels()+p.Transfers)) }

// Costliest returns the costliest launches of each build of a kernel that belongs to the first part of the kernels' time. If names are
// given, it does so for all kernels of these names.
func (p *Profile) Costliest(part float64, names ...string) (chosen []Launches) {
	total := map[string]int{}
	first := map[string]Launches{}
	var builds []string
	for _, l := range p.Launches {
		build := l.Build()
		if _, known := first[build]; !known {
			first[build] = l
			builds = append(builds, build)
		}
		total[build] += l.Total
	}
	slices.SortStableFunc(builds, func(a, b string) int { return cmp.Compare(total[b], total[a]) })
	before := 0
	for _, build := range builds {
		wanted := slices.Contains(names, first[build].Kernel)
		if wanted || len(names) == 0 && float64(before) < part*float64(p.Kernels()) {
			chosen = append(chosen, first[build])
		}
		before += total[build]
	}
	return chosen
}

var (
	deviceLine = regexp.MustCompile(`^Device Performance Timing Results for (.*?)(?: \(\d+CUs, \d+MHz\))?:$`)
	timeLine   = regexp.MustCompile(`^\s*(\S.*),\s+(\d+),\s+(\d+),\s+[-+.\da-z]+%,\s+\d+,\s+(\d+),\s+\d+$`)
	shapeTag   = regexp.MustCompile(`^(\S+)\$([0-9A-F]{8})_\d+_([0-9A-F]{8}) GWO\[ (.*) \] GWS\[ (.*) \] LWS\[ (.*) \]$`)
)

// addReport adds what a report of the layer says.
func (p *Profile) addReport(from io.Reader) error {
	device, timed := "", false
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxText)
	for lines.Scan() {
		if found := deviceLine.FindStringSubmatch(lines.Text()); found != nil {
			device, timed = strings.TrimSpace(found[1]), true
		}
		cells := timeLine.FindStringSubmatch(lines.Text())
		if cells == nil || !timed {
			continue
		}
		l := Launches{Device: device}
		for i, to := range []*int{&l.Calls, &l.Total, &l.Min} {
			*to, _ = strconv.Atoi(cells[2+i]) // it has digits only
		}
		tag := shapeTag.FindStringSubmatch(cells[1])
		if tag == nil {
			p.Transfers += l.Total
			continue
		}
		l.Kernel, l.Hash, l.OptionsHash = tag[1], tag[2], tag[3]
		l.Offset, l.Global, l.Local = withoutZeros(sizes(tag[4])), sizes(tag[5]), sizes(tag[6])
		p.add(l)
	}
	return lines.Err()
}

// Note notes in which folder launches were captured, also those whose times are unknown.
func (p *Profile) Note(captured Launches) {
	for i := range p.Launches {
		if known := &p.Launches[i]; known.Is(captured.Shape) && known.Device == captured.Device {
			known.Folder = captured.Folder
			return
		}
	}
	p.Launches = append(p.Launches, captured)
}

func (p *Profile) add(l Launches) {
	for i := range p.Launches {
		if known := &p.Launches[i]; known.Is(l.Shape) && known.Device == l.Device {
			known.Calls, known.Total, known.Min = known.Calls+l.Calls, known.Total+l.Total, min(known.Min, l.Min)
			return
		}
	}
	p.Launches = append(p.Launches, l)
}

// sizes reads sizes such as «64 x 8» and «0, 4»; nil is «NULL».
func sizes(text string) (numbers []int) {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" x,<>", r) }) {
		if n, err := strconv.Atoi(word); err == nil {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// readReports adds the reports of all processes that an application had.
func (p *Profile) readReports(folders []string) error {
	for _, folder := range folders {
		f, err := files.Open(filepath.Join(folder, "clintercept_report.txt"))
		if os.IsNotExist(err) {
			continue // it has ended before the layer could write one
		}
		if err != nil {
			return err
		}
		err = p.addReport(f)
		f.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name(), err)
		}
	}
	slices.SortStableFunc(p.Launches, func(a, b Launches) int { return cmp.Compare(b.Total, a.Total) })
	return nil
}
