package cl

import (
	"fmt"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// open loads a library. It looks for a bare name in the folder of the program and the system
// folder, never in the current folder. The libraries that a library given by its path needs may
// be in the same folder.
func open(name string) (uintptr, error) {
	flags := uintptr(windows.LOAD_LIBRARY_SEARCH_DEFAULT_DIRS)
	if filepath.Base(name) != name {
		path, err := filepath.Abs(name) // LoadLibraryEx refuses relative paths
		if err != nil {
			return 0, err
		}
		name = path
		flags |= windows.LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR
	}
	handle, err := windows.LoadLibraryEx(name, 0, flags)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return uintptr(handle), nil
}

// lookup returns the address of a function, or 0 if the library does not have it.
func lookup(handle uintptr, name string) uintptr {
	addr, err := windows.GetProcAddress(windows.Handle(handle), name)
	if err != nil {
		return 0
	}
	return addr
}
