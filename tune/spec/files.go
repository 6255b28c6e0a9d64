package spec

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

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

// read returns the content of a file. Its errors do not repeat the path.
func (f files) read(name string) ([]byte, error) {
	info, err := f.stat(name)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errors.New("it is a folder, not a file")
	case info.Size() > maxFileSize:
		return nil, fmt.Errorf("it has %d bytes, more than the %d that are read", info.Size(), maxFileSize)
	}
	var text []byte
	if f.fsys != nil {
		text, err = fs.ReadFile(f.fsys, path.Clean(filepath.ToSlash(name)))
	} else {
		text, err = os.ReadFile(name)
	}
	return text, withoutPath(err)
}

func (f files) stat(name string) (fs.FileInfo, error) {
	if f.fsys == nil {
		info, err := os.Stat(name)
		return info, withoutPath(err)
	}
	clean := path.Clean(filepath.ToSlash(name))
	if !fs.ValidPath(clean) {
		return nil, fs.ErrNotExist // outside of the file system
	}
	info, err := fs.Stat(f.fsys, clean)
	return info, withoutPath(err)
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
	if f.fsys != nil {
		entries, _ = fs.ReadDir(f.fsys, path.Dir(path.Clean(filepath.ToSlash(name))))
	} else {
		entries, _ = os.ReadDir(filepath.Dir(name))
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}
