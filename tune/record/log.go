package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/ndtune/ndtune/tune"
)

// A Log is an open run log. [Open] makes one; Close must be called when the run is over.
// It can be used by several goroutines at once.
//
// A Log holds the lock of its file, which vanishes with the process, however that ends.
// Nobody else may write to the file; everybody can read it. A file that disappears, is cut or
// is replaced all the same is written anew from memory. Where that fails, Append goes on in
// memory and tries again each time; [Log.Check] has the error.
type Log struct {
	path     string
	header   Header
	layout   *layout
	previous []tune.Result

	mutex   sync.Mutex
	file    *os.File
	unlock  func() error
	known   map[string]bool // configurations that have a result, by the keys of digits
	session int             // of the final measurements
	content []byte          // what the file has to hold
	buffer  []byte
	broken  error        // a torn line could not be cut off: nothing can be appended any more
	lost    error        // why the file does not hold the content, after it was lost; nil: it does
	notify  func(string) // see Notify
}

var _ tune.Log = (*Log)(nil)

// Path is the path that the log was opened with.
func (l *Log) Path() string { return l.path }

// Header is the first line of the log: that of the run that began it.
func (l *Log) Header() Header { return l.header }

// Previous are the results that the log held when it was opened, each configuration once,
// with the values of the header's parameters.
func (l *Log) Previous() []tune.Result { return l.previous }

// Resumed is the number of results that the log held when it was opened.
func (l *Log) Resumed() int { return len(l.previous) }

// Append adds a result. When it returns without an error, the result survives the end of
// the process, however that comes. After an error the log is as it was before. Of two
// results of one configuration the first counts.
func (l *Log) Append(r tune.Result) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	d, err := l.layout.digits(r.Configuration)
	if err == nil {
		l.buffer, err = l.layout.appendResult(l.buffer[:0], d, &r)
	}
	if err == nil {
		err = l.write(endLine(l.buffer))
	}
	if err != nil {
		return l.cannotAppend(err)
	}
	l.known[d.key()] = true
	return nil
}

// Withdraw takes back the result of a configuration: a line says that it counts no more. Another
// result of it can be appended then.
func (l *Log) Withdraw(r tune.Result) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	d, err := l.layout.digits(r.Configuration)
	if err == nil && !l.known[d.key()] {
		err = errors.New("there is no result to take back")
	}
	if err == nil {
		l.buffer = l.layout.appendWithdrawn(l.buffer[:0], d)
		err = l.write(endLine(l.buffer))
	}
	if err != nil {
		return l.cannotAppend(err)
	}
	delete(l.known, d.key())
	return nil
}

// AppendFinal adds the final measurement of a result that was appended before, in this
// session or in an earlier one. It takes the place of all those of earlier sessions.
func (l *Log) AppendFinal(r tune.Result) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	d, err := l.layout.digits(r.Configuration)
	if err == nil && !l.known[d.key()] {
		err = errors.New("a final measurement without a result")
	}
	if err == nil {
		l.buffer = l.layout.appendFinal(l.buffer[:0], d, &r, l.session)
		err = l.write(endLine(l.buffer))
	}
	if err != nil {
		return l.cannotAppend(err)
	}
	return nil
}

func (l *Log) cannotAppend(err error) error {
	return fmt.Errorf("append to the run log %s: %w", l.path, withoutPath(err))
}

// withoutPath leaves out the path of an error of the operating system, which stands in the
// message already.
func withoutPath(err error) error {
	if path, ok := err.(*fs.PathError); ok {
		return path.Err
	}
	return err
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
	if l.mend(); l.lost != nil {
		l.content = append(l.content, line...)
		return nil
	}
	_, err := l.file.WriteAt(line, int64(len(l.content)))
	if err == nil {
		l.content = append(l.content, line...)
		return nil
	}
	// Whatever it says of how much was written: os.File counts a short write as nothing.
	if cut := l.file.Truncate(int64(len(l.content))); cut != nil {
		l.broken = fmt.Errorf("an earlier line is torn and could not be cut off: %w", cut)
	}
	return err
}

// Close gives the file and its lock back.
func (l *Log) Close() error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	var err error
	if l.unlock != nil {
		err = l.unlock()
		l.unlock = nil
	}
	if closing := l.file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return fmt.Errorf("close the run log %s: %w", l.path, withoutPath(err))
	}
	return nil
}
