// Package cuda implements the functions of OpenCL that package cl calls, in Go, over the driver API of CUDA and its run-time
// compiler NVRTC: with it, CUDA is one more platform of package cl, whose programs are CUDA C.
package cuda

import "errors"

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

// Functions are functions by their names of OpenCL. Two more have no counterpart in OpenCL:
//
//	setBuffer(kernel, index, buffer)   sets an argument to a buffer, or to a null pointer if buffer is 0; clSetKernelArg takes values only
//	getSymbol(program, name, size)     returns a buffer over a __constant__ or __device__ variable of a built program, and writes its
//	                                   bytes to the size_t at size; the memory is the program's, clReleaseMemObject ends only the handle
type Functions map[string]Function

// Open loads the libraries of CUDA, once per process. The error says which is missing, and how to get it.
func Open() (Functions, error) {
	return nil, errors.New("CUDA is not built yet")
}
