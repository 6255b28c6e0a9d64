package matmul

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ebitengine/purego"
)

// A librarySearch looks for one shared library.
type librarySearch struct {
	names  []string // file names, the best first
	places []string // files and folders that the user names
}

// open opens the first library that can be opened, and returns its path or name. It searches the
// places that the user names, where a folder may contain packages of pip (nvidia/cublas/lib), then
// those of the system's linker. A library in a place of the user that cannot be opened is an error,
// so that no other library replaces it unnoticed.
func (s librarySearch) open() (handle uintptr, path string, err error) {
	if placed := s.placed(); len(placed) > 0 {
		handle, err = openLibrary(placed[0])
		return handle, placed[0], err
	}
	var broken []error
	for _, name := range s.names {
		if handle, err = openLibrary(name); err == nil {
			return handle, name, nil
		}
		// The error of a missing library ends so with glibc. Others are about a library that exists,
		// but lacks something.
		if said := err.Error(); !strings.HasPrefix(said, name+": ") || !strings.HasSuffix(said, "No such file or directory") {
			broken = append(broken, err)
		}
	}
	if len(broken) > 0 {
		return 0, "", errors.Join(broken...)
	}
	return 0, "", fmt.Errorf("%s: %w", strings.Join(s.names, ", "), errNotThere)
}

// errNotThere is the error if no library of the names exists.
var errNotThere = errors.New("not found")

// CheckLibraryPlace returns an error for a place that does not exist, or a file whose name is not
// that of a supported library.
func CheckLibraryPlace(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return err
	}
	names := slices.Clone(openblasNames())
	for _, r := range cudaReleases() {
		names = append(names, r.blas, r.lt, r.runtime)
	}
	if !slices.Contains(names, filepath.Base(path)) {
		return fmt.Errorf("%s has none of the names that are looked for: %s", path, strings.Join(names, ", "))
	}
	return nil
}

// placed returns the libraries in the places that the user names.
func (s librarySearch) placed() []string {
	var all []string
	for _, place := range s.places {
		if slices.Contains(s.names, filepath.Base(place)) {
			all = append(all, place)
		}
		for _, name := range s.names {
			for _, pattern := range []string{filepath.Join(place, name), filepath.Join(place, "nvidia", "*", "lib", name)} {
				found, _ := filepath.Glob(pattern) // a place may contain characters of patterns
				if len(found) == 0 && isFile(pattern) {
					found = []string{pattern}
				}
				all = append(all, found...)
			}
		}
	}
	return all
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// bind sets variables of function types to functions of a library, by name. A key may contain
// several names, separated by spaces; the first one that the library has is used.
func bind(handle uintptr, path string, functions map[string]any) error {
	for _, names := range slices.Sorted(maps.Keys(functions)) {
		address := uintptr(0)
		for _, name := range strings.Fields(names) {
			if address = lookup(handle, name); address != 0 {
				break
			}
		}
		if address == 0 {
			return fmt.Errorf("%s has no function %s", path, strings.Join(strings.Fields(names), " or "))
		}
		purego.RegisterFunc(functions[names], address)
	}
	return nil
}
