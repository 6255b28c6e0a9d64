package cl

import (
	"fmt"
	"sync"
	"unsafe"
)

// Kernel is a kernel function of a built program, with its arguments.
//
// As in OpenCL, the arguments are part of the kernel's state: EnqueueKernel uses those that were
// set last. clSetKernelArg is the one function that OpenCL does not make safe for concurrent
// use. This package serialises its calls, but a goroutine may still launch with arguments that
// another has set: give each goroutine its own Kernel.
type Kernel struct {
	object
	program *Program
	name    string

	mu     sync.Mutex // guards the fields below, and the arguments in the driver
	held   []argument // the objects among the arguments, by index
	value  uint64     // a number on its way to the driver
	launch launch
}

// NewKernel creates a kernel of the named function. The program must have been built.
func (p *Program) NewKernel(name string) (*Kernel, error) {
	f := &api(p).clCreateKernel
	if err := p.use(f); err != nil {
		return nil, err
	}
	defer p.leave()
	text := terminated(name)
	id, err := f.create(p.id, uintptr(bytesOf(text)))
	if err != nil {
		return nil, about(err, name)
	}
	k := &Kernel{program: p, name: name}
	k.own(kernelKind, id, p.api)
	return k, nil
}

const kernelNumArgs = 0x1191

// NumArgs returns the number of arguments.
func (k *Kernel) NumArgs() (int, error) {
	f := &api(k).clGetKernelInfo
	if err := k.use(f); err != nil {
		return 0, err
	}
	defer k.leave()
	data, err := queryOf(f, k.id)(kernelNumArgs)
	return int(decode(data)), about(err, k.name)
}

// WorkGroupInfo holds the limits and the needs of a compiled kernel on a device.
type WorkGroupInfo struct {
	MaxSize     int    `cl:"0x11B0,required"` // work-items of a work-group
	CompileSize [3]int `cl:"0x11B1"`          // reqd_work_group_size; zeros: none
	LocalMem    int64  `cl:"0x11B2"`          // bytes per work-group, with the local arguments set so far
	PrivateMem  int64  `cl:"0x11B4"`          // bytes per work-item; many drivers report 0
}

// WorkGroupInfo returns the limits and needs of the kernel on the device. Values that the driver
// does not report are zero; it is an error only if it does not even report MaxSize.
func (k *Kernel) WorkGroupInfo() (WorkGroupInfo, error) {
	f := &api(k).clGetKernelWorkGroupInfo
	if err := k.use(f); err != nil {
		return WorkGroupInfo{}, err
	}
	defer k.leave()
	var info WorkGroupInfo
	err := queryOf(f, k.id, k.program.context.device.id).read(&info)
	return info, about(err, k.name)
}

// SpillMem returns the memory for registers of the kernel that do not suffice, in bytes. The device must have the extension
// cl_intel_required_subgroup_size.
func (k *Kernel) SpillMem() (int64, error) {
	const spillMemSize = 0x4109
	f := &api(k).clGetKernelWorkGroupInfo
	if err := k.use(f); err != nil {
		return 0, err
	}
	defer k.leave()
	data, err := queryOf(f, k.id, k.program.context.device.id)(spillMemSize)
	return int64(decode(data)), about(err, k.name)
}

// Release releases the kernel; enqueued launches still run. Further calls, and calls on nil, do
// nothing.
func (k *Kernel) Release() { handle(k).drop() }

func (k *Kernel) use(f *function) error { return handle(k).use(f, kernelKind) }

// launch holds the sizes of an NDRange for the driver to read. It is part of the kernel, so that
// a launch allocates only its event.
type launch struct {
	offset, global, local [3]uintptr
}

// EnqueueKernel launches the kernel over an NDRange with the dimensions of global, 1 to 3. A nil
// offset is zero. With a nil local, the driver chooses the work-group size. The launch uses the
// arguments at the time of the call.
func (q *Queue) EnqueueKernel(k *Kernel, offset, global, local []int, wait ...*Event) (*Event, error) {
	f := &api(q).clEnqueueNDRangeKernel
	if err := k.use(f); err != nil {
		return nil, err
	}
	defer k.leave()
	c, err := q.begin(f, wait)
	if err != nil {
		return nil, about(err, k.name)
	}
	defer c.end()
	k.mu.Lock()
	defer k.mu.Unlock()
	held, err := k.holdArguments(f)
	defer held.leave()
	if err != nil {
		return nil, err
	}
	if err := k.launch.set(f, offset, global, local); err != nil {
		return nil, about(err, k.name)
	}
	if err := f.run(q.id, k.id, uintptr(len(global)),
		uintptr(optional(&k.launch.offset, offset)),
		uintptr(unsafe.Pointer(&k.launch.global)),
		uintptr(optional(&k.launch.local, local)),
		c.waitCount(), uintptr(c.waitList()), uintptr(c.slot())); err != nil { // not c.run, which allocates more
		return nil, about(err, fmt.Sprintf("%s, global size %v, local size %v", k.name, global, local))
	}
	return c.event(), nil
}

func (l *launch) set(f *function, offset, global, local []int) error {
	if n := len(global); n < 1 || n > 3 {
		return refuse(f.name, InvalidWorkDimension, fmt.Sprintf("%d dimensions", n))
	}
	for _, r := range []struct {
		name   string
		from   []int
		to     *[3]uintptr
		least  int
		status Status
	}{
		{"offset", offset, &l.offset, 0, InvalidGlobalOffset},
		{"global size", global, &l.global, 0, InvalidGlobalWorkSize},
		{"local size", local, &l.local, 1, InvalidWorkGroupSize},
	} {
		if len(r.from) != 0 && len(r.from) != len(global) {
			return refuse(f.name, r.status, fmt.Sprintf("the %s has %d dimensions, the global size %d", r.name, len(r.from), len(global)))
		}
		for i, n := range r.from {
			if n < r.least {
				return refuse(f.name, r.status, fmt.Sprintf("%s %v", r.name, r.from))
			}
			r.to[i] = uintptr(n)
		}
	}
	return nil
}

// optional returns the address of sizes, or nil if none were given.
func optional(sizes *[3]uintptr, given []int) unsafe.Pointer {
	if len(given) == 0 {
		return nil
	}
	return unsafe.Pointer(sizes)
}

// ArgInfo describes the declaration of an argument in the source.
type ArgInfo struct {
	Name      string           `cl:"0x119A"`
	Type      string           `cl:"0x1198"` // such as "float*" or "uint4"
	Address   AddressQualifier `cl:"0x1196,required"`
	Access    AccessQualifier  `cl:"0x1197"`
	Qualifier TypeQualifier    `cl:"0x1199"`
}

// AddressQualifier is the address space of an argument, AddressPrivate for a value.
type AddressQualifier uint32

// The address spaces.
const (
	AddressGlobal   AddressQualifier = 0x119B
	AddressLocal    AddressQualifier = 0x119C
	AddressConstant AddressQualifier = 0x119D
	AddressPrivate  AddressQualifier = 0x119E
)

// AccessQualifier is the way in which a kernel accesses an image argument, AccessNone for other
// arguments.
type AccessQualifier uint32

// The ways to access images.
const (
	AccessReadOnly  AccessQualifier = 0x11A0
	AccessWriteOnly AccessQualifier = 0x11A1
	AccessReadWrite AccessQualifier = 0x11A2
	AccessNone      AccessQualifier = 0x11A3
)

// TypeQualifier is the set of qualifiers of the type that a pointer argument points to.
type TypeQualifier uint64

// The qualifiers.
const (
	TypeConst    TypeQualifier = 1 << 0
	TypeRestrict TypeQualifier = 1 << 1
	TypeVolatile TypeQualifier = 1 << 2
	TypePipe     TypeQualifier = 1 << 3
)

// ArgInfo returns the declaration of argument i, from 0 (OpenCL 1.2). Many drivers need programs
// to be built with -cl-kernel-arg-info; otherwise the error is KernelArgInfoNotAvailable.
func (k *Kernel) ArgInfo(i int) (ArgInfo, error) {
	f := &api(k).clGetKernelArgInfo
	if err := k.use(f); err != nil {
		return ArgInfo{}, err
	}
	defer k.leave()
	what := fmt.Sprintf("argument %d of %s", i, k.name)
	if i < 0 || i >= int(queryOf(&k.api.clGetKernelInfo, k.id).uint(kernelNumArgs)) {
		return ArgInfo{}, refuse(f.name, InvalidArgIndex, what) // NVIDIA's own answer is InvalidValue
	}
	if err := f.on(k.program.context.version); err != nil {
		return ArgInfo{}, about(err, what)
	}
	var info ArgInfo
	err := queryOf(f, k.id, uintptr(i)).read(&info)
	return info, about(err, what)
}
