package cl

import (
	"fmt"

	"github.com/ebitengine/purego"
)

// function is a function of the OpenCL library. load sets its address, once; it is 0 if the
// library lacks the function.
//
// Functions are called through purego.SyscallN, not through purego.RegisterFunc, which uses
// reflection: clGetEventInfo takes 82 ns instead of 272, and 2 allocations instead of 6.
type function struct {
	name  string
	addr  uintptr
	since int // the first OpenCL version with the function, major*10 + minor; 0: 1.0 or 1.1
}

// functions holds all functions, for load.
var functions []*function

func symbol(name string) *function { return newer(0, name) }

func newer(since int, name string) *function {
	f := &function{name: name, since: since}
	functions = append(functions, f)
	return f
}

var (
	clGetPlatformIDs  = symbol("clGetPlatformIDs")
	clGetPlatformInfo = symbol("clGetPlatformInfo")

	clGetDeviceIDs  = symbol("clGetDeviceIDs")
	clGetDeviceInfo = symbol("clGetDeviceInfo")

	clCreateContext             = symbol("clCreateContext")
	clReleaseContext            = symbol("clReleaseContext")
	clGetSupportedImageFormats  = symbol("clGetSupportedImageFormats")
	clCreateCommandQueue        = symbol("clCreateCommandQueue")
	clCreateQueueWithProperties = newer(20, "clCreateCommandQueueWithProperties")
	clReleaseCommandQueue       = symbol("clReleaseCommandQueue")
	clFlush                     = symbol("clFlush")
	clFinish                    = symbol("clFinish")

	clCreateBuffer     = symbol("clCreateBuffer")
	clCreateSubBuffer  = symbol("clCreateSubBuffer")
	clCreateImage      = newer(12, "clCreateImage")
	clCreateImage2D    = symbol("clCreateImage2D")
	clCreateImage3D    = symbol("clCreateImage3D")
	clReleaseMemObject = symbol("clReleaseMemObject")
	clGetImageInfo     = symbol("clGetImageInfo")
	clCreateSampler    = symbol("clCreateSampler")
	clReleaseSampler   = symbol("clReleaseSampler")

	clCreateProgramWithSource = symbol("clCreateProgramWithSource")
	clCreateProgramWithBinary = symbol("clCreateProgramWithBinary")
	clCreateProgramWithIL     = newer(21, "clCreateProgramWithIL")
	clBuildProgram            = symbol("clBuildProgram")
	clReleaseProgram          = symbol("clReleaseProgram")
	clGetProgramInfo          = symbol("clGetProgramInfo")
	clGetProgramBuildInfo     = symbol("clGetProgramBuildInfo")

	clCreateKernel           = symbol("clCreateKernel")
	clCreateKernelsInProgram = symbol("clCreateKernelsInProgram")
	clReleaseKernel          = symbol("clReleaseKernel")
	clSetKernelArg           = symbol("clSetKernelArg")
	clGetKernelInfo          = symbol("clGetKernelInfo")
	clGetKernelArgInfo       = newer(12, "clGetKernelArgInfo")
	clGetKernelWorkGroupInfo = symbol("clGetKernelWorkGroupInfo")

	clEnqueueNDRangeKernel       = symbol("clEnqueueNDRangeKernel")
	clEnqueueReadBuffer          = symbol("clEnqueueReadBuffer")
	clEnqueueWriteBuffer         = symbol("clEnqueueWriteBuffer")
	clEnqueueReadBufferRect      = symbol("clEnqueueReadBufferRect")
	clEnqueueWriteBufferRect     = symbol("clEnqueueWriteBufferRect")
	clEnqueueCopyBuffer          = symbol("clEnqueueCopyBuffer")
	clEnqueueCopyBufferRect      = symbol("clEnqueueCopyBufferRect")
	clEnqueueFillBuffer          = newer(12, "clEnqueueFillBuffer")
	clEnqueueMapBuffer           = symbol("clEnqueueMapBuffer")
	clEnqueueMapImage            = symbol("clEnqueueMapImage")
	clEnqueueUnmapMemObject      = symbol("clEnqueueUnmapMemObject")
	clEnqueueReadImage           = symbol("clEnqueueReadImage")
	clEnqueueWriteImage          = symbol("clEnqueueWriteImage")
	clEnqueueCopyImage           = symbol("clEnqueueCopyImage")
	clEnqueueFillImage           = newer(12, "clEnqueueFillImage")
	clEnqueueCopyImageToBuffer   = symbol("clEnqueueCopyImageToBuffer")
	clEnqueueCopyBufferToImage   = symbol("clEnqueueCopyBufferToImage")
	clEnqueueMarkerWithWaitList  = newer(12, "clEnqueueMarkerWithWaitList")
	clEnqueueBarrierWithWaitList = newer(12, "clEnqueueBarrierWithWaitList")

	clCreateUserEvent       = symbol("clCreateUserEvent")
	clSetUserEventStatus    = symbol("clSetUserEventStatus")
	clWaitForEvents         = symbol("clWaitForEvents")
	clReleaseEvent          = symbol("clReleaseEvent")
	clGetEventInfo          = symbol("clGetEventInfo")
	clGetEventProfilingInfo = symbol("clGetEventProfilingInfo")
)

// run calls a function that returns a status.
//
// The directive makes the compiler allocate the variables that arguments point to on the heap,
// where they do not move, and keep them alive until the call returns. It applies to pointers
// that are converted in the argument list itself: f.run(uintptr(unsafe.Pointer(p))).
//
//go:uintptrescapes
func (f *function) run(args ...uintptr) error {
	if f.addr == 0 {
		return f.missing()
	}
	status, _, _ := purego.SyscallN(f.addr, args...)
	if Status(status) != Success {
		return f.failed(Status(status))
	}
	return nil
}

// create calls a function that returns an object and writes its status through its last
// argument. made returns its error.
//
//go:uintptrescapes
func (f *function) create(args ...uintptr) uintptr {
	if f.addr == 0 {
		return 0
	}
	id, _, _ := purego.SyscallN(f.addr, args...)
	return id
}

// made returns the error of a create.
func (f *function) made(id uintptr, status Status) error {
	switch {
	case f.addr == 0:
		return f.missing()
	case status != Success:
		return f.failed(status)
	case id == 0:
		return &Error{Call: f.name, Detail: "success, but no object returned", Status: OutOfResources}
	}
	return nil
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

func (f *function) failed(status Status) error { return &Error{Call: f.name, Status: status} }

func (f *function) missing() error {
	return &Error{
		Call:   f.name,
		Detail: "the OpenCL library does not have this function",
		Status: InvalidOperation,
		Err:    ErrMissingFunction,
	}
}
