package record

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/space"
)

// A run log can go on with another search space, after values of parameters or restrictions have changed, or with another clock.
// Then a new log takes its place, with the results that the new space has. The older log stays beside it, under a name with the
// beginning of its digest, and the header names it: results that the new space does not have are known again if a later space has them.

// A Reuse says what a run log had of older search spaces, or of another clock, when it went on.
type Reuse struct {
	Held     int           // results of older spaces
	Known    int           // those of them that the space has
	Outdated []tune.Result // correct ones that another clock has timed: they are to be timed again
}

// Reuse says what [OpenReusing] found of older search spaces; zero: the log was new, or of this space.
func (l *Log) Reuse() Reuse { return l.reused }

// OpenReusing is [Open], but it takes the log of a search in another space too, in which values of parameters or
// restrictions were others: see [problem.Problem.MeasurementDigest]. The results that the space has are those of Previous.
// The function reports whether a result, of values that the parameters have, is one of the space.
func OpenReusing(path string, h Header, has func(tune.Result) bool) (*Log, error) {
	old := Begun(path)
	if old == nil || !goesOn(*old, h) {
		return Open(path, h)
	}
	l, err := Open(path, *old)
	if err != nil {
		return nil, err
	}
	if err := l.goOn(h, has); err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("open the run log %s: %w", path, files.WithoutPath(err))
	}
	return l, nil
}

// InOtherSpace reports whether two headers are of one problem, but for the search space.
func (h Header) InOtherSpace(other Header) bool {
	return h.Digest != other.Digest && h.MeasurementDigest != "" && h.MeasurementDigest == other.MeasurementDigest
}

// goesOn reports whether a log with the header have goes on with the header want: in another space, or by the host's clock.
func goesOn(have, want Header) bool {
	retimed := have.Device.Timer == hardware.TimerEvent && want.Device.Timer == hardware.TimerHost
	if retimed {
		have.Device.Timer = want.Device.Timer
	}
	return (have.InOtherSpace(want) || retimed && have.Digest == want.Digest) && have.Iterations == want.Iterations && hardware.SameKind(have.Device, want.Device) == nil
}

// ByHost goes on with launches that the host's clock times. The log has the failures so far, of which the function tells the results of
// the search space: see [OpenReusing].
func (l *Log) ByHost(has func(tune.Result) bool) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	h := l.header
	h.Device.Timer = hardware.TimerHost
	if err := l.goOn(h, has); err != nil {
		return l.cannotAppend(err)
	}
	if l.follow != nil {
		l.follow(l.content)
	}
	return nil
}

// goOn puts a log with another header, and with the results that its space has, in the place of this one, which it keeps beside it.
func (l *Log) goOn(h Header, has func(tune.Result) bool) error {
	if err := l.harm(); err != nil {
		return err
	}
	base, folder := strings.TrimSuffix(filepath.Base(l.path), ".jsonl"), filepath.Dir(l.path)
	beside := fmt.Sprintf("%s.%.8s.jsonl", base, l.header.Digest)
	h.Older = slices.DeleteFunc(slices.Clone(l.header.Older), func(name string) bool { return name == beside })
	logs := [][]byte{l.content}
	for _, name := range h.Older {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read the log of an older space: %w", err)
		}
		logs = append(logs, data)
	}
	h.Older = append([]string{beside}, h.Older...)
	kept, reused, err := reuse(h, logs, has)
	if err != nil {
		return err
	}
	h.Reused = len(kept)
	err = files.Write(filepath.Join(folder, beside), func(w io.Writer) error { _, err := w.Write(l.content); return err })
	if err != nil {
		return fmt.Errorf("keep the log of the older space: %w", err)
	}
	if err := l.release(); err != nil { // Windows replaces no open file
		return err
	}
	if err := files.Write(l.path, func(w io.Writer) error { return EncodeLog(w, &Record{h, kept}) }); err != nil {
		return err
	}
	n, err := open(l.path, h)
	if err != nil {
		return err
	}
	l.header, l.layout, l.previous, l.known, l.session = n.header, n.layout, n.previous, n.known, n.session
	l.file, l.info, l.unlock, l.content, l.reused = n.file, n.info, n.unlock, n.content, reused
	return nil
}

// reuse returns what the space of a header has of the results in logs of other spaces, the newest first.
func reuse(h Header, logs [][]byte, has func(tune.Result) bool) (kept []tune.Result, n Reuse, err error) {
	own, err := newLayout(h.Parameters)
	if err != nil {
		return nil, n, err
	}
	seen := map[string]bool{} // also those that were taken back
	for _, data := range logs {
		if len(data) == 0 { // somebody has removed it
			continue
		}
		content, err := readPart(lastPart(data), false, layoutOf)
		if err != nil {
			return nil, n, fmt.Errorf("the log of an older space: %w", err)
		}
		for _, r := range content.results {
			key := identity(r.Configuration)
			if seen[key] {
				continue
			}
			seen[key] = true
			n.Held++
			d, err := own.indices(r.Configuration)
			if err != nil {
				continue
			}
			if r.Configuration = own.configuration(d); identity(r.Configuration) != key || !has(r) { // 1 and 1.0 are two values for a kernel
				continue
			}
			if r.Status == tune.Correct && content.header.Device.Timer != h.Device.Timer {
				n.Outdated = append(n.Outdated, r)
				continue
			}
			kept = append(kept, r)
		}
		for _, c := range content.withdrawn {
			seen[identity(c)] = true
		}
	}
	n.Known = len(kept)
	return kept, n, nil
}

// identity is a configuration as a map key, whatever the order of its parameters.
func identity(c space.Configuration) string {
	var key []byte
	for _, name := range slices.Sorted(slices.Values(c.Parameters().Names())) {
		v, _ := c.Get(name)
		key = fmt.Appendf(key, "%q=%T %q ", name, v, space.FormatValue(v))
	}
	return string(key)
}
