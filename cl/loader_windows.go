package cl

import (
	"fmt"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// open searches the folder of the program and the system folder for a bare name, never the
// current folder. What a library given by its path needs itself may lie beside it.
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

// lookup returns 0 when the library has no such function.
func lookup(handle uintptr, name string) uintptr {
	addr, err := windows.GetProcAddress(windows.Handle(handle), name)
	if err != nil {
		return 0
	}
	return addr
}
