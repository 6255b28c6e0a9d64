package record

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
)

// A Related is a record that a search can learn from: of the same problem at another size, with another driver, on another
// device, of an older source, or of an earlier search.
type Related struct {
	*Record
	Path string
	How  string // it differs from the search, for people: «NVIDIA A100, size 2048×2048»
}

// Bounds of [FindRelated].
const (
	relatedMost    = 3        // records
	relatedFiles   = 200      // whose headers are read
	relatedBytes   = 32 << 20 // of the files that are read whole
	relatedHeader  = 1 << 20  // bytes of a header
	relatedCorrect = 10       // correct results of a record: fewer say too little
)

// FindRelated finds the records among the run logs of a folder, such as [StateFolder], from which a search under a header can
// learn most, the nearest first. It takes at most three: of one device, driver, size and source, the largest. They belong
// to the same kernel by its digest, or to one of the same name in a specification of the same name, and to a device of the
// same type. These decide, in order:
//
//  1. The same source comes before an older one.
//  2. The same device and driver come first, then other drivers of it, other devices of its vendor, and devices of other vendors.
//  3. The nearer size comes first: see [definition.Distances].
//
// The header has the search's device, parameters and objective. Only records that were begun before its start, by default now, count,
// so that a search that is resumed finds what it found at its beginning. The file own is left out: it is that of the search. So are
// those beside it whose names are the same up to the first dot: a comparison has such files for its devices.
//
// The function reads the headers of the newest 200 files that are named after the kernel, and 32 MiB of files. Troubles are the
// files that cannot be read; other files are used all the same.
func FindRelated(folder string, h Header, own string) (found []Related, troubles []error) {
	_, h, err := h.line() // with the types that other headers have
	if err != nil {
		return nil, []error{err}
	}
	parameters, err := space.NewParameters(h.Parameters)
	if err != nil {
		return nil, []error{err}
	}
	paths, err := logsOf(folder, h.Kernel)
	if err != nil {
		return nil, []error{fmt.Errorf("look for records: %w", err)}
	}
	ownFile, _ := os.Stat(own)
	type candidate struct {
		path   string
		bytes  int64
		header Header
		far    remoteness
	}
	var all []candidate
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || info.Size() == 0 || ownFile != nil && os.SameFile(info, ownFile) || untilDot(path) == untilDot(own) {
			continue
		}
		header, err := headerOf(path)
		if err != nil {
			troubles = append(troubles, fmt.Errorf("read %s: %w", path, files.WithoutPath(err)))
			continue
		}
		if far, ok := header.remoteness(h); ok {
			all = append(all, candidate{path, info.Size(), header, far})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Or(a.far.compare(b.far), cmp.Compare(b.bytes, a.bytes)) })
	taken, left := map[string]bool{}, int64(relatedBytes)
	for _, c := range all {
		if len(found) == relatedMost {
			break
		}
		if c.bytes > left || taken[c.header.circumstances()] {
			continue
		}
		left -= c.bytes
		r, err := Read(c.path)
		if err != nil {
			troubles = append(troubles, err)
			continue
		}
		if !r.canTeach(h, parameters) {
			continue
		}
		taken[r.Header.circumstances()] = true
		found = append(found, Related{r, c.path, r.Header.unlike(h)})
	}
	return found, troubles
}

// logsOf lists the run logs of a kernel in a folder, which need not be there, the newest first by their names.
func logsOf(folder, kernel string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var paths []string
	for _, e := range slices.Backward(entries) {
		if len(paths) < relatedFiles && strings.HasSuffix(e.Name(), ".jsonl") && strings.Contains(e.Name(), "-"+fileWord(kernel)) {
			paths = append(paths, filepath.Join(folder, e.Name()))
		}
	}
	return paths, nil
}

// untilDot cuts the name of a file at its first dot.
func untilDot(path string) string {
	folder, name := filepath.Split(path)
	name, _, _ = strings.Cut(name, ".")
	return filepath.Join(folder, name)
}

// headerOf reads the first line of a run log.
func headerOf(path string) (Header, error) {
	f, err := files.Open(path)
	if err != nil {
		return Header{}, err
	}
	defer f.Close()
	line, err := bufio.NewReader(io.LimitReader(f, relatedHeader)).ReadBytes('\n')
	c := logContent{line: 1}
	switch {
	case isTornHeader(line): // another run has just begun it
		return Header{}, nil
	case err != nil || !looksLikeLog(line):
		return Header{}, errNotLog
	}
	_, err = c.readHeader(line)
	return c.header, err
}

// canTeach reports whether a search can learn from the record: it is related, and has enough correct results.
func (r *Record) canTeach(h Header, parameters *space.Parameters) bool {
	if _, related := r.Header.remoteness(h); !related {
		return false
	}
	prior, err := r.Prior("", parameters, h.Objective)
	correct := each.Count(prior.Entries, func(e search.PriorEntry) bool { return e.Valid })
	return err == nil && correct >= relatedCorrect
}

// A remoteness says how far a record is from a search.
type remoteness struct {
	source int // 0: the same, 1: an older one
	device int // 0: the same, 1: another driver, 2: another device of its vendor, 3: of another vendor
	size   []float64
}

func (r remoteness) compare(s remoteness) int {
	return cmp.Or(cmp.Compare(r.source, s.source), cmp.Compare(r.device, s.device), slices.Compare(r.size, s.size))
}

// remoteness returns how far a record with the header is from a search, and false if it is not related to it.
func (h Header) remoteness(search Header) (r remoteness, related bool) {
	a, b := h.Device, search.Device
	switch {
	case h.Strategy == StrategyCompare || h.Kernel == "" || h.Kernel != search.Kernel || a.Type != b.Type || strings.TrimSpace(a.Name) == "":
		return r, false
	case !h.Started.Before(search.Started):
		return r, false
	case h.KernelDigest != "" && h.KernelDigest == search.KernelDigest:
	case h.Source != "" && filepath.Base(h.Source) == filepath.Base(search.Source):
		r.source = 1
	default:
		return r, false
	}
	switch {
	case !sameText(a.Vendor, b.Vendor):
		r.device = 3
	case !sameText(a.Name, b.Name):
		r.device = 2
	case !sameText(a.Platform, b.Platform) || !sameText(a.Driver, b.Driver):
		r.device = 1
	}
	own, other := h.numbers(), search.numbers()
	if len(own) != len(other) {
		r.size = []float64{math.Inf(1)}
	} else {
		r.size = definition.Distances(other, own)
	}
	return r, true
}

func sameText(a, b string) bool { return strings.TrimSpace(a) == strings.TrimSpace(b) }

// numbers are the problem size and the constants that are numbers, by name.
func (h Header) numbers() (numbers []float64) {
	for _, n := range h.ProblemSize {
		numbers = append(numbers, float64(n))
	}
	constants := h.constants()
	for _, name := range slices.Sorted(maps.Keys(constants)) {
		if f, ok := space.Number(constants[name]); ok {
			numbers = append(numbers, f)
		}
	}
	return numbers
}

// constants are the values of the constants by name, of which the kernel sees numbers as numbers.
func (h Header) constants() map[string]space.Value {
	values := map[string]space.Value{}
	for _, c := range h.Constants {
		values[c.Name] = c.Number()
	}
	return values
}

// circumstances are equal for two records of which one says what the other does.
func (h Header) circumstances() string {
	d := h.Device
	return fmt.Sprintf("%q", []any{h.KernelDigest, d.Name, d.Vendor, d.Platform, d.Driver, h.ProblemSize, h.constants()})
}

// unlike says how a record with the header differs from a search.
func (h Header) unlike(search Header) string {
	var texts []string
	far, _ := h.remoteness(search)
	switch far.device {
	case 1:
		texts = append(texts, "driver "+cmp.Or(strings.TrimSpace(h.Device.Driver), "unknown"))
	case 2, 3:
		texts = append(texts, strings.TrimSpace(h.Device.Name))
	}
	switch {
	case len(h.ProblemSize) > 0 && !slices.Equal(h.ProblemSize, search.ProblemSize):
		texts = append(texts, "size "+figure.Sizes(h.ProblemSize))
	case !maps.Equal(h.constants(), search.constants()):
		texts = append(texts, "other constants")
	}
	switch {
	case far.source == 1:
		texts = append(texts, "an older source")
	case len(texts) > 0:
	case h.InOtherSpace(search):
		texts = append(texts, "other values of parameters")
	case h.Digest == search.Digest:
		texts = append(texts, "an earlier search")
	default:
		texts = append(texts, "another measurement")
	}
	return strings.Join(texts, ", ")
}
