package wisdom

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
)

// An Entry is what a wisdom file has for a problem on a device. The file need not be there yet. The entry is
// known if the file has a record
//
//   - of the same device (by name, vendor and type), problem size, constants and source of the kernel,
//   - that is verified, unless the problem has no verification,
//   - whose configuration is in the space of the problem and within the limits of the device.
//
// The driver may be another one: a new driver changes the best configuration less than another size does, and
// an application should not search again after each update. The [Choice] says so, and records of the
// present driver are preferred. A search without regard to the file adds them.
type Entry struct {
	path    string
	source  Source
	problem *problem.Problem
	query   Query

	constants string // as constantsText returns them
}

// A Found is the configuration of an Entry.
type Found struct {
	Choice
	Configuration space.Configuration
	Searched      bool     // a search has found it now; false: it was known
	Excluded      []string // the configurations of records that the problem or the device's limits exclude, with the reasons
}

// NewEntry returns the entry of a problem on a device, which device.Describe returns, in the file at path. The key
// of the source is the name of the kernel by default. Its problem size is for problems that have no fixed one:
// pipelines, and sizes that depend on parameters. It is an error if the path is empty, if the size is not known, or if the file is
// there and cannot be read, or has wisdom of another key, of other parameters or another objective.
func NewEntry(path string, p *problem.Problem, d hardware.Device, s Source) (*Entry, error) {
	if path == "" {
		return nil, errors.New("the wisdom file has no name")
	}
	size, err := s.size(p.FixedProblemSize())
	if err != nil {
		return nil, fmt.Errorf("the problem of %s: %w", p.KernelName(), err)
	}
	s.Key = cmp.Or(s.Key, p.KernelName())
	e := &Entry{
		path: path, source: s, problem: p, query: Query{Device: d, ProblemSize: size, SourceDigest: p.KernelDigest()},
		constants: constantsText(constantsOf(p.Constants())),
	}
	_, err = e.read()
	return e, err
}

// size returns the size of a problem that has a fixed one, or nil.
func (s Source) size(fixed []int) ([]int, error) {
	size := fixed
	switch {
	case len(fixed) == 0:
		size = s.ProblemSize
	case len(s.ProblemSize) > 0 && !sameSize(fixed, s.ProblemSize):
		return nil, fmt.Errorf("its problem size is %s, not %s", figure.Sizes(fixed), figure.Sizes(s.ProblemSize))
	}
	if len(size) == 0 {
		return nil, errors.New("it has no problem size, because it is of a pipeline or of a size that depends on parameters; give the size")
	}
	return size, checkSize(size)
}

// read reads the file. A file that is not there is empty.
func (e *Entry) read() (*File, error) {
	own := &File{Key: e.source.Key, Parameters: e.problem.Parameters().Names(), Objective: e.problem.Objective().First()}
	f, err := Read(e.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return own, nil
	case err != nil:
		return nil, err
	}
	if err := f.fits(own); err != nil {
		return nil, fmt.Errorf("read wisdom from %s: %w", e.path, err)
	}
	return f, nil
}

// Known looks the entry up, and reports whether it is known.
func (e *Entry) Known() (Found, bool, error) {
	f, err := e.read()
	if err != nil {
		return Found{}, false, err
	}
	found, known := e.in(f)
	return found, known, nil
}

// in looks the entry up in a file. Of several records that it is known by, the one of [File.Choose] comes first.
func (e *Entry) in(f *File) (found Found, known bool) {
	r := f.best(e.query, func(r *Record) bool {
		if !e.fromHere(r) || !e.sameSize(r) {
			return false
		}
		reason := e.exclusion(f, r)
		if reason != "" {
			found.Excluded = append(found.Excluded, reason)
		}
		return reason == ""
	})
	if r == nil {
		return found, false
	}
	e.set(&found, r)
	return found, true
}

// set sets the configuration to that of a record.
func (e *Entry) set(found *Found, r *Record) {
	found.Choice = Choice{Record: *r, Level: SameSize, Weaknesses: weaknesses(r, e.query, true)}
	found.Configuration, _ = e.problem.Parameters().Configure(r.Configuration)
}

// fromHere reports whether a record is of the device and the source, and is as verified as the problem can be.
func (e *Entry) fromHere(r *Record) bool {
	return sameDevice(&r.Device, &e.query.Device) && r.SourceDigest == e.query.SourceDigest && (r.Verified || !e.problem.Verified())
}

// sameSize reports whether a record is of the size of the entry.
func (e *Entry) sameSize(r *Record) bool {
	return sameSize(r.ProblemSize, e.query.ProblemSize) && constantsText(r.Constants) == e.constants
}

// exclusion returns the reason why a record cannot be used, with its configuration, or "".
func (e *Entry) exclusion(f *File, r *Record) string {
	c, err := e.problem.Parameters().Configure(r.Configuration)
	if err == nil {
		err = e.problem.Admit(c, e.query.Device)
	}
	if err != nil {
		return f.Text(r) + ": " + err.Error()
	}
	if reason := e.problem.ExceededLimit(c, e.query.Device); reason != "" {
		return f.Text(r) + ": " + reason
	}
	return ""
}

// A Search searches for the best configuration, and begins with neighbours: the best configurations of the nearest sizes that
// the file has for the device and the source. It returns the record of a search that came to its end.
type Search func(ctx context.Context, neighbours []space.Configuration) (*record.Record, error)

// Find returns the configuration of the entry. If it is not known, search is called, and its record is kept in the file.
// After an error of search, nothing is kept.
//
// If several processes, or parts of one, find the same entry at once, one of them searches. Waits is called
// once in each of the others, unless it is nil; they wait and use the result. If the search fails or its process
// dies, the next one searches. If ctx is done first, the error is that of ctx.
func (e *Entry) Find(ctx context.Context, waits func(), search Search) (found Found, err error) {
	found, known, err := e.Known()
	if known || err != nil {
		return found, err
	}
	if err := os.MkdirAll(filepath.Dir(e.path), 0o777); err != nil {
		return found, err
	}
	release, err := files.Hold(ctx, e.path+"."+e.name(), waits)
	if err != nil {
		return found, fmt.Errorf("find the best configuration of %s: %w", e.source.Key, err)
	}
	defer func() { err = errors.Join(err, release()) }()
	f, err := e.read()
	if err != nil {
		return found, err
	}
	if found, known = e.in(f); known { // somebody else has found it meanwhile
		return found, nil
	}
	r, err := search(ctx, e.neighbours(f))
	if err != nil {
		return found, err
	}
	best, err := e.Keep(ctx, r)
	if err != nil {
		return found, err
	}
	e.set(&found, best)
	found.Searched = true
	return found, nil
}

// name tells the entry from the others of the file, in the name of its lock.
func (e *Entry) name() string {
	d := &e.query.Device
	device := []string{strings.TrimSpace(d.Name), hardware.VendorName(d.Vendor), d.Type}
	text := fmt.Sprintf("%q", append(device, figure.Sizes(e.query.ProblemSize), e.constants, e.query.SourceDigest))
	return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:16]
}

// neighbours returns the best configurations of the nearest sizes that a file has for the device and the
// source, to begin a search with: see [tune.Neighbours].
func (e *Entry) neighbours(f *File) []space.Configuration {
	type size struct {
		dimensions [3]int
		constants  string
	}
	sizeOf := func(r *Record) size { return size{padded(r.ProblemSize), constantsText(r.Constants)} }
	here := slices.DeleteFunc(slices.Clone(f.Records), func(r Record) bool { return !e.fromHere(&r) || e.sameSize(&r) })
	slices.SortStableFunc(here, func(a, b Record) int {
		p, q := sizeOf(&a), sizeOf(&b)
		return cmp.Or(
			Nearer(e.query.ProblemSize, a.ProblemSize, b.ProblemSize),
			slices.Compare(p.dimensions[:], q.dimensions[:]), cmp.Compare(p.constants, q.constants), f.compare(&a, &b),
		)
	})
	var bests [][]space.Configuration
	var last size
	for _, r := range here {
		c, err := e.problem.Parameters().Configure(r.Configuration)
		if err != nil {
			continue
		}
		if s := sizeOf(&r); s != last {
			last, bests = s, append(bests, nil)
		}
		bests[len(bests)-1] = append(bests[len(bests)-1], c)
	}
	return tune.Neighbours(bests)
}

// Nearest returns the best configurations of the records that are nearest to the entry, at most three, to begin a
// search with. Choices say where they are from; the order of the levels is that of [File.Choose], without [BestOverall].
func (e *Entry) Nearest() (configurations []space.Configuration, choices []Choice, err error) {
	f, err := e.read()
	if err != nil {
		return nil, nil, err
	}
	taken := map[string]bool{}
	for len(choices) < nearestTaken {
		r, level := f.nearest(e.query, func(r *Record) bool { return !taken[f.key(r)] && e.exclusion(f, r) == "" })
		if r == nil {
			break
		}
		taken[f.key(r)] = true
		c, err := e.problem.Parameters().Configure(r.Configuration)
		if err != nil {
			return nil, nil, err
		}
		configurations = append(configurations, c)
		choices = append(choices, Choice{Record: *r, Level: level, Weaknesses: weaknesses(r, e.query, true)})
	}
	return configurations, choices, nil
}

// nearestTaken is the number of configurations of [Entry.Nearest].
const nearestTaken = 3

// Keep adds the best results of a search to the file, and returns the winner. The file keeps the [MaxKept] best
// configurations only: the winner of a search in a part of the space may not be among them, and then the entry
// is not known to a problem of that part.
func (e *Entry) Keep(ctx context.Context, r *record.Record) (*Record, error) {
	best, err := FromLog(r, e.source)
	if err != nil {
		return nil, err
	}
	if _, err := Add(ctx, e.path, best); err != nil {
		return nil, err
	}
	return &best.Records[0], nil
}
