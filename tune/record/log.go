package record

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/space"
)

// A Log is an open run log. [Open] makes one; Close must be called when the run is over.
// It can be used by several goroutines at once.
//
// A Log holds the lock of its file, which vanishes with the process, however that ends.
// Nobody else may write to the file; everybody can read it. If it disappears, is replaced or is
// changed all the same, Append and [Log.Check] return an error.
type Log struct {
	path     string
	header   Header
	layout   *layout
	previous []tune.Result
	reused   Reuse

	mutex   sync.Mutex
	file    *os.File
	info    os.FileInfo // of the file when it was opened
	unlock  func() error
	known   map[string]bool // configurations that have a result, by the keys of indices
	session int             // of the final measurements
	content []byte          // what the file has to hold
	buffer  []byte
	broken  error        // a torn line could not be cut off: nothing can be appended any more
	follow  func([]byte) // see Follow; nil: nobody does
}

var _ tune.Log = (*Log)(nil)

// Path is the path that the log was opened with.
func (l *Log) Path() string { return l.path }

// Header is the header of the run that began the log in this search space.
func (l *Log) Header() Header { return l.header }

// Previous are the results that the log held when it was opened, each configuration once,
// with the values of the header's parameters.
func (l *Log) Previous() []tune.Result { return l.previous }

// Append adds a result. When it returns without an error, the result survives the end of
// the process, however that comes. After an error the log is as it was before. Of two
// results of one configuration the first counts.
func (l *Log) Append(r tune.Result) error {
	return l.append(r.Configuration, entry{kind: kindResult, result: r}, "")
}

// Withdraw takes back the result of a configuration: a line says that it counts no more. Another
// result of it can be appended then.
func (l *Log) Withdraw(r tune.Result) error {
	return l.append(r.Configuration, entry{kind: kindWithdrawn}, "there is no result to take back")
}

// AppendFinal adds the final measurement of a result that was appended before, in this
// session or in an earlier one. It takes the place of all those of earlier sessions.
func (l *Log) AppendFinal(r tune.Result) error {
	final := tune.Result{Times: r.Final, Reason: r.FinalFailure, Compared: r.Compared, FinalDevice: r.FinalDevice, Readings: r.FinalReadings, AtFinal: r.AtFinal}
	return l.append(r.Configuration, entry{kind: kindFinal, session: l.session, result: final}, "a final measurement without a result")
}

// append adds a line about a configuration. If the log has no result of it, the error is unknown,
// unless that is empty.
func (l *Log) append(c space.Configuration, p entry, unknown string) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	d, err := l.layout.indices(c)
	if err == nil && unknown != "" && !l.known[d.key()] {
		err = errors.New(unknown)
	}
	if err == nil {
		p.configuration = configured{l.layout, d}
		l.buffer, err = p.append(l.buffer[:0])
	}
	if err == nil {
		err = l.write(endLine(l.buffer))
	}
	if err != nil {
		return l.cannotAppend(err)
	}
	if p.kind == kindWithdrawn {
		delete(l.known, d.key())
	} else {
		l.known[d.key()] = true
	}
	return nil
}

func (l *Log) cannotAppend(err error) error {
	return fmt.Errorf("append to the run log %s: %w", l.path, files.WithoutPath(err))
}

// write adds a whole line in one call, so that a reader sees all of it or, at worst, a
// torn end. A line that was written in part, on a full disk, is cut off again.
func (l *Log) write(line []byte) error {
	switch {
	case l.unlock == nil:
		return os.ErrClosed
	case l.broken != nil:
		return l.broken
	}
	if err := l.harm(); err != nil {
		return err
	}
	_, err := l.file.WriteAt(line, int64(len(l.content)))
	if err == nil {
		if l.content = append(l.content, line...); l.follow != nil {
			l.follow(line)
		}
		return nil
	}
	// Whatever it says of how much was written: os.File counts a short write as nothing.
	if cut := l.file.Truncate(int64(len(l.content))); cut != nil {
		l.broken = fmt.Errorf("an earlier line is torn and could not be cut off: %w", cut)
	}
	return err
}

// Check returns an error if the file is not as the log has left it, so that it may not hold all that was appended.
func (l *Log) Check() error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if err := l.harm(); err != nil {
		return fmt.Errorf("the run log %s is lost: %w", l.path, err)
	}
	return nil
}

// harm says what others have done to the file since the log last wrote to it. A network file system may still show a file
// that another machine has removed: then a later call finds out.
func (l *Log) harm() error {
	there, err := os.Stat(l.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("the file disappeared while the run was going on")
	case err != nil:
		return files.WithoutPath(err)
	case !os.SameFile(l.info, there):
		return errors.New("another file has taken its place while the run was going on")
	case there.Size() != int64(len(l.content)):
		return errors.New("another program has changed it while the run was going on")
	}
	return nil
}

// Follow calls a function with the lines that the log has of its search space, and from now on with each line that is appended.
// The function must not keep them.
func (l *Log) Follow(follow func(lines []byte)) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	follow(lastPart(l.content).data)
	l.follow = follow
}

// Close gives the file and its lock back.
func (l *Log) Close() error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if err := l.release(); err != nil {
		return fmt.Errorf("close the run log %s: %w", l.path, files.WithoutPath(err))
	}
	return nil
}

func (l *Log) release() (err error) {
	if l.unlock != nil {
		err = l.unlock()
		l.unlock = nil
	}
	return cmp.Or(err, l.file.Close())
}

var errNotLog = errors.New("the file is no run log; it was left as it is. Name another file")

// Open creates the run log at path, with the folders that it stands in, or resumes the one
// that is there. A torn last line is cut off. The caller must close the log.
//
// A log of another problem (by its digest), of another search space or of another kind of
// device is refused, and so are a file of another kind, a log with a line that cannot be
// read, and a log that another Log writes to, in this process or in any other. Then the
// file is as it was. [OpenReusing] takes logs of other search spaces.
func Open(path string, h Header) (*Log, error) {
	l, err := open(path, h)
	if err != nil {
		return nil, fmt.Errorf("open the run log %s: %w", path, files.WithoutPath(err))
	}
	return l, nil
}

func open(path string, h Header) (_ *Log, err error) {
	layout, err := newLayout(h.Parameters)
	if err != nil {
		return nil, err
	}
	first, h, err := h.line()
	if err != nil {
		return nil, err
	}
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	l := &Log{path: path, header: h, layout: layout, known: map[string]bool{}, file: f, session: 1}
	defer func() {
		if err != nil {
			_ = l.Close()
		}
	}()
	if l.unlock, err = files.Lock(f); err != nil {
		return nil, fmt.Errorf("lock it: %w", err)
	}
	if l.info, err = f.Stat(); err != nil {
		return nil, err
	}
	return l, l.resume(first)
}

// openFile opens a regular file for reading and writing, or creates it. It does not open for
// appending: Windows could not cut such a file.
func openFile(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		if info.IsDir() {
			return nil, errors.New("it is a folder")
		}
		return nil, errors.New("it is not a regular file")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
}

// resume reads what is in the file, and cuts off what is torn. A file without a header gets the first one.
func (l *Log) resume(first []byte) error {
	data, err := l.read()
	if err != nil {
		return err
	}
	if len(data) == 0 || isTornHeader(data) {
		if err := l.file.Truncate(0); err != nil {
			return err
		}
		return l.write(first)
	}
	p := lastPart(data)
	content, err := readPart(p, false, func(h Header) (*layout, error) { return l.layout, sameRun(h, l.header) })
	if err != nil {
		return err
	}
	l.header, l.previous, l.session = content.header, content.results, content.session+1
	for _, r := range content.results {
		d, err := l.layout.indices(r.Configuration)
		if err != nil {
			return err
		}
		l.known[d.key()] = true
	}
	l.content = data[:p.begin+bytes.LastIndexByte(p.data, '\n')+1]
	if len(l.content) < len(data) {
		return l.file.Truncate(int64(len(l.content)))
	}
	return nil
}

// read reads the file if it is a run log, or what can be the beginning of one.
func (l *Log) read() ([]byte, error) {
	head := make([]byte, headLength)
	n, err := l.file.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if head = head[:n]; !looksLikeLog(head) && !isTornHeader(head) {
		return nil, errNotLog
	}
	return readBounded(io.NewSectionReader(l.file, 0, 1<<62))
}
