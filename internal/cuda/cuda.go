// Package cuda implements the functions of OpenCL that package cl calls, in Go, over the driver API of CUDA and its run-time
// compiler NVRTC: with it, CUDA is one more platform of package cl, whose programs are CUDA C.
//
// A context is the primary context of its device, a queue a stream, a buffer an allocation. All are made when they are first needed: a
// process that only compiles makes no context. The times of a command are those of two events of CUDA around it. Dynamic shared memory
// (extern __shared__) is one more argument, after those that a kernel declares: so many bytes of local memory. A queue is always in
// order. There are no images, global offsets and descriptions of arguments.
package cuda

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"
)

// A Failure is the reason why a function failed.
type Failure struct {
	Status int32  // of OpenCL
	Call   string // the function of CUDA, such as cuLaunchKernel; "": the function of OpenCL itself
	Text   string // in the words of CUDA, such as "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered"
}

// A Function is a function of OpenCL. Its arguments are those of C, without the last one of a function that creates an object,
// which is the address for its status: such a function returns the object, others 0. What the arguments point to stays where it
// is until the function returns, and no longer.
type Function func(args []uintptr) (object uintptr, failed *Failure)

// Functions are functions by their names of OpenCL. Three more have no counterpart in OpenCL:
//
//	setBuffer(kernel, index, buffer)   sets an argument to a buffer, or to a null pointer if buffer is 0; clSetKernelArg takes values only
//	getSymbol(program, name, size)     returns a buffer over a __constant__ or __device__ variable of a built program, and writes its
//	                                   bytes to the size_t at size; the memory is the program's, clReleaseMemObject ends only the handle
//	openShared(context, handle, offset, size)   returns a buffer over memory of another process, from an offset on; the 64 bytes at handle
//	                                   are of cuIpcGetMemHandle
type Functions map[string]Function

// Open loads the driver of CUDA and finds its devices; a process needs it once. The error says what is missing, and how to get it. NVRTC
// is loaded when it is first needed.
func Open() (Functions, error) {
	d, err := open()
	if err != nil {
		return nil, err
	}
	return d.implemented(), nil
}

func (d *driver) implemented() Functions {
	nothing := does(func(*task, []uintptr) {}) // a stream begins at once
	return Functions{
		"clGetPlatformIDs": does(d.platformIDs), "clGetPlatformInfo": asks(d.platformInfo),
		"clGetDeviceIDs": does(d.deviceIDs), "clGetDeviceInfo": asks(deviceInfo),
		"clCreateContext": makes(createContext), "clReleaseContext": does(release),

		"clCreateCommandQueue": makes(createQueue), "clReleaseCommandQueue": does(release),
		"clFlush": nothing, "clFinish": does(finish),
		"clEnqueueReadBuffer": does(enqueueRead), "clEnqueueWriteBuffer": does(enqueueWrite),
		"clEnqueueCopyBuffer": does(enqueueCopy), "clEnqueueNDRangeKernel": does(enqueueKernel),
		"clWaitForEvents": does(waitForEvents), "clReleaseEvent": does(release), "clGetEventProfilingInfo": asks(eventTimes),

		"clCreateBuffer": makes(createBuffer), "clCreateSubBuffer": makes(createSubBuffer), "getSymbol": makes(getSymbol),
		"openShared":         makes(openShared),
		"clReleaseMemObject": does(release),

		"clCreateProgramWithSource": makes(createProgram), "clCreateProgramWithBinary": makes(loadProgram),
		"clBuildProgram": does(buildProgram), "clReleaseProgram": does(release),
		"clGetProgramInfo": asks(programInfo), "clGetProgramBuildInfo": asks(buildInfo),

		"clCreateKernel": makes(createKernel), "clReleaseKernel": does(release),
		"clSetKernelArg": does(setArgument), "setBuffer": does(setBuffer),
		"clGetKernelInfo": asks(kernelInfo), "clGetKernelWorkGroupInfo": asks(workGroupInfo),
	}
}

// Statuses of OpenCL; the last one is NVIDIA's, after an illegal access.
const (
	deviceNotFound, compilerNotAvailable, allocationFailure, outOfResources = -1, -3, -4, -5
	profilingNotAvailable, buildProgramFailure, invalidValue, invalidBinary = -7, -11, -30, -42
	invalidProgramExecutable, invalidKernelName                             = -45, -46
	invalidArgIndex, invalidArgValue, invalidArgSize, invalidKernelArgs     = -49, -50, -51, -52
	invalidWorkGroupSize, invalidGlobalOffset, invalidGlobalWorkSize        = -54, -56, -63
	deviceLost                                                              = -9999
)

// A task is one call of a function of OpenCL, which makes a series of calls of CUDA. After the first that fails, no other is made.
type task struct{ failed *Failure }

// run calls a function of CUDA; see function.call for the directive.
//
//go:uintptrescapes
func (t *task) run(f *function, args ...uintptr) {
	if t.failed != nil {
		return
	}
	d, result := f.driver, f.call(args...)
	switch {
	case f.address == 0:
		t.failed = &Failure{outOfResources, f.name, "the library lacks this function"}
	case result != 0:
		t.failed = &Failure{
			cmp.Or(statuses[result], outOfResources), f.name, d.words(&d.cuGetErrorName, result) + ": " + d.words(&d.cuGetErrorString, result),
		}
	}
}

// get calls a function of CUDA that writes its result to the address that is its first argument.
func get[T any](t *task, f *function, args ...uintptr) T {
	result := new(T)
	t.into(uintptr(unsafe.Pointer(result)), f, args)
	return *result
}

//go:uintptrescapes
func (t *task) into(result uintptr, f *function, args []uintptr) {
	t.run(f, append([]uintptr{result}, args...)...)
}

func (t *task) fail(status int32, format string, args ...any) {
	if t.failed == nil {
		t.failed = &Failure{Status: status, Text: fmt.Sprintf(format, args...)}
	}
}

// An object lives until its last user leaves: the owner of its handle, and each object that was made of it.
type object struct {
	parent *object
	users  atomic.Int32
	free   func(*task) // what the device has of it; nil: nothing
}

// begin initialises an object with its first user, the owner.
func (o *object) begin(parent *object, free func(*task)) {
	o.parent, o.free = parent, free
	o.users.Store(1)
	if parent != nil {
		parent.users.Add(1)
	}
}

func (o *object) leave() (failed *Failure) {
	for ; o != nil && o.users.Add(-1) == 0; o = o.parent {
		if t := new(task); o.free != nil {
			o.free(t)
			failed = cmp.Or(failed, t.failed)
		}
	}
	return failed
}

// handles has the objects by the numbers that package cl knows. Package cl uses no handle that it has released, and none of another type.
var (
	handles    sync.Map
	lastHandle atomic.Uintptr
)

func handleOf(object any) uintptr {
	h := lastHandle.Add(1)
	handles.Store(h, object)
	return h
}

// of returns the object of a handle.
func of[T any](handle uintptr) *T {
	object, _ := handles.Load(handle)
	return object.(*T)
}

// release ends a handle.
func release(t *task, a []uintptr) {
	object, _ := handles.LoadAndDelete(a[0])
	t.failed = object.(interface{ leave() *Failure }).leave()
}

// does makes a function of OpenCL of one that makes no object.
func does(f func(t *task, a []uintptr)) Function {
	return func(a []uintptr) (uintptr, *Failure) {
		t := new(task)
		f(t, a)
		return 0, t.failed
	}
}

// makes makes a function of OpenCL of one that makes an object.
func makes[T any](f func(t *task, a []uintptr) *T) Function {
	return func(a []uintptr) (uintptr, *Failure) {
		t := new(task)
		if object := f(t, a); t.failed == nil {
			return handleOf(object), nil
		}
		return 0, t.failed
	}
}

// asks makes a query of OpenCL of a function that returns the answer, nil if there is none. The last arguments of a query are the room
// for the answer, the address for it, and that for its size; either can be 0.
func asks(f func(t *task, a []uintptr) []byte) Function {
	return does(func(t *task, a []uintptr) {
		data := f(t, a)
		room, value, size := a[len(a)-3], a[len(a)-2], a[len(a)-1]
		if data == nil || value != 0 && room < uintptr(len(data)) {
			t.fail(invalidValue, "")
		}
		if t.failed == nil && size != 0 {
			*at[uintptr](size) = uintptr(len(data))
		}
		if t.failed == nil && value != 0 {
			copy(memory(value, room), data)
		}
	})
}

// numbers is the form of all numbers in answers, size_t: package cl reads numbers of any size.
func numbers(list ...int) (data []byte) {
	for _, n := range list {
		data = binary.NativeEndian.AppendUint64(data, uint64(n))
	}
	return data
}

// terminated returns a text as C has it.
func terminated(text string) []byte { return append([]byte(text), 0) }

// at returns the variable at an address, which the caller of a function keeps where it is.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// memory returns the bytes from an address on.
func memory(address, size uintptr) []byte { return unsafe.Slice(at[byte](address), size) }

// text returns the text at an address that a zero ends, "" for the address 0.
func text(address uintptr) string {
	if address == 0 {
		return ""
	}
	n := uintptr(0)
	for *at[byte](address + n) != 0 {
		n++
	}
	return string(memory(address, n))
}
