// Package files opens the files that a user names as input, replaces files as a whole, and
// locks files that one process at a time may write to.
//
// Input files are regular files: to open a FIFO waits until somebody writes to it, and a device
// such as /dev/zero has no end.
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
)

// Write replaces the file at path by what write writes, as [Create] and Commit do. After an
// error the file is as it was.
func Write(path string, write func(io.Writer) error) error { return replace(path, 0o666, write) }

// WritePrivate is Write for a file that only its owner may read.
func WritePrivate(path string, content []byte) error {
	return replace(path, 0o600, func(w io.Writer) error { _, err := w.Write(content); return err })
}

func replace(path string, mode os.FileMode, write func(io.Writer) error) error {
	r, err := create(path, mode)
	if err != nil {
		return err
	}
	defer r.Discard()
	if err := write(r); err != nil {
		return err
	}
	return r.Commit()
}

// Check finds out whether Write could write to path, and leaves all as it is. Of a pipe or a device it cannot
// tell: to open one may wait for a reader.
func Check(path string) error {
	if info, err := os.Stat(path); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return nil
	}
	r, err := Create(path)
	if err == nil {
		r.Discard()
	}
	return err
}

// A Replacement is the new content of a file. [Create] makes one; either Commit or Discard must
// be called.
type Replacement struct {
	file      *os.File
	path      string // of the file that it replaces
	temporary string // "": it is written to the file itself, a pipe or a terminal
}

// Create begins a replacement of the file at path, in a file beside it. A link is followed: its
// target is replaced, and may be missing. The mode of an existing file is kept. A pipe or a
// device cannot be replaced and is written to. Create removes the temporary files of
// replacements of this file whose processes were killed.
//
// A file that can be written to but not replaced, because it is mounted or its folder is read-only, is overwritten
// by Commit.
func Create(path string) (*Replacement, error) { return create(path, 0o666) }

// create is Create. A new file has the mode, without the bits of the umask.
func create(path string, mode os.FileMode) (*Replacement, error) {
	path, err := followLinks(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	exists := err == nil
	switch {
	case exists && info.IsDir():
		return nil, errors.New("it is a folder")
	case exists && !info.Mode().IsRegular():
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		return &Replacement{file: f, path: path}, err
	case !exists && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	own, unwritable := os.OpenFile(path, os.O_WRONLY, 0)
	_ = own.Close()                                                                   // of no file, too
	if errors.Is(unwritable, syscall.EROFS) || errors.Is(unwritable, syscall.EPERM) { // it cannot be replaced, either
		return nil, unwritable
	}
	removeAbandoned(path)
	folder := filepath.Dir(path)
	f, err := os.OpenFile(filepath.Join(folder, temporaryPrefix(path)+strconv.Itoa(os.Getpid())), os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	if unwritable == nil && isFixed(err) {
		f, err = os.CreateTemp("", "ndtune")
	}
	if err != nil {
		return nil, fmt.Errorf("make a file in %s: %w", folder, WithoutPath(err))
	}
	r := &Replacement{file: f, path: path, temporary: f.Name()}
	if _, err := Lock(f); errors.Is(err, ErrInUse) {
		r.Discard()
		return nil, err
	} // where files cannot be locked at all, nobody removes it either
	if exists {
		_ = f.Chmod(info.Mode().Perm()) // as far as the file system has modes
	}
	return r, nil
}

// Write adds to the new content.
func (r *Replacement) Write(b []byte) (int, error) {
	n, err := r.file.Write(b)
	return n, WithoutPath(err)
}

// Commit puts the new content, which is on the disk by then, in the place of the file.
func (r *Replacement) Commit() error {
	if r.temporary == "" {
		return r.file.Close()
	}
	err := r.file.Sync()
	if err = errors.Join(err, r.file.Close()); err == nil { // Windows renames no open file
		if err = os.Rename(r.temporary, r.path); isFixed(err) {
			return r.overwrite()
		}
	}
	if err != nil {
		_ = os.Remove(r.temporary)
	}
	return err
}

// isFixed reports whether an error says that a name cannot be given to another file.
func isFixed(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EBUSY) || errors.Is(err, syscall.EXDEV)
}

// overwrite writes the new content into the file. After an error, the temporary file stays.
func (r *Replacement) overwrite() error {
	content, err := os.ReadFile(r.temporary)
	if err == nil {
		err = os.WriteFile(r.path, content, 0o666)
	}
	if err != nil {
		return fmt.Errorf("%w; what it should hold is in %s", err, r.temporary)
	}
	return os.Remove(r.temporary)
}

// Discard leaves the file as it was. After Commit it does nothing.
func (r *Replacement) Discard() {
	if err := r.file.Close(); err == nil && r.temporary != "" {
		_ = os.Remove(r.temporary)
	}
}

// followLinks is the path of the file that a path leads to, which need not exist.
func followLinks(path string) (string, error) {
	for range 40 {
		to, err := os.Readlink(path)
		if err != nil {
			return path, nil // it is no link
		}
		if !filepath.IsAbs(to) {
			folder, err := filepath.EvalSymlinks(filepath.Dir(path))
			if err != nil {
				return "", err
			}
			to = filepath.Join(folder, to)
		}
		path = to
	}
	return "", errors.New("it is a link to a link, too often")
}

// temporaryPrefix is the name of the temporary files for path, up to the number of the process. Of a long name it has the
// end, as file systems allow 255 bytes.
func temporaryPrefix(path string) string {
	base := filepath.Base(path)
	return "." + strings.ToValidUTF8(base[max(0, len(base)-240):], "") + "."
}

var processID = regexp.MustCompile(`^[1-9][0-9]{0,9}$`)

// removeAbandoned removes the temporary files for path that no process holds.
func removeAbandoned(path string) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return // creating a file there will say why
	}
	for _, e := range entries {
		id, ok := strings.CutPrefix(e.Name(), temporaryPrefix(path))
		if !ok || !e.Type().IsRegular() || !processID.MatchString(id) {
			continue
		}
		abandoned := filepath.Join(filepath.Dir(path), e.Name())
		f, err := os.OpenFile(abandoned, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		_, err = Lock(f)
		_ = f.Close() // Windows removes no open file
		if err == nil {
			_ = os.Remove(abandoned)
		}
	}
}
