package cl

import (
	"cmp"
	"errors"
	"strconv"
	"strings"
)

// ErrReleased is the error for using an object that was released, or that is nil or was not
// made by this package.
var ErrReleased = errors.New("released object")

// ErrMissingFunction is the error for a function that the OpenCL library or platform lacks,
// usually because it is too old.
var ErrMissingFunction = errors.New("missing function")

// Error is the failure of an OpenCL call, or of the call of CUDA in its place. errors.Is matches it with its Status and with
// everything that matches Err.
type Error struct {
	Call   string // the function, such as clEnqueueNDRangeKernel; on CUDA its own, such as cuLaunchKernel
	Detail string // the object of the call, or the reason why this package refused it; may be empty
	Status Status // the status that OpenCL returned, or would have returned
	Text   string // the status in the words of CUDA, such as "CUDA_ERROR_OUT_OF_MEMORY: out of memory"; "": those of OpenCL
	Err    error  // a further cause: ErrReleased, ErrMissingFunction, or nil
}

// Error returns "call: detail: status", or the Text in place of the status.
func (e *Error) Error() string {
	text := e.Call + ": "
	if e.Detail != "" {
		text += e.Detail + ": "
	}
	return text + cmp.Or(e.Text, e.Status.String())
}

// Unwrap returns the Status.
func (e *Error) Unwrap() error { return e.Status }

// Is reports whether target matches Err. Unwrap serves to match Status.
func (e *Error) Is(target error) bool { return e.Err != nil && errors.Is(e.Err, target) }

// about adds a detail to an *Error; it returns other errors unchanged.
func about(err error, detail string) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	more := *e
	if more.Detail != "" {
		detail += ": " + more.Detail
	}
	more.Detail = detail
	return &more
}

// refuse returns the error for an argument that this package does not pass on to the driver.
func refuse(call string, status Status, reason string) error {
	return &Error{Call: call, Detail: reason, Status: status}
}

// Status is an OpenCL status, of a call or of a command that ended. Negative values are errors.
// It implements error, so that
//
//	errors.Is(err, cl.InvalidWorkGroupSize)
//
// is true for every error of this package with that status.
type Status int32

// The statuses of the functions that this package calls, without their prefix CL_.
const (
	Success                            Status = 0
	DeviceNotFound                     Status = -1
	DeviceNotAvailable                 Status = -2
	CompilerNotAvailable               Status = -3
	MemObjectAllocationFailure         Status = -4
	OutOfResources                     Status = -5
	OutOfHostMemory                    Status = -6
	ProfilingInfoNotAvailable          Status = -7
	MemCopyOverlap                     Status = -8
	ImageFormatNotSupported            Status = -10
	BuildProgramFailure                Status = -11
	MisalignedSubBufferOffset          Status = -13
	ExecStatusErrorForEventsInWaitList Status = -14
	KernelArgInfoNotAvailable          Status = -19
	InvalidValue                       Status = -30
	InvalidDeviceType                  Status = -31
	InvalidPlatform                    Status = -32
	InvalidDevice                      Status = -33
	InvalidContext                     Status = -34
	InvalidQueueProperties             Status = -35
	InvalidCommandQueue                Status = -36
	InvalidMemObject                   Status = -38
	InvalidImageFormatDescriptor       Status = -39
	InvalidImageSize                   Status = -40
	InvalidSampler                     Status = -41
	InvalidBinary                      Status = -42
	InvalidBuildOptions                Status = -43
	InvalidProgram                     Status = -44
	InvalidProgramExecutable           Status = -45
	InvalidKernelName                  Status = -46
	InvalidKernelDefinition            Status = -47
	InvalidKernel                      Status = -48
	InvalidArgIndex                    Status = -49
	InvalidArgValue                    Status = -50
	InvalidArgSize                     Status = -51
	InvalidKernelArgs                  Status = -52
	InvalidWorkDimension               Status = -53
	InvalidWorkGroupSize               Status = -54
	InvalidWorkItemSize                Status = -55
	InvalidGlobalOffset                Status = -56
	InvalidEventWaitList               Status = -57
	InvalidEvent                       Status = -58
	InvalidOperation                   Status = -59
	InvalidBufferSize                  Status = -61
	InvalidGlobalWorkSize              Status = -63
	InvalidProperty                    Status = -64
	InvalidImageDescriptor             Status = -65
	InvalidSpecID                      Status = -71
	MaxSizeRestrictionExceeded         Status = -72
	PlatformNotFound                   Status = -1001
)

// String returns the name of the status, such as CL_INVALID_VALUE, or its number if it has no
// name.
func (s Status) String() string {
	if name, ok := otherStatuses[s]; ok {
		return name
	}
	for first, names := range map[Status][]string{Success: runTimeStatuses, InvalidValue: invalidStatuses} {
		if i := int(first - s); i >= 0 && i < len(names) {
			return "CL_" + names[i]
		}
	}
	return "OpenCL status " + strconv.Itoa(int(s))
}

// Error returns String.
func (s Status) Error() string { return s.String() }

// runTimeStatuses are the names of the statuses 0, -1, …
var runTimeStatuses = strings.Fields(`
	SUCCESS DEVICE_NOT_FOUND DEVICE_NOT_AVAILABLE COMPILER_NOT_AVAILABLE MEM_OBJECT_ALLOCATION_FAILURE
	OUT_OF_RESOURCES OUT_OF_HOST_MEMORY PROFILING_INFO_NOT_AVAILABLE MEM_COPY_OVERLAP
	IMAGE_FORMAT_MISMATCH IMAGE_FORMAT_NOT_SUPPORTED BUILD_PROGRAM_FAILURE MAP_FAILURE
	MISALIGNED_SUB_BUFFER_OFFSET EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST COMPILE_PROGRAM_FAILURE
	LINKER_NOT_AVAILABLE LINK_PROGRAM_FAILURE DEVICE_PARTITION_FAILED KERNEL_ARG_INFO_NOT_AVAILABLE`)

// invalidStatuses are the names of the statuses -30, -31, …
var invalidStatuses = strings.Fields(`
	INVALID_VALUE INVALID_DEVICE_TYPE INVALID_PLATFORM INVALID_DEVICE INVALID_CONTEXT
	INVALID_QUEUE_PROPERTIES INVALID_COMMAND_QUEUE INVALID_HOST_PTR INVALID_MEM_OBJECT
	INVALID_IMAGE_FORMAT_DESCRIPTOR INVALID_IMAGE_SIZE INVALID_SAMPLER INVALID_BINARY
	INVALID_BUILD_OPTIONS INVALID_PROGRAM INVALID_PROGRAM_EXECUTABLE INVALID_KERNEL_NAME
	INVALID_KERNEL_DEFINITION INVALID_KERNEL INVALID_ARG_INDEX INVALID_ARG_VALUE INVALID_ARG_SIZE
	INVALID_KERNEL_ARGS INVALID_WORK_DIMENSION INVALID_WORK_GROUP_SIZE INVALID_WORK_ITEM_SIZE
	INVALID_GLOBAL_OFFSET INVALID_EVENT_WAIT_LIST INVALID_EVENT INVALID_OPERATION INVALID_GL_OBJECT
	INVALID_BUFFER_SIZE INVALID_MIP_LEVEL INVALID_GLOBAL_WORK_SIZE INVALID_PROPERTY
	INVALID_IMAGE_DESCRIPTOR INVALID_COMPILER_OPTIONS INVALID_LINKER_OPTIONS
	INVALID_DEVICE_PARTITION_COUNT INVALID_PIPE_SIZE INVALID_DEVICE_QUEUE INVALID_SPEC_ID
	MAX_SIZE_RESTRICTION_EXCEEDED`)

// otherStatuses are the names of the statuses of extensions and vendors.
var otherStatuses = map[Status]string{
	PlatformNotFound: "CL_PLATFORM_NOT_FOUND_KHR",
	-1000:            "CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR",
	-1057:            "CL_DEVICE_PARTITION_FAILED_EXT",
	-1058:            "CL_INVALID_PARTITION_COUNT_EXT",
	-1059:            "CL_INVALID_PARTITION_NAME_EXT",
	-1092:            "CL_EGL_RESOURCE_NOT_ACQUIRED_KHR",
	-1093:            "CL_INVALID_EGL_OBJECT_KHR",
	-1094:            "CL_INVALID_ACCELERATOR_INTEL",
	-9999:            "CL_OUT_OF_RESOURCES (NVIDIA -9999: illegal read or write of memory)",
}
