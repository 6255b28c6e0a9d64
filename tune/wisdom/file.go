package wisdom

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// Version is the version of the files that [Add] creates. A file of another major version is refused, because
// its records may mean something else; of a later minor version, members that are not known are ignored.
const Version = "1.0"

const defaultObjective = "time"

// headerJSON is the first line of a file. Objective is always «time», because kernel_launcher's Python
// reader refuses all else. Another objective stands in NDTune.
type headerJSON struct {
	Version    string         `json:"version"`
	Objective  string         `json:"objective"`
	Parameters []string       `json:"tunable_parameters"`
	Key        string         `json:"key"`
	NDTune     *objectiveJSON `json:"ndtune,omitempty"`
}

type objectiveJSON struct {
	Name      string `json:"objective"`
	Direction string `json:"direction"` // minimize or maximize
}

// recordJSON is a line of a file. kernel_launcher reads config, problem_size, device_name and time.
type recordJSON struct {
	Config        space.Values    `json:"config,omitzero"`         // in the order of the file's parameters
	Configuration space.Named     `json:"configuration,omitempty"` // instead of Config, outside a file
	ProblemSize   []int           `json:"problem_size"`
	Constants     space.Named     `json:"constants,omitempty"`
	Environment   environmentJSON `json:"environment"`
	Time          float64         `json:"time"`
	Objective     *float64        `json:"objective,omitempty"` // unless it is the time
	Verified      bool            `json:"verified"`
	SourceDigest  string          `json:"source_digest,omitempty"`
}

// MarshalJSON writes the record as a file has it, with the names of the parameters.
func (r Record) MarshalJSON() ([]byte, error) {
	j := r.json()
	j.Configuration, j.Objective = r.Configuration, &r.Objective
	return json.Marshal(j)
}

type environmentJSON struct {
	Date              string  `json:"date,omitempty"`
	Device            string  `json:"device_name"`
	Vendor            string  `json:"vendor,omitempty"`
	Type              string  `json:"device_type,omitempty"`
	Platform          string  `json:"platform,omitempty"`
	Driver            string  `json:"driver_version,omitempty"`
	Architecture      string  `json:"architecture,omitempty"`
	ComputeCapability float64 `json:"compute_capability,omitempty"` // of kernel_launcher: 90; read only
	UUID              string  `json:"uuid,omitempty"`
	PCI               string  `json:"pci,omitempty"`
}

// A line of a file has a record, or is kept as it is: a comment, an empty line or one that cannot be read.
type line struct {
	text   []byte // as it stands in the file; nil: the record is new
	record *Record
}

// Read reads a wisdom file: of this package, or of kernel_launcher. Lines that begin with # or // are
// comments. A line that cannot be read is listed in [File.Skipped]; a header that cannot is an error.
func Read(path string) (*File, error) {
	data, err := files.ReadFile(path)
	if err == nil {
		var f *File
		if f, err = Decode(data); err == nil {
			return f, nil
		}
	}
	return nil, fmt.Errorf("read wisdom from %s: %w", path, files.WithoutPath(err))
}

// Decode is [Read] for data in memory.
func Decode(data []byte) (*File, error) {
	f := &File{}
	first, rest, _ := bytes.Cut(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), []byte{'\n'})
	if err := f.decodeHeader(bytes.TrimSpace(first)); err != nil {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	number := 1
	for text := range bytes.Lines(rest) {
		number++
		l := line{text: bytes.TrimRight(text, "\r\n")}
		content := bytes.TrimSpace(text)
		if len(content) > 0 && content[0] != '#' && !bytes.HasPrefix(content, []byte("//")) {
			r, err := f.decodeRecord(content)
			if err != nil {
				f.Skipped = append(f.Skipped, record.DamagedLine{Number: number, Reason: err.Error()})
			} else {
				l.record = r
			}
		}
		f.lines = append(f.lines, l)
	}
	f.collect()
	return f, nil
}

// collect sets the records to those of the lines.
func (f *File) collect() {
	f.Records = nil
	for _, l := range f.lines {
		if l.record != nil {
			f.Records = append(f.Records, *l.record)
		}
	}
}

func (f *File) decodeHeader(text []byte) error {
	if len(text) == 0 {
		return errors.New("the header is missing; a wisdom file begins with a line such as " +
			`{"version":"1.0","objective":"time","tunable_parameters":[…],"key":…}`)
	}
	var h headerJSON
	if err := json.Unmarshal(text, &h); err != nil {
		return fmt.Errorf("it is not the header of a wisdom file: %w", err)
	}
	major, _, _ := strings.Cut(h.Version, ".")
	ours, _, _ := strings.Cut(Version, ".")
	switch {
	case h.Version == "" || h.Parameters == nil || h.Key == "":
		return errors.New("it is not the header of a wisdom file: it needs version, tunable_parameters and key")
	case major != ours:
		return fmt.Errorf("a wisdom file of version %s, and this program knows %s", h.Version, Version)
	case h.Objective != defaultObjective:
		return fmt.Errorf("the objective is %q, not %q: its direction is not known", h.Objective, defaultObjective)
	}
	f.Objective = score.Objective{Name: defaultObjective}
	if o := h.NDTune; o != nil {
		if o.Name == "" || o.Direction != "minimize" && o.Direction != "maximize" {
			return fmt.Errorf("ndtune: the objective is %q and its direction %q, want minimize or maximize", o.Name, o.Direction)
		}
		f.Objective = score.Objective{Name: o.Name, Maximize: o.Direction == "maximize"}
	}
	sorted := slices.Sorted(slices.Values(h.Parameters))
	if len(slices.Compact(sorted)) < len(h.Parameters) {
		return fmt.Errorf("a parameter is named twice: %s", strings.Join(h.Parameters, ", "))
	}
	f.Key, f.Parameters, f.header = h.Key, h.Parameters, text
	return nil
}

func (f *File) decodeRecord(text []byte) (*Record, error) {
	var j recordJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return nil, err
	}
	e := j.Environment
	r := &Record{
		Device: hardware.Device{
			Name: strings.TrimSpace(e.Device), Vendor: e.Vendor, Type: e.Type, Platform: e.Platform, Driver: e.Driver,
			Architecture: e.Architecture, UUID: e.UUID, PCI: e.PCI,
		},
		ProblemSize: j.ProblemSize, Constants: j.Constants, Configuration: space.Named{}, Time: j.Time, Objective: j.Time,
		Verified: j.Verified, SourceDigest: j.SourceDigest, Date: parseDate(e.Date),
	}
	if n := e.ComputeCapability; r.Device.Architecture == "" && n >= 10 && n < 1000 && n == math.Trunc(n) {
		r.Device.Architecture = hardware.ComputeCapability(int(n)/10, int(n)%10)
	}
	if len(j.Config) != len(f.Parameters) {
		return nil, fmt.Errorf("config has %d values, and there are %d parameters", len(j.Config), len(f.Parameters))
	}
	for i, v := range j.Config {
		r.Configuration[f.Parameters[i]] = v
	}
	switch {
	case r.Device.Name == "":
		return nil, errors.New("environment: device_name is missing")
	case j.Objective != nil:
		r.Objective = *j.Objective
	case f.Objective.Name != defaultObjective:
		return nil, fmt.Errorf("objective, the value of %s, is missing", f.Objective.Name)
	}
	if !positive(r.Time) || !positive(r.Objective) {
		return nil, fmt.Errorf("the time is %v ms and the objective %v, and both must be positive", r.Time, r.Objective)
	}
	return r, checkSize(r.ProblemSize)
}

// parseDate reads a date of this package, or of Python, which leaves out the zone. Any other text is no date.
func parseDate(text string) time.Time {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// Encode writes the file. Lines that were read stay as they are.
func (f *File) Encode(w io.Writer) error {
	var b bytes.Buffer
	if f.header != nil {
		b.Write(f.header)
		b.WriteByte('\n')
	} else {
		h := headerJSON{Version: Version, Objective: defaultObjective, Parameters: append([]string{}, f.Parameters...), Key: f.Key}
		if !f.Objective.Equal(score.Objective{Name: defaultObjective}) {
			h.NDTune = &objectiveJSON{f.Objective.Name, directionOf(f.Objective)}
		}
		if err := encodeLine(&b, h); err != nil {
			return err
		}
	}
	for _, l := range f.lines {
		if l.text != nil || l.record == nil {
			b.Write(l.text)
			b.WriteByte('\n')
		} else if err := encodeLine(&b, f.recordJSON(l.record)); err != nil {
			return err
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

func encodeLine(b *bytes.Buffer, v any) error {
	encoder := json.NewEncoder(b)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

// json returns the record without its configuration and its objective.
func (r *Record) json() recordJSON {
	d := r.Device
	j := recordJSON{
		ProblemSize: r.ProblemSize, Constants: r.Constants, Time: r.Time, Verified: r.Verified, SourceDigest: r.SourceDigest,
		Environment: environmentJSON{
			Device: d.Name, Vendor: d.Vendor, Type: d.Type, Platform: d.Platform, Driver: d.Driver,
			Architecture: d.Architecture, UUID: d.UUID, PCI: d.PCI,
		},
	}
	if !r.Date.IsZero() {
		j.Environment.Date = r.Date.UTC().Format(time.RFC3339)
	}
	return j
}

// recordJSON returns a line of the file.
func (f *File) recordJSON(r *Record) recordJSON {
	j := r.json()
	if f.Objective.Name != defaultObjective || r.Objective != r.Time {
		j.Objective = &r.Objective
	}
	j.Config = space.Values{}
	for _, name := range f.Parameters {
		j.Config = append(j.Config, r.Configuration[name])
	}
	return j
}

func directionOf(o score.Objective) string {
	if o.Maximize {
		return "maximize"
	}
	return "minimize"
}

// Add merges wisdom into the file at path, which it creates if necessary, and returns the whole. A new record
// takes the place of one of the same configuration, device, driver, source and size, unless that is newer. Of
// each device, driver, source and size, the [MaxKept] best records are kept. Comments and lines that
// cannot be read stay as they are.
//
// Several processes may add to a file at once: one waits for the other, until ctx is done. Readers see the
// file before or after a change, never a part of it. It is an error, and nothing is written, if the file is
// of another key, has other parameters or another objective, or cannot be read.
func Add(ctx context.Context, path string, more ...*File) (*File, error) {
	f, err := add(ctx, path, more)
	if err != nil {
		return nil, fmt.Errorf("add wisdom to %s: %w", path, files.WithoutPath(err))
	}
	return f, nil
}

func add(ctx context.Context, path string, more []*File) (_ *File, err error) {
	if len(more) == 0 {
		return nil, errors.New("there is nothing to add")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	release, err := files.Hold(ctx, path, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	f := &File{Key: more[0].Key, Parameters: more[0].Parameters, Objective: more[0].Objective}
	data, err := files.ReadFile(path)
	if err == nil {
		f, err = Decode(data)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	for _, m := range more {
		if err == nil {
			err = f.Merge(m)
		}
	}
	if err == nil {
		err = files.Write(path, f.Encode)
	}
	return f, err
}

// now is the clock that tells whether a date is yet to come. Tests let it jump.
var now = time.Now

// clockSkew is how far the clocks of machines that share a file may differ.
const clockSkew = 24 * time.Hour

// Merge adds the records of more to f, as [Add] does, without a file. After an error f is as it was. A record whose date is yet
// to come, by a clock that was wrong, is always replaced.
func (f *File) Merge(more *File) error {
	if err := f.fits(more); err != nil {
		return err
	}
	type identity struct {
		group         group
		configuration string
	}
	lines, late := map[identity]int{}, now().Add(clockSkew)
	for i, l := range f.lines {
		if l.record != nil {
			lines[identity{groupOf(l.record), f.key(l.record)}] = i
		}
	}
	for _, r := range more.Records {
		of := identity{groupOf(&r), f.key(&r)}
		switch i, known := lines[of]; {
		case !known:
			lines[of] = len(f.lines)
			f.lines = append(f.lines, line{record: &r})
		case !f.lines[i].record.Date.After(r.Date), f.lines[i].record.Date.After(late):
			f.lines[i] = line{record: &r}
		}
	}
	f.prune()
	f.collect()
	return nil
}

// fits returns an error if the records of more cannot stand in f.
func (f *File) fits(more *File) error {
	switch {
	case f.Key != more.Key:
		return fmt.Errorf("the key is %q, not %q", f.Key, more.Key)
	case !slices.Equal(slices.Sorted(slices.Values(f.Parameters)), slices.Sorted(slices.Values(more.Parameters))):
		return fmt.Errorf("the parameters are %s, not %s", strings.Join(f.Parameters, ", "), strings.Join(more.Parameters, ", "))
	case !f.Objective.Equal(more.Objective):
		own, other := f.Objective, more.Objective
		return fmt.Errorf("the objective is to %s %s, not to %s %s", directionOf(own), own.Name, directionOf(other), other.Name)
	}
	return nil
}

// prune removes all but the best records of each group. Of equal ones the newer stays.
func (f *File) prune() {
	var all []*Record
	for _, l := range f.lines {
		if l.record != nil {
			all = append(all, l.record)
		}
	}
	slices.SortStableFunc(all, func(a, b *Record) int { return cmp.Or(f.compare(a, b), b.Date.Compare(a.Date)) })
	kept, removed := map[group]int{}, map[*Record]bool{}
	for _, r := range all {
		of := groupOf(r)
		kept[of]++
		removed[r] = kept[of] > MaxKept
	}
	f.lines = slices.DeleteFunc(f.lines, func(l line) bool { return l.record != nil && removed[l.record] })
}
