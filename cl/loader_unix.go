//go:build darwin || freebsd || linux || netbsd

package cl

import "github.com/ebitengine/purego"

// open loads a library.
func open(name string) (uintptr, error) {
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL)
}

// lookup returns the address of a function, or 0 if the library does not have it.
func lookup(handle uintptr, name string) uintptr {
	addr, err := purego.Dlsym(handle, name)
	if err != nil {
		return 0
	}
	return addr
}
