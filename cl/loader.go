package cl

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
)

// LibraryVariable is the environment variable that names an OpenCL library to load in
// place of the system's loader: a path, or a name that the system's linker finds. When it is
// set and the library cannot be loaded, nothing else is tried.
const LibraryVariable = "NDTUNE_OPENCL_LIBRARY"

// ErrNoLoader says that the OpenCL library could not be loaded.
var ErrNoLoader = errors.New("no OpenCL library")

// load loads the library and resolves its functions, once for the process. Every way into
// the package begins here (Platforms), so that no later call has to ask.
var load = sync.OnceValue(func() error {
	library, err := openLibrary()
	if err != nil {
		return err
	}
	for _, f := range functions {
		f.addr = lookup(library.handle, f.name)
	}
	if clGetPlatformIDs.addr == 0 {
		return fmt.Errorf("%w: %s has no function clGetPlatformIDs\n%s", ErrNoLoader, library.name, installLoader)
	}
	return nil
})

type library struct {
	name   string
	handle uintptr
}

func openLibrary() (library, error) {
	if name := os.Getenv(LibraryVariable); name != "" {
		handle, err := open(name)
		if err != nil {
			return library{}, fmt.Errorf("%w: %s names %s, which cannot be loaded: %w", ErrNoLoader, LibraryVariable, name, err)
		}
		return library{name, handle}, nil
	}
	var failures []string
	for _, name := range libraryNames {
		handle, err := open(name)
		if err == nil {
			return library{name, handle}, nil
		}
		failures = append(failures, err.Error())
	}
	return library{}, fmt.Errorf("%w: %s\n%s", ErrNoLoader, strings.Join(failures, "; "), installLoader)
}
