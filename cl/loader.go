package cl

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
)

// LibraryVariable is the environment variable for an OpenCL library to load instead of the
// system's loader: a path, or a name that the system's linker finds. If it is set and the
// library cannot be loaded, no other library is tried.
const LibraryVariable = "NDTUNE_OPENCL_LIBRARY"

// ErrNoLoader is the error if the OpenCL library cannot be loaded.
var ErrNoLoader = errors.New("no OpenCL library")

// load loads the library and looks up its functions, once per process. Platforms calls it, with
// which every use of the package begins, so that no other function has to.
var load = sync.OnceValue(func() error {
	library, err := openLibrary()
	if err != nil {
		return err
	}
	for _, f := range functions {
		f.addr = lookup(library.handle, f.name)
	}
	if api.clGetPlatformIDs.addr == 0 {
		return fmt.Errorf("%w: %s has no function clGetPlatformIDs\n%s", ErrNoLoader, library.name, installLoader)
	}
	return nil
})

// libraryNames are the names of the OpenCL library on this operating system, in the order in which
// they are tried.
var libraryNames = map[string][]string{
	"darwin":  {"/System/Library/Frameworks/OpenCL.framework/OpenCL"},
	"freebsd": {"libOpenCL.so.1", "libOpenCL.so"},
	"linux":   {"libOpenCL.so.1", "libOpenCL.so"},
	"netbsd":  {"libOpenCL.so.1", "libOpenCL.so"},
	"windows": {"OpenCL.dll"},
}[runtime.GOOS]

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

// Instructions for the errors of missing libraries and drivers.

const installLoader = `Install the OpenCL loader:
  Debian, Ubuntu: apt install ocl-icd-libopencl1
  Fedora:         dnf install ocl-icd (newer releases: OpenCL-ICD-Loader)
  Windows:        the GPU vendor's driver brings OpenCL.dll
or name another library in ` + LibraryVariable + `. ` + installDriver

const installDriver = `A device needs its driver besides:
  Debian, Ubuntu: apt install pocl-opencl-icd (any CPU), intel-opencl-icd, mesa-opencl-icd, nvidia-opencl-icd (Ubuntu: nvidia-driver-…), AMD's ROCm
  Fedora:         dnf install pocl (any CPU), intel-compute-runtime, mesa-libOpenCL, rocm-opencl, xorg-x11-drv-nvidia-cuda (RPM Fusion)
  Windows:        the driver of AMD, Intel or NVIDIA; Intel's OpenCL CPU runtime
In a container, the device files (/dev/dri, /dev/nvidia*) and the driver's .icd file in /etc/OpenCL/vendors must be visible.
The command clinfo shows what OpenCL sees.`
