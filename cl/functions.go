package cl

import (
	"fmt"
	"reflect"
	"strconv"
	"unsafe"

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

// api holds the functions of the OpenCL library, in fields of their names, by the objects that they
// work on. A tag holds the first OpenCL version that has them, as major*10 + minor; without a tag,
// it is 1.0 or 1.1.
var api struct {
	clGetPlatformIDs, clGetPlatformInfo, clGetDeviceIDs, clGetDeviceInfo function

	clCreateContext, clReleaseContext, clGetSupportedImageFormats  function
	clCreateCommandQueue, clReleaseCommandQueue, clFlush, clFinish function
	clCreateCommandQueueWithProperties                             function `since:"20"`

	clCreateBuffer, clCreateSubBuffer, clCreateSampler, clReleaseSampler function
	clCreateImage2D, clCreateImage3D, clGetImageInfo, clReleaseMemObject function
	clCreateImage                                                        function `since:"12"`

	clCreateProgramWithSource, clCreateProgramWithBinary, clBuildProgram function
	clReleaseProgram, clGetProgramInfo, clGetProgramBuildInfo            function
	clCreateProgramWithIL                                                function `since:"21"`

	clCreateKernel, clCreateKernelsInProgram, clReleaseKernel function
	clSetKernelArg, clGetKernelInfo, clGetKernelWorkGroupInfo function
	clGetKernelArgInfo                                        function `since:"12"`

	clEnqueueNDRangeKernel                                         function
	clEnqueueReadBuffer, clEnqueueWriteBuffer, clEnqueueCopyBuffer function
	clEnqueueReadBufferRect, clEnqueueWriteBufferRect              function
	clEnqueueCopyBufferRect, clEnqueueMapBuffer                    function
	clEnqueueReadImage, clEnqueueWriteImage, clEnqueueCopyImage    function
	clEnqueueMapImage, clEnqueueUnmapMemObject                     function
	clEnqueueCopyImageToBuffer, clEnqueueCopyBufferToImage         function
	clEnqueueFillBuffer, clEnqueueFillImage                        function `since:"12"`
	clEnqueueMarkerWithWaitList, clEnqueueBarrierWithWaitList      function `since:"12"`

	clCreateUserEvent, clSetUserEventStatus, clWaitForEvents function
	clReleaseEvent, clGetEventInfo, clGetEventProfilingInfo  function
}

// functions are the fields of api.
var functions = func() (all []*function) {
	v := reflect.ValueOf(&api).Elem()
	for i := range v.NumField() {
		f := (*function)(v.Field(i).Addr().UnsafePointer())
		f.name = v.Type().Field(i).Name
		f.since, _ = strconv.Atoi(v.Type().Field(i).Tag.Get("since"))
		all = append(all, f)
	}
	return all
}()

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
		return 0, f.missing()
	}
	var status Status
	id := f.call(args, uintptr(unsafe.Pointer(&status)))
	return id, f.made(id, status)
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
		Detail: "the OpenCL library does not have this function",
		Status: InvalidOperation,
		Err:    ErrMissingFunction,
	}
}
