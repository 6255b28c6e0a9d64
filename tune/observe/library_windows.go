package observe

import "golang.org/x/sys/windows"

// nvmlName is the name of NVIDIA's management library, which the driver brings along.
const nvmlName = "nvml.dll"

func openLibrary(name string) (uintptr, error) {
	handle, err := windows.LoadLibraryEx(name, 0, windows.LOAD_LIBRARY_SEARCH_DEFAULT_DIRS)
	return uintptr(handle), err
}

// lookup returns the address of a function, or 0 if the library does not have it.
func lookup(handle uintptr, name string) uintptr {
	address, err := windows.GetProcAddress(windows.Handle(handle), name)
	if err != nil {
		return 0
	}
	return address
}
