package matmul

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/library"
)

// A librarySearch looks for one shared library.
type librarySearch struct {
	names  []string // file names, the best first
	places []string // files and folders that the user names
}

// open opens the first library that can be opened. It searches the places that the user names, where
// a folder may contain packages of pip (nvidia/cublas/lib), then those of the system's linker. A
// library in a place of the user that cannot be opened is an error, so that no other library replaces
// it unnoticed.
func (s librarySearch) open() (*library.Library, error) {
	if placed := s.placed(); len(placed) > 0 {
		return library.Open(placed[0])
	}
	var broken []error
	for _, name := range s.names {
		found, err := library.Open(name)
		if err == nil {
			return found, nil
		}
		// The error of a missing library ends so with glibc. Others are about a library that exists,
		// but lacks something.
		if said := err.Error(); !strings.HasPrefix(said, name+": ") || !strings.HasSuffix(said, "No such file or directory") {
			broken = append(broken, err)
		}
	}
	if len(broken) > 0 {
		return nil, errors.Join(broken...)
	}
	return nil, fmt.Errorf("%s: %w", strings.Join(s.names, ", "), errNotThere)
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
