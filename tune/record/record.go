// Package record keeps the results of runs and reads them back: the append-only run log
// that a run writes and resumes, the T4 files that others read, the cache files of Kernel
// Tuner, and CSV tables, which are written only. [Lacks] lists the data that a format cannot hold.
//
// Its types: a [Log] is written and resumed, a [Record] was read, a [Header] says of which problem and device.
//
// A run log is a text file of one JSON object a line: a [Header], a line for each result
// in the order of arrival, a line for each final measurement, and a line of the device's peaks
// if these were measured after the search. Every line is handed to the operating system before
// [Log.Append] returns, so a run that is killed loses at most the line that it was writing. The last member of each line is a checksum of the rest of the line. A log with a damaged
// line is refused and left unchanged; [ReadSkipping] leaves out the damaged lines.
//
// A log returns the data that were written, to the last bit of a float64. JSON lacks two kinds of
// data: NaN, a number that is not known, is written as null, infinities as the texts "+Inf" and "-Inf",
// and a reason that is not UTF-8 is written twice, readable and in base64.
//
// # Reasons
//
// Every line ends with its CRC-32C, so that a flipped bit cannot pass for another measurement. A line with a correct checksum and
// unknown content comes from a newer version of ndtune; it does not count as damaged.
//
// A log goes on in another search space: if the measurement digest is the same, a log with the results that the new space has takes its
// place, and names the older one, which stays beside it: see [OpenReusing]. So each log is of one space.
//
// Before each line the log compares the path with the open file, and the size with the bytes written, because a synchronising folder or
// a clean-up may remove or replace the file. Then the line is an error, which ends the search before more results are lost: those so far
// are in its outputs. Nothing of the user's is overwritten.
package record

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
)

// A Record is a run read back, whatever the format that it came from.
type Record struct {
	Header  Header
	Results []tune.Result // in the order of arrival, each configuration once
}

// A collector collects the results of a file for a record, of each configuration the first.
type collector struct {
	*Record
	layout *layout
	seen   map[string]bool
}

func newCollector(h Header) (*collector, error) {
	l, err := newLayout(h.Parameters)
	return &collector{&Record{Header: h}, l, map[string]bool{}}, err
}

func (c *collector) add(d indices, r tune.Result) {
	if c.seen[d.key()] {
		return
	}
	c.seen[d.key()] = true
	r.Configuration = c.layout.configuration(d)
	c.Header.retime(&r)
	c.Results = append(c.Results, r)
}

// retime computes an objective that is a time from the launches, if an older program took their mean.
func (h *Header) retime(r *tune.Result) {
	if v, is := r.Stats().Named(h.Objective.First().Name); is && !h.Medians && r.Status == tune.Correct && len(r.Times) > 0 {
		r.Objective = v
	}
}

// describe fills the fields of the header that the results tell.
func (c *collector) describe() {
	h := &c.Header
	h.Metrics = c.MetricNames()
	for _, r := range c.Results {
		h.Iterations = max(h.Iterations, len(r.Times))
		h.Verified = h.Verified || r.Verified
		if !r.Timestamp.IsZero() && (h.Started.IsZero() || r.Timestamp.Before(h.Started)) {
			h.Started = r.Timestamp
		}
	}
}

// Read reads a run log, a T4 file or a Kernel Tuner cache file, plain or gzipped. The content says
// which it is; the name does not matter. A torn last line of a run log and the missing end of a
// cache file, which an interrupted run leaves behind, are no errors. Of two results of one
// configuration the first counts.
func Read(path string) (*Record, error) {
	r, _, err := read(path, false)
	return r, err
}

// ReadSkipping is [Read], but it leaves out the damaged lines of a run log and lists them.
func ReadSkipping(path string) (*Record, []DamagedLine, error) { return read(path, true) }

func read(path string, skip bool) (r *Record, skipped []DamagedLine, err error) {
	f, err := files.Open(path)
	if err == nil {
		defer f.Close()
		var data []byte
		if data, err = readBounded(f); err == nil {
			r, skipped, err = decode(data, skip)
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read results from %s: %w", path, files.WithoutPath(err))
	}
	return r, skipped, nil
}

// Decode is [Read] for what is in memory.
func Decode(data []byte) (*Record, error) {
	r, _, err := decode(data, false)
	return r, err
}

func decode(data []byte, skip bool) (r *Record, skipped []DamagedLine, err error) {
	if data, err = unzip(data); err != nil {
		return nil, nil, err
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // of editors that mark UTF-8
	if looksLikeLog(data) {
		r, skipped, err = decodeLog(data, skip)
	} else {
		r, err = decodeJSON(data)
	}
	if err == nil {
		err = r.checkColumns()
	}
	if err != nil {
		return nil, nil, err
	}
	return r, skipped, nil
}

// Each parameter and each metric is a column of every result.
const (
	maxParameters = 10_000
	maxMetrics    = 2000
)

func (r *Record) checkColumns() error {
	if n := len(r.Header.Parameters); n > maxParameters {
		return fmt.Errorf("its results have %d parameters, more than the %d that are read", n, maxParameters)
	}
	if n := len(r.MetricNames()); n > maxMetrics {
		return fmt.Errorf("its results have %d metrics, more than the %d that are read", n, maxMetrics)
	}
	return nil
}

func unzip(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err == nil {
		data, err = readBounded(z)
	}
	if err != nil {
		return nil, fmt.Errorf("unzip: %w", err)
	}
	return data, nil
}

// maxVariable is the environment variable that sets how many MiB of a record are read, packed
// and unpacked. The default is far more than any known record has.
const (
	maxVariable = "NDTUNE_MAX_RECORD_MIB"
	defaultMax  = 256
)

// readBounded reads all of r unless that is more than a record may have: a small file can
// unpack to more than the machine has memory.
func readBounded(r io.Reader) ([]byte, error) {
	mebibytes := int64(defaultMax)
	if text := os.Getenv(maxVariable); text != "" {
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%s=%s in the environment: want a number of MiB, such as 1024", maxVariable, text)
		}
		mebibytes = n
	}
	data, err := io.ReadAll(io.LimitReader(r, mebibytes<<20+1))
	if err == nil && int64(len(data)) > mebibytes<<20 {
		return nil, fmt.Errorf("it has more than %d MiB, the most that is read of a record; %s=%d in the environment reads up to twice as much",
			mebibytes, maxVariable, 2*mebibytes)
	}
	return data, err
}

// Begun is the header of the run log at path, with the peaks that stand after it; nil where
// there is none that can be resumed. [Open] says why.
func Begun(path string) *Header {
	f, err := files.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := readBounded(f)
	if err != nil || !looksLikeLog(data) {
		return nil
	}
	last := lastPart(data[:bytes.LastIndexByte(data, '\n')+1])
	c := logContent{line: last.line}
	if _, err := c.readHeader(last.data); err != nil || len(c.damaged) > 0 {
		return nil
	}
	if at := bytes.LastIndex(last.data, []byte("\n"+peaksBeginning)); at >= 0 {
		line, _, _ := bytes.Cut(last.data[at+1:], []byte{'\n'})
		var late struct{ Peaks *hardware.Peaks }
		if json.Unmarshal(line, &late) == nil && late.Peaks != nil {
			c.header.Device.Peaks = late.Peaks
		}
	}
	return &c.header
}
