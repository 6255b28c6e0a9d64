package spec

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/ndtune/ndtune/internal/each"
	disk "github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/internal/nearest"
)

// files is the file system from which a specification and the files that it names are read. Names
// in a specification have slashes and are relative to the folder of the file that contains them.
type files struct{ fsys fs.FS }

// A bundle is any other file system, whose paths have slashes. Paths outside of it do not exist.
type bundle struct{ fs.FS }

func (b bundle) Open(name string) (fs.File, error) {
	clean := path.Clean(filepath.ToSlash(name))
	if !fs.ValidPath(clean) {
		return nil, fs.ErrNotExist
	}
	return b.FS.Open(clean)
}

// osFiles is the operating system's file system, with its own paths.
type osFiles struct{}

func (osFiles) Open(name string) (fs.File, error)          { return os.Open(name) }
func (osFiles) Stat(name string) (fs.FileInfo, error)      { return os.Stat(name) }
func (osFiles) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

func (f files) onDisk() bool { return f.fsys == osFiles{} }

// beside returns the path of a name that a file contains.
func (f files) beside(file, name string) string {
	if !f.onDisk() {
		return path.Join(path.Dir(file), name)
	}
	name = filepath.FromSlash(name)
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(file), name)
}

// maxFileSize bounds the time that a mistaken argument, such as a recorded space, can take.
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
	return text, disk.WithoutPath(err)
}

// open opens a regular file.
func (f files) open(name string) (fs.File, error) {
	if err := f.checkRegular(name); err != nil {
		return nil, err
	}
	file, err := f.fsys.Open(name)
	return file, disk.WithoutPath(err)
}

// checkRegular returns an error unless the name is that of a regular file.
func (f files) checkRegular(name string) error {
	info, err := f.stat(name)
	if err != nil {
		return err
	}
	return disk.CheckRegular(info)
}

func (f files) stat(name string) (fs.FileInfo, error) {
	info, err := fs.Stat(f.fsys, name)
	return info, disk.WithoutPath(err)
}

// explain returns the error of a file that could not be read. If there is no such file, it suggests
// the one that was probably meant.
func (f files) explain(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &missingFile{fmt.Sprintf("there is no file %s%s", name, nearest.Hint(filepath.Base(name), f.neighbours(name))), err}
	}
	return fmt.Errorf("read %s: %w", name, err)
}

// missingFile is an error with a cause, whose text is left out.
type missingFile struct {
	message string
	err     error
}

func (e *missingFile) Error() string { return e.message }
func (e *missingFile) Unwrap() error { return e.err }

// neighbours returns the names in the folder of a file.
func (f files) neighbours(name string) []string {
	entries, _ := fs.ReadDir(f.fsys, filepath.Dir(name)) // without names there is no suggestion
	return each.Of(entries, fs.DirEntry.Name)
}
