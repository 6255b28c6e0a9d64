// Package cl is an OpenCL host layer without cgo, with CUDA as one more platform: platforms, devices, contexts, queues, memory,
// programs, kernels, events. It loads the system's OpenCL library at the first call of Platforms
// or Devices. So programs build with CGO_ENABLED=0, need no headers, and start on machines that
// have no OpenCL.
//
// The package stays close to OpenCL: a method is one OpenCL call, or two if the first asks for a
// size, and constants have OpenCL's values. It knows nothing of tuning.
//
// # CUDA
//
// CUDA is one more platform, which CUDA returns: the functions of OpenCL over CUDA's driver and its compiler NVRTC, loaded by the
// first call of it, so that neither language needs the libraries of the other. Its programs are CUDA C, their binaries machine code, and
// everything else is as written here, with these differences. It has no images, samplers, SPIR-V and ArgInfo. A launch
// has no offset, and a queue no OutOfOrder. An argument after those of the kernel, of LocalBytes, is the size of its dynamic shared memory
// (extern __shared__). A variable that is declared __constant__ or __device__ is a buffer: see Program.Symbol. Errors are in CUDA's
// words, and match the Status of OpenCL that is nearest. A failed command may cost the process its device, as CUDA has it: every later
// call fails.
//
// # What it does not do
//
// A context has one device: programs for several devices make a context for each.
//
// It makes no choices: there is no default device, no hidden queue, no default work-group size.
//
// It has no finalizers. Every object with a Release method must be released by its owner. Release
// can be called more than once and from any goroutine; it takes effect when calls in progress are
// done. Using a released object is an error that matches ErrReleased.
//
// It keeps no pointers into Go memory: there is no CL_MEM_USE_HOST_PTR, and transfers between Go
// memory and a device return when they are done; call them in a goroutine to do something else
// meanwhile. Ranges outside a buffer, an image or a slice are errors before the driver sees them.
// It has no mapped memory, fills, user events, markers or barriers, and no images before OpenCL 1.2.
// There is no shared virtual memory, and no sharing with OpenGL or Direct3D.
//
// It does not guess argument types. An int, whose size depends on the machine, and a bool, which
// OpenCL forbids, are errors.
//
// # Errors
//
// Every failed call returns an *Error with the name of the function and its Status, and matches
// the status:
//
//	errors.Is(err, cl.InvalidWorkGroupSize)
//
// A failed Build returns a *BuildError with the whole log. ErrNoLoader, ErrNoPlatform and
// ErrNoDevice tell the user what to install. ErrMissingFunction is the error for a function that
// the library or the platform is too old to have.
//
// # Concurrency
//
// Everything is safe for concurrent use, as in OpenCL, with one exception: a kernel's arguments
// are its state, so that a Kernel must be used by one goroutine at a time. The platform Oclgrind
// is not safe for concurrent use at all. Wait, Finish, Read and Write block a thread, but not the
// other goroutines.
//
// # Environment
//
// NDTUNE_OPENCL_LIBRARY names a library to load instead of libOpenCL.so.1 (OpenCL.dll,
// OpenCL.framework), for instance an implementation itself, without a loader. If it cannot be
// loaded, no other library is tried.
//
// NDTUNE_CUDA_LIBRARY names a library to load instead of CUDA's driver, libcuda.so.1 (nvcuda.dll), and NDTUNE_NVRTC_LIBRARY one
// instead of libnvrtc, which is looked for where CUDA's toolkit and the packages for Python have it.
//
// # From go-opencl
//
// For programs that used github.com/jgillich/go-opencl/cl:
//
//	GetPlatforms, GetDevices                  Platforms, Devices
//	Platform.GetDevices                       Platform.Devices; none is no error
//	Platform.Name, Version, …                 Platform.Info, one struct
//	Device.Name, MaxComputeUnits, …           Device.Info, one struct
//	CreateContext(devices)                    NewContext, for each device
//	Context.CreateCommandQueue                Context.NewQueue
//	CommandQueueProfilingEnable               Profiling
//	CommandQueueOutOfOrderExecModeEnable      OutOfOrder
//	MemObject                                 Buffer, Image
//	Context.CreateEmptyBuffer                 Context.NewBuffer
//	Context.CreateBuffer, CreateBufferFloat32 Context.NewBufferFrom(flags, Bytes(floats)), always a copy
//	CreateBufferUnsafe                        NewBuffer or NewBufferFrom
//	MemReadWrite, MemCopyHostPtr              ReadWrite; to copy data, use NewBufferFrom
//	Context.CreateImageSimple, CreateImage    Context.NewImage; to copy pixels, use Queue.WriteImage
//	Context.GetSupportedImageFormats          Context.SupportedImageFormats
//	Context.CreateProgramWithSource           Context.NewProgram, of one text
//	Program.BuildProgram(devices, options)    Program.Build(options)
//	BuildError (a string)                     *BuildError, the log at any length
//	Program.CreateKernel                      Program.NewKernel
//	Kernel.SetArgs, SetArg                    the same, of every type
//	Kernel.SetArgInt32, SetArgBuffer, …       Kernel.SetArg
//	LocalBuffer(n), Kernel.SetArgLocal        LocalBytes(n)
//	Kernel.SetArgUnsafe                       Raw
//	Kernel.NumArgs, ArgName                   Kernel.NumArgs, ArgInfo
//	Kernel.WorkGroupSize                      Kernel.WorkGroupInfo
//	EnqueueWriteBuffer(…)                     Queue.Write, which waits; call it in a goroutine not to wait
//	EnqueueReadBufferFloat32(…, true, …)      Queue.Read(b, offset, Bytes(floats))
//	EnqueueCopyBuffer                         Queue.EnqueueCopy
//	EnqueueMapBuffer, EnqueueMapImage         Queue.Read and Write, ReadImage and WriteImage
//	EnqueueReadImage, EnqueueWriteImage       Queue.ReadImage, WriteImage
//	EnqueueNDRangeKernel(k, off, gl, lo, ev)  Queue.EnqueueKernel(k, off, gl, lo, ev...)
//	EnqueueTask(k)                            Queue.EnqueueKernel(k, nil, []int{1}, []int{1})
//	CommandQueue.Flush                        Queue.Flush, which does not wait; go-opencl's did
//	WaitForEvents(list)                       Event.Wait of each
//	ErrInvalidWorkGroupSize == err            errors.Is(err, InvalidWorkGroupSize)
//
// Besides the names, change two things: release all objects, because there are no finalizers, and
// release the events that the Enqueue methods return.
package cl
