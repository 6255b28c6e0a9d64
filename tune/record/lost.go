package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/ndtune/ndtune/internal/files"
)

// Notify sets a function that is told, for people, when the file of the log was lost, and what
// was done about it. It is called by Append and Check. Without it nobody is told.
func (l *Log) Notify(notify func(text string)) { l.notify = notify }

// Check makes sure that the file holds all that was appended: it writes the file anew where it
// was lost, or returns why it cannot.
func (l *Log) Check() error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.mend(); l.lost != nil {
		return fmt.Errorf("the run log %s is lost: %w", l.path, l.lost)
	}
	return nil
}

// mend writes the file anew where it is not as the log has left it, and sets lost.
func (l *Log) mend() {
	harm := l.harm()
	if l.unlock == nil || l.lost == nil && harm == "" {
		return // it is closed, or as it should be
	}
	before := l.lost
	kept, err := l.restore()
	l.lost = files.WithoutPath(err)
	if l.notify == nil {
		return
	}
	switch {
	case err == nil && before != nil:
		l.notify(fmt.Sprintf("The run log %s could be written anew; nothing is missing.", l.path))
	case err == nil:
		l.notify(fmt.Sprintf("The run log %s %s while the run was going on. It was written anew; nothing is missing.", l.path, harm))
	case before == nil:
		l.notify(fmt.Sprintf("The run log %s %s while the run was going on, and cannot be written anew: %v. "+
			"The run goes on, and keeps its results in memory.", l.path, harm, l.lost))
	}
	if kept != "" {
		l.notify(fmt.Sprintf("What stood there in its place is kept as %s.", kept))
	}
}

// harm says what has become of the file since the log last wrote to it; "": nothing.
//
// A network file system may still show a file that another machine has removed: then a later
// call finds out.
func (l *Log) harm() string {
	opened, err := l.file.Stat()
	var there fs.FileInfo
	if err == nil {
		there, err = os.Stat(l.path)
	}
	switch end := int64(len(l.content)); {
	case errors.Is(err, fs.ErrNotExist):
		return "disappeared"
	case err != nil:
		return fmt.Sprintf("could not be reached any more (%v)", files.WithoutPath(err))
	case !os.SameFile(opened, there):
		return "was replaced by another file"
	case opened.Size() < end:
		return "was cut"
	case opened.Size() > end:
		return "was written to by another program"
	}
	return ""
}

// restore writes the content to the file at the path, which it creates and locks where it is not
// the one that is open. What others have written there is copied beside it first, to the file
// kept.
func (l *Log) restore() (kept string, err error) {
	file, unlock := l.file, l.unlock
	opened, err := file.Stat()
	there, errThere := os.Stat(l.path)
	if err != nil || errThere != nil || !os.SameFile(opened, there) {
		if file, err = openFile(l.path); err != nil {
			return "", err
		}
		if unlock, err = files.Lock(file); err != nil {
			_ = file.Close()
			return "", err
		}
		defer func() {
			if err != nil {
				_, _ = unlock(), file.Close()
			}
		}()
	}
	if kept, err = l.keepForeign(file); err != nil {
		return "", err
	}
	if _, err = file.WriteAt(l.content, 0); err != nil {
		return kept, err
	}
	if err = errors.Join(file.Truncate(int64(len(l.content))), file.Sync()); err != nil {
		return kept, err
	}
	if file != l.file {
		_, _ = l.unlock(), l.file.Close() // what was in it stands in the new one
		l.file, l.unlock = file, unlock
	}
	return kept, nil
}

// keepForeign copies what is in the file, unless the log wrote it, to a new file beside it.
func (l *Log) keepForeign(file *os.File) (kept string, err error) {
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	found := io.NewSectionReader(file, 0, info.Size())
	if info.Size() <= int64(len(l.content)) {
		data, err := io.ReadAll(found)
		if err != nil || bytes.HasPrefix(l.content, data) {
			return "", err
		}
		_, _ = found.Seek(0, io.SeekStart)
	}
	return keepCopy(l.path+".found", found, info.Mode())
}

// keepCopy copies r to a new file, at path or with a number after it, and returns its path.
func keepCopy(path string, r io.Reader, mode fs.FileMode) (string, error) {
	name := path
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode.Perm())
	for n := 2; errors.Is(err, fs.ErrExist); n++ {
		name = fmt.Sprintf("%s-%d", path, n)
		f, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode.Perm())
	}
	if err != nil {
		return "", err
	}
	_, err = io.Copy(f, r)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		_ = os.Remove(name)
		return "", err
	}
	return name, nil
}
