package record

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/space"
)

// An encoding is a format that records are written in.
type encoding struct {
	name      string
	extension string // empty: only by name
	encode    func(io.Writer, *Record) error
	lacks     string // the data of a run log that it cannot hold
}

var encodings = []encoding{
	{"t4", ".json", EncodeT4, ""},
	{"csv", ".csv", EncodeCSV, "the header (digests, kernel, device, constants, sizes, baseline, strategy, seed), the order of the parameters' values, " +
		"sizes of launches, and uncertainties of observed quantities; ndtune does not read it back"},
	{"log", ".jsonl", EncodeLog, ""},
	{"cache", "", EncodeCache, "the header but for the names of kernel, device and objective, the problem size and the parameters; reasons of failures, " +
		"timeouts and wrong outputs as such, sizes of launches, the final measurement, which device measured, marks of being measured once, " +
		"and uncertainties of observed quantities"},
}

// Formats are the names that [WriteAs] knows: «t4», «csv», «log» for a run log, and «cache»
// for a Kernel Tuner cache file.
func Formats() []string {
	return each.Of(encodings, func(e encoding) string { return e.name })
}

// Write writes a record in the format that the extension of path stands for: see [FormatOf] and
// [WriteAs].
func Write(path string, r *Record) error {
	format, err := FormatOf(path)
	if err != nil {
		return err
	}
	return WriteAs(path, r, format)
}

// WriteAs writes a record in a format that is named, one of [Formats], whatever the extension; a
// path that ends in .gz is gzipped. The file appears, with the folders that it stands in, when it
// is complete: what was there before is replaced as a whole or, after an error, not at all.
func WriteAs(path string, r *Record, format string) error {
	e, err := encodingNamed(format)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o777)
	}
	if err == nil {
		err = files.Write(path, func(w io.Writer) error {
			if !strings.HasSuffix(strings.ToLower(path), ".gz") {
				return e.encode(w, r)
			}
			z := gzip.NewWriter(w)
			return cmp.Or(e.encode(z, r), z.Close())
		})
	}
	return writing(path, err)
}

// Lacks lists, for people, the data of a run log that a format, one of [Formats], cannot hold. It is "" if the format holds all.
func Lacks(format string) string {
	e, _ := encodingNamed(format)
	return e.lacks
}

// CheckFormat says whether a format is one of [Formats].
func CheckFormat(format string) error {
	_, err := encodingNamed(format)
	return err
}

func encodingNamed(format string) (encoding, error) {
	i := slices.IndexFunc(encodings, func(e encoding) bool { return e.name == format })
	if i < 0 {
		return encoding{}, fmt.Errorf("no format is named %q%s (there are %s)", format, nearest.Hint(format, Formats()), strings.Join(Formats(), ", "))
	}
	return encodings[i], nil
}

// FormatOf is the format, one of [Formats], that the extension of path stands for: .json is T4, .csv
// a table, .jsonl a run log; each can be followed by .gz. Another extension is an error, which
// callers can find before anything is measured.
func FormatOf(path string) (string, error) {
	name := strings.ToLower(filepath.Base(path))
	extension := filepath.Ext(strings.TrimSuffix(name, ".gz"))
	for _, e := range encodings {
		if e.extension != "" && e.extension == extension {
			return e.name, nil
		}
	}
	return "", writing(path, errors.New("the extension says no format; known are .json (T4), .csv and .jsonl (run log), each also with .gz"))
}

func writing(path string, err error) error {
	if err != nil {
		return fmt.Errorf("write results to %s: %w", path, files.WithoutPath(err))
	}
	return nil
}

// EncodeLog writes a record as a run log, whatever it was read from. The log of a record
// that was read from one can be resumed.
func EncodeLog(w io.Writer, r *Record) error {
	h := r.Header
	h.Reused = min(h.Reused, len(r.Results))
	first, header, err := h.line()
	if err != nil {
		return err
	}
	return r.encode(w, header.Parameters, first, "", func(b []byte, of *layout, d indices, i int) ([]byte, error) {
		p := entry{kind: kindResult, configuration: configured{of, d}, result: r.Results[i]}
		b, err := p.append(b)
		return endLine(b), err
	})
}

// An appendResult appends result i of a record, whose configuration is d.
type appendResult func(b []byte, of *layout, d indices, i int) ([]byte, error)

// encode writes what a file begins with, each result, and the end. The parameters are those that configurations are written with.
func (r *Record) encode(w io.Writer, parameters []space.Parameter, begin []byte, end string, each appendResult) error {
	l, err := newLayout(parameters)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 1<<16)
	_, _ = out.Write(begin)
	var b []byte
	for i := range r.Results {
		d, err := l.indices(r.Results[i].Configuration)
		if err == nil {
			b, err = each(b[:0], l, d, i)
		}
		if err != nil {
			return err
		}
		_, _ = out.Write(b)
	}
	_, _ = out.WriteString(end)
	return out.Flush() // an error of any write comes again here
}

// ranks are the places of the results in their [tune.Ranking], from 1; 0 of those that have none.
// They are nil where there was no final measurement: the objectives of the search tell the order.
func (r *Record) ranks() []int {
	ranking := tune.Rank(r.Header.Objective, r.Results)
	if ranking.Finalists == 0 {
		return nil
	}
	ranks := make([]int, len(r.Results))
	for i, place := range ranking.Indices {
		ranks[place] = i + 1
	}
	return ranks
}
