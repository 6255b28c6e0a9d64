//go:build darwin || freebsd || linux || netbsd

package observe

import "github.com/ebitengine/purego"

// nvmlName is the name of NVIDIA's management library, which the driver brings along.
const nvmlName = "libnvidia-ml.so.1"

func openLibrary(name string) (uintptr, error) {
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

// lookup returns the address of a function, or 0 if the library does not have it.
func lookup(handle uintptr, name string) uintptr {
	address, err := purego.Dlsym(handle, name)
	if err != nil {
		return 0
	}
	return address
}
