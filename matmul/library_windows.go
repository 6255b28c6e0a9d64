package matmul

import (
	"fmt"

	"golang.org/x/sys/windows"
)

func openLibrary(path string) (uintptr, error) {
	handle, err := windows.LoadLibrary(path)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return uintptr(handle), nil
}

// lookup returns 0 when the library has no such function.
func lookup(handle uintptr, name string) uintptr {
	address, err := windows.GetProcAddress(windows.Handle(handle), name)
	if err != nil {
		return 0
	}
	return address
}
