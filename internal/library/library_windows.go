package library

import (
	"fmt"
	"os/exec"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// open opens a library. It looks for a bare name in the folder of the program, in the system folder and in the folders of PATH,
// never in the current folder. The libraries that a library needs may be in the same folder.
func open(name string) (uintptr, error) {
	path := name
	if filepath.Base(name) == name {
		handle, err := windows.LoadLibraryEx(name, 0, windows.LOAD_LIBRARY_SEARCH_DEFAULT_DIRS)
		if err == nil {
			return uintptr(handle), nil
		}
		found, missing := exec.LookPath(name)
		if missing != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		path = found
	}
	path, err := filepath.Abs(path) // LoadLibraryEx refuses relative paths
	if err != nil {
		return 0, err
	}
	handle, err := windows.LoadLibraryEx(path, 0, windows.LOAD_LIBRARY_SEARCH_DEFAULT_DIRS|windows.LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return uintptr(handle), nil
}

// lookup returns the address of a function, or 0 if the library does not have it.
func lookup(handle uintptr, name string) uintptr {
	address, err := windows.GetProcAddress(windows.Handle(handle), name)
	if err != nil {
		return 0
	}
	return address
}
