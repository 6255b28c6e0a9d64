package record

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/ndtune/ndtune/internal/files"
)

var errNotLog = errors.New("the file is no run log; it was left as it is. Name another file")

// Open creates the run log at path, with the folders that it stands in, or resumes the one
// that is there. A torn last line is cut off. The caller must close the log.
//
// A log of another problem (by its digest), of another search space or of another kind of
// device is refused, and so are a file of another kind, a log with a line that cannot be
// read, and a log that another Log writes to, in this process or in any other. Then the
// file is as it was.
func Open(path string, h Header) (*Log, error) {
	l, err := open(path, h)
	if err != nil {
		return nil, fmt.Errorf("open the run log %s: %w", path, withoutPath(err))
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
	if err := l.resume(); err != nil {
		return nil, err
	}
	if len(l.content) == 0 {
		return l, l.write(first)
	}
	return l, nil
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

// resume reads what is in the file and cuts off what is torn. An empty file and a torn
// header leave no content.
func (l *Log) resume() error {
	data, err := l.read()
	if err != nil {
		return err
	}
	if len(data) == 0 {
		return nil
	}
	if isTornHeader(data) {
		return l.file.Truncate(0)
	}
	content, err := readLog(data, false, func(h Header) (*layout, error) { return l.layout, sameRun(h, l.header) })
	if err != nil {
		return err
	}
	l.header = content.header
	l.previous = content.results
	for _, r := range content.results {
		d, err := l.layout.digits(r.Configuration)
		if err != nil {
			return err
		}
		l.known[d.key()] = true
	}
	l.session = content.session + 1
	l.content = data[:content.whole]
	if len(l.content) == len(data) {
		return nil
	}
	return l.file.Truncate(int64(len(l.content)))
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
