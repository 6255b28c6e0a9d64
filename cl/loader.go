package cl

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/ndtune/ndtune/internal/cuda"
	"github.com/ndtune/ndtune/internal/library"
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
	found, err := openLibrary()
	if err != nil {
		return err
	}
	for _, f := range openCLFunctions {
		if strings.HasPrefix(f.name, "cl") {
			f.addr = found.Find(f.name)
		}
	}
	if openCL.clGetPlatformIDs.addr == 0 {
		return fmt.Errorf("%w: %s has no function clGetPlatformIDs\n%s", ErrNoLoader, found.Path, installLoader)
	}
	return nil
})

// loadCUDA loads the libraries of CUDA, once per process.
var loadCUDA = sync.OnceValues(func() (*table, error) {
	implemented, err := cuda.Open()
	return tableOf(implemented), err
})

// tableOf returns the table of functions in Go.
func tableOf(implemented cuda.Functions) *table {
	t, all := newTable("CUDA")
	for _, f := range all {
		f.own = implemented[f.name]
	}
	t.setBuffer.name = t.clSetKernelArg.name // in errors
	return t
}

// libraryNames are the names of the OpenCL library on this operating system, in the order in which
// they are tried.
var libraryNames = map[string][]string{
	"darwin":  {"/System/Library/Frameworks/OpenCL.framework/OpenCL"},
	"freebsd": {"libOpenCL.so.1", "libOpenCL.so"},
	"linux":   {"libOpenCL.so.1", "libOpenCL.so"},
	"netbsd":  {"libOpenCL.so.1", "libOpenCL.so"},
	"windows": {"OpenCL.dll"},
}[runtime.GOOS]

func openLibrary() (*library.Library, error) {
	if name := os.Getenv(LibraryVariable); name != "" {
		found, err := library.Open(name)
		if err != nil {
			return nil, fmt.Errorf("%w: %s names %s, which cannot be loaded: %w", ErrNoLoader, LibraryVariable, name, err)
		}
		return found, nil
	}
	var failures []string
	for _, name := range libraryNames {
		found, err := library.Open(name)
		if err == nil {
			return found, nil
		}
		failures = append(failures, err.Error())
	}
	return nil, fmt.Errorf("%w: %s\n%s", ErrNoLoader, strings.Join(failures, "; "), installLoader)
}

// Instructions for the errors of missing libraries and drivers.

const installLoader = `Install the OpenCL loader:
  Debian, Ubuntu: apt install ocl-icd-libopencl1
  Fedora:         dnf install ocl-icd (newer releases: OpenCL-ICD-Loader)
  Windows:        the GPU vendor's driver brings OpenCL.dll
or name another library in ` + LibraryVariable + `. ` + installDriver

const installDriver = `A device needs its driver besides:
  Debian, Ubuntu: apt install pocl-opencl-icd (any CPU), intel-opencl-icd, mesa-opencl-icd,
                  nvidia-opencl-icd (Ubuntu: nvidia-driver-…), AMD's ROCm
  Fedora:         dnf install pocl (any CPU), intel-compute-runtime, mesa-libOpenCL, rocm-opencl, xorg-x11-drv-nvidia-cuda (RPM Fusion)
  Windows:        the driver of AMD, Intel or NVIDIA; Intel's OpenCL CPU runtime
In a container, the device files (/dev/dri, /dev/nvidia*) and the driver's .icd file in /etc/OpenCL/vendors must be visible.
The command clinfo shows what OpenCL sees. Kernels in CUDA C need other libraries: docs/install.md#cuda.`

// function is a function of the OpenCL library, whose address load sets, once, or one of a platform in Go. It is missing if it has
// neither an address nor a function of its own.
//
// Functions are called through purego.SyscallN, not through purego.RegisterFunc, which uses
// reflection: clGetEventInfo takes 82 ns instead of 272, and 2 allocations instead of 6.
type function struct {
	name    string
	library string // "the OpenCL library", "CUDA"
	addr    uintptr
	own     cuda.Function // in Go
	since   int           // the first OpenCL version with the function, major*10 + minor; 0: 1.0 or 1.1
}

// table holds the functions of a library, in fields of their names, by the objects that they
// work on. A tag holds the first OpenCL version that has them, as major*10 + minor; without a tag,
// it is 1.0 or 1.1.
type table struct {
	clGetPlatformIDs, clGetPlatformInfo, clGetDeviceIDs, clGetDeviceInfo function
	clGetExtensionFunctionAddressForPlatform                             function `since:"12"`

	clCreateContext, clReleaseContext, clGetSupportedImageFormats  function
	clCreateCommandQueue, clReleaseCommandQueue, clFlush, clFinish function
	clCreateCommandQueueWithProperties                             function `since:"20"`

	clCreateBuffer, clCreateSubBuffer, clCreateSampler, clReleaseSampler function
	clGetImageInfo, clReleaseMemObject                                   function
	clCreateImage                                                        function `since:"12"`

	clCreateProgramWithSource, clCreateProgramWithBinary, clBuildProgram function
	clReleaseProgram, clGetProgramInfo, clGetProgramBuildInfo            function
	clCreateProgramWithIL                                                function `since:"21"`

	clCreateKernel, clReleaseKernel                           function
	clSetKernelArg, clGetKernelInfo, clGetKernelWorkGroupInfo function
	clGetKernelArgInfo                                        function `since:"12"`

	clEnqueueNDRangeKernel                                         function
	clEnqueueReadBuffer, clEnqueueWriteBuffer, clEnqueueCopyBuffer function
	clEnqueueReadImage, clEnqueueWriteImage                        function
	clEnqueueCopyBufferToImage                                     function

	clWaitForEvents, clReleaseEvent, clGetEventInfo, clGetEventProfilingInfo function

	setBuffer, getSymbol, openShared function // of package cuda alone
}

// openCL holds the functions of the OpenCL library.
var openCL, openCLFunctions = newTable("the OpenCL library")

// newTable returns a table of functions that are missing so far, and a list of them.
func newTable(library string) (t *table, all []*function) {
	t = new(table)
	v := reflect.ValueOf(t).Elem()
	for i := range v.NumField() {
		f := (*function)(v.Field(i).Addr().UnsafePointer())
		f.name, f.library = v.Type().Field(i).Name, library
		f.since, _ = strconv.Atoi(v.Type().Field(i).Tag.Get("since"))
		all = append(all, f)
	}
	return t, all
}

func (f *function) known() bool { return f.addr != 0 || f.own != nil }

// run calls a function that returns a status.
//
// The directive makes the compiler allocate the variables that arguments point to on the heap,
// where they do not move, and keep them alive until the call returns. It applies to pointers
// that are converted in the argument list itself: f.run(uintptr(unsafe.Pointer(p))).
//
//go:uintptrescapes
func (f *function) run(args ...uintptr) error {
	if f.addr == 0 {
		_, err := f.inGo(args)
		return err
	}
	status, _, _ := purego.SyscallN(f.addr, args...)
	return f.outcome(Status(status))
}

// runWith is run with the arguments of two lists.
//
//go:uintptrescapes
func (f *function) runWith(first []uintptr, last ...uintptr) error {
	return f.run(append(first, last...)...)
}

// create calls a function that returns an object and writes its status through its last
// argument, which create adds.
//
//go:uintptrescapes
func (f *function) create(args ...uintptr) (uintptr, error) {
	if f.addr == 0 {
		return f.inGo(args)
	}
	var status Status
	id := f.call(args, uintptr(unsafe.Pointer(&status)))
	return id, f.made(id, status)
}

// inGo calls the function of a platform in Go.
func (f *function) inGo(args []uintptr) (uintptr, error) {
	if f.own == nil {
		return 0, f.missing()
	}
	object, failed := f.own(slices.Clone(args)) // a copy, for which the arguments of functions in C stay on the stack
	if failed != nil {
		return 0, &Error{Call: cmp.Or(failed.Call, f.name), Status: Status(failed.Status), Text: failed.Text}
	}
	return object, nil
}

// call calls a function with one more argument.
//
//go:uintptrescapes
func (f *function) call(args []uintptr, last uintptr) uintptr {
	id, _, _ := purego.SyscallN(f.addr, append(args, last)...)
	return id
}

// made returns the error of a create.
func (f *function) made(id uintptr, status Status) error {
	if status == Success && id == 0 {
		return &Error{Call: f.name, Detail: "success, but no object returned", Status: OutOfResources}
	}
	return f.outcome(status)
}

// outcome returns the error of a status, or nil for Success.
func (f *function) outcome(status Status) error {
	if status == Success {
		return nil
	}
	return &Error{Call: f.name, Status: status}
}

// on returns an error if the function is newer than the platform, of the given version. A loader
// has every function, but calling one that the platform's driver lacks would crash.
func (f *function) on(version int) error {
	if version != 0 && version < f.since {
		return &Error{
			Call:   f.name,
			Detail: fmt.Sprintf("needs OpenCL %d.%d, the platform has %d.%d", f.since/10, f.since%10, version/10, version%10),
			Status: InvalidOperation,
			Err:    ErrMissingFunction,
		}
	}
	return nil
}

func (f *function) missing() error {
	return &Error{
		Call:   f.name,
		Detail: f.library + " does not have this function",
		Status: InvalidOperation,
		Err:    ErrMissingFunction,
	}
}
