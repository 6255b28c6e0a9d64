//go:build darwin || freebsd || linux || netbsd

package library

import "github.com/ebitengine/purego"

// open opens a library whose symbols the libraries that are opened after it can use, as some OpenCL drivers do.
func open(path string) (uintptr, error) {
	return purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
}

// lookup returns the address of a function, or 0 if the library does not have it.
func lookup(handle uintptr, name string) uintptr {
	address, err := purego.Dlsym(handle, name)
	if err != nil {
		return 0
	}
	return address
}
