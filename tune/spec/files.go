package spec

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	disk "github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/internal/nearest"
)

// files is where a specification and the files that it names are read from: the operating
// system, or an fs.FS. Names in a specification have slashes and are relative to the
// folder of the file that they stand in.
type files struct {
	fsys fs.FS // nil: the operating system
}

// beside is the path of a name that stands in a file.
func (f files) beside(file, name string) string {
	if f.fsys != nil {
		return path.Join(path.Dir(file), name)
	}
	name = filepath.FromSlash(name)
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(file), name)
}

// maxFileSize keeps a mistaken argument, a recorded space say, from being read for minutes.
const maxFileSize = 4 << 20

// read returns the content of a regular file. Its errors do not repeat the path.
func (f files) read(name string) ([]byte, error) {
	file, err := f.open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFileSize+1))
	if err == nil && len(text) > maxFileSize {
		return nil, fmt.Errorf("it has more than the %d bytes that are read", maxFileSize)
	}
	return text, withoutPath(err)
}

// open opens a regular file.
func (f files) open(name string) (file fs.File, err error) {
	if err := f.checkRegular(name); err != nil {
		return nil, err
	}
	if f.fsys == nil {
		file, err = os.Open(name)
	} else if name, err = inside(name); err == nil {
		file, err = f.fsys.Open(name)
	}
	return file, withoutPath(err)
}

// checkRegular returns an error unless a name is that of a regular file.
func (f files) checkRegular(name string) error {
	info, err := f.stat(name)
	if err != nil {
		return err
	}
	return disk.CheckRegular(info)
}

func (f files) stat(name string) (fs.FileInfo, error) {
	if f.fsys == nil {
		info, err := os.Stat(name)
		return info, withoutPath(err)
	}
	clean, err := inside(name)
	if err != nil {
		return nil, err
	}
	info, err := fs.Stat(f.fsys, clean)
	return info, withoutPath(err)
}

// inside is a path in the form that an fs.FS takes. What lies outside of it does not exist.
func inside(name string) (string, error) {
	clean := path.Clean(filepath.ToSlash(name))
	if !fs.ValidPath(clean) {
		return "", fs.ErrNotExist
	}
	return clean, nil
}

func withoutPath(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// explain says what is wrong with a file that could not be read, and which file was
// probably meant where there is none.
func (f files) explain(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &missingFile{fmt.Sprintf("there is no file %s%s", name, nearest.Hint(filepath.Base(name), f.neighbours(name))), err}
	}
	return fmt.Errorf("read %s: %w", name, err)
}

// missingFile keeps the cause, whose own words say nothing more.
type missingFile struct {
	message string
	err     error
}

func (e *missingFile) Error() string { return e.message }
func (e *missingFile) Unwrap() error { return e.err }

// neighbours are the names of what else stands in the folder of a file.
func (f files) neighbours(name string) []string {
	var entries []fs.DirEntry
	if f.fsys == nil {
		entries, _ = os.ReadDir(filepath.Dir(name))
	} else if dir, err := inside(filepath.Dir(name)); err == nil {
		entries, _ = fs.ReadDir(f.fsys, dir)
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}
