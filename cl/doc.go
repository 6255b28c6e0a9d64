// Package cl is an OpenCL host layer without cgo: platforms, devices, contexts, queues,
// memory, programs, kernels, events. It loads the system's OpenCL library when Platforms or
// Devices is first called, so that programs build with CGO_ENABLED=0, need no headers, and
// start on machines that have no OpenCL.
//
// The package stays close to OpenCL: one method is one OpenCL call, or two where the second
// asks for a size, and the numbers are OpenCL's own. It knows nothing of tuning.
//
// # What it refuses to do
//
// It chooses nothing: no default device, no queue behind your back, no work-group size.
//
// It releases nothing on its own: there are no finalizers. What has a Release is released by
// whoever made it. Release may be called again and from anywhere; it takes effect when calls
// under way are done. Using a released object is an error that matches ErrReleased.
//
// It keeps no pointer into Go memory: there is no CL_MEM_USE_HOST_PTR. A non-blocking
// transfer pins its slice until the command has ended. Ranges that leave a buffer, an image
// or a slice are refused before the driver sees them. There is no shared virtual memory and
// no sharing with OpenGL or Direct3D.
//
// It guesses no argument types: an int, whose size depends on the machine, and a bool, which
// OpenCL forbids, are refused.
//
// # Errors
//
// Every failed call is an *Error with the call and its Status, and matches the status:
//
//	errors.Is(err, cl.InvalidWorkGroupSize)
//
// A failed Build is a *BuildError with the whole log. ErrNoLoader, ErrNoPlatform and
// ErrNoDevice say what to install. A function that the library or the platform is too old
// for answers ErrMissingFunction.
//
// # Concurrency
//
// Everything is safe for concurrent use, as in OpenCL, with one difference to mind: a
// kernel's arguments are its state, so that a Kernel is for one goroutine at a time. Oclgrind
// is not safe for concurrent use at all. Wait, Finish, Read and Write block a thread, not the
// other goroutines.
//
// # Environment
//
// NDTUNE_OPENCL_LIBRARY names a library to load in place of libOpenCL.so.1 (OpenCL.dll,
// OpenCL.framework), for instance an implementation itself, without a loader. When it cannot
// be loaded, nothing else is tried.
//
// # From go-opencl
//
// For programs that used github.com/jgillich/go-opencl/cl:
//
//	GetPlatforms, GetDevices                  Platforms, Devices
//	Platform.GetDevices                       Platform.Devices; none is no error
//	Platform.Name, Version, …                 Platform.Info, one struct
//	Device.Name, MaxComputeUnits, …           Device.Info, one struct
//	CreateContext(devices)                    NewContext(devices...)
//	Context.CreateCommandQueue                Context.NewQueue
//	CommandQueueProfilingEnable               Profiling
//	CommandQueueOutOfOrderExecModeEnable      OutOfOrder
//	MemObject                                 Buffer, Image
//	Context.CreateEmptyBuffer                 Context.NewBuffer
//	Context.CreateBuffer, CreateBufferFloat32 Context.NewBufferFrom(flags, Bytes(floats)), always a copy
//	CreateBufferUnsafe                        NewBuffer or NewBufferFrom
//	MemReadWrite, MemCopyHostPtr              ReadWrite; copying is a matter of NewBufferFrom
//	Context.CreateImageSimple, CreateImage    Context.NewImage2D, NewImage3D, NewImage
//	Context.CreateImageFromImage              Context.NewImageFrom
//	Context.GetSupportedImageFormats          Context.SupportedImageFormats
//	Context.CreateUserEvent                   Context.NewUserEvent, with Complete and Fail
//	Context.CreateProgramWithSource           Context.NewProgram, of one text
//	Program.BuildProgram(devices, options)    Program.Build(options, devices...)
//	BuildError (a string)                     *BuildError, the log at any length
//	Program.CreateKernel                      Program.NewKernel
//	Kernel.SetArgs, SetArg                    the same, of every type
//	Kernel.SetArgInt32, SetArgBuffer, …       Kernel.SetArg
//	LocalBuffer(n), Kernel.SetArgLocal        LocalBytes(n)
//	Kernel.SetArgUnsafe                       Raw
//	Kernel.NumArgs, ArgName                   Kernel.Info, ArgInfo
//	Kernel.WorkGroupSize, Preferred…Multiple  Kernel.WorkGroupInfo
//	EnqueueWriteBuffer(…, true, …)            Queue.Write
//	EnqueueWriteBuffer(…, false, …)           Queue.EnqueueWrite
//	EnqueueReadBufferFloat32(…, true, …)      Queue.Read(b, offset, Bytes(floats))
//	EnqueueCopyBuffer, EnqueueFillBuffer      Queue.EnqueueCopy, EnqueueFill
//	EnqueueMapBuffer, EnqueueMapImage         Queue.Map, MapImage
//	EnqueueUnmapMemObject                     Mapping.Unmap
//	MappedMemObject.ByteSlice                 Mapping.Bytes
//	EnqueueReadImage, EnqueueWriteImage       Queue.ReadImage, WriteImage, or with Enqueue
//	EnqueueNDRangeKernel(k, off, gl, lo, ev)  Queue.EnqueueKernel(k, off, gl, lo, ev...)
//	EnqueueTask(k)                            Queue.EnqueueKernel(k, nil, []int{1}, []int{1})
//	EnqueueMarkerWithWaitList, …Barrier…      Queue.EnqueueMarker, EnqueueBarrier
//	CommandQueue.Flush                        Queue.Flush, which does not wait; go-opencl's did
//	WaitForEvents(list)                       WaitForEvents(list...)
//	ErrInvalidWorkGroupSize == err            errors.Is(err, InvalidWorkGroupSize)
//
// Two things to change with the names: release everything, since no finalizer does it, and
// release the events that the Enqueue methods return.
package cl
