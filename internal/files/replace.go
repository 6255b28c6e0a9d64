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
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Write replaces the file at path by what write writes, as [Create] and Commit do. After an
// error the file is as it was.
func Write(path string, write func(io.Writer) error) error {
	r, err := Create(path)
	if err != nil {
		return err
	}
	defer r.Discard()
	if err := write(r); err != nil {
		return err
	}
	return r.Commit()
}

// WritePrivate is Write for a file that only its owner may read.
func WritePrivate(path string, content []byte) error {
	r, err := create(path, 0o600)
	if err != nil {
		return err
	}
	defer r.Discard()
	if _, err := r.Write(content); err != nil {
		return err
	}
	return r.Commit()
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
	}
	removeAbandoned(path)
	temporary := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%d", filepath.Base(path), os.Getpid()))
	f, err := os.OpenFile(temporary, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, err
	}
	r := &Replacement{file: f, path: path, temporary: temporary}
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
func (r *Replacement) Write(b []byte) (int, error) { return r.file.Write(b) }

// Commit puts the new content, which is on the disk by then, in the place of the file.
func (r *Replacement) Commit() error {
	if r.temporary == "" {
		return r.file.Close()
	}
	err := r.file.Sync()
	if err = errors.Join(err, r.file.Close()); err == nil { // Windows renames no open file
		err = os.Rename(r.temporary, r.path)
	}
	if err != nil {
		_ = os.Remove(r.temporary)
	}
	return err
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

var processID = regexp.MustCompile(`^[1-9][0-9]{0,9}$`)

// removeAbandoned removes the temporary files for path that no process holds.
func removeAbandoned(path string) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return // creating a file there will say why
	}
	for _, e := range entries {
		id, ok := strings.CutPrefix(e.Name(), "."+filepath.Base(path)+".")
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
