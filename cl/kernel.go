package cl

import (
	"sync"
	"unsafe"
)

// Kernel is a function of a built program, with its arguments.
//
// The arguments are a state of the kernel, as in OpenCL: EnqueueKernel launches with those
// that were set last. clSetKernelArg is the one call that OpenCL does not make safe for
// concurrent use. Here such calls take turns, so nothing breaks, but a goroutine may launch
// with arguments that another has set: give each goroutine its own Kernel.
type Kernel struct {
	object
	program *Program
	name    string

	mu     sync.Mutex // guards what follows, and the kernel's arguments in the driver
	held   []argument // by index: the objects among the arguments
	value  [16]uint64 // a scalar or vector on its way to the driver: up to 128 bytes
	launch launch
}

// NewKernel makes a kernel of the function of that name. The program must have been built.
func (p *Program) NewKernel(name string) (*Kernel, error) {
	f := clCreateKernel
	if err := p.use(f); err != nil {
		return nil, err
	}
	defer p.leave()
	text := terminated(name)
	var status Status
	id := f.create(p.id, uintptr(bytesOf(text)), uintptr(unsafe.Pointer(&status)))
	if err := f.made(id, status); err != nil {
		return nil, about(err, name)
	}
	return p.kernel(id, name), nil
}

// Kernels makes one kernel of every kernel function of the program.
func (p *Program) Kernels() ([]*Kernel, error) {
	f := clCreateKernelsInProgram
	if err := p.use(f); err != nil {
		return nil, err
	}
	defer p.leave()
	ids, err := listIDs(func(room uintptr, ids *uintptr, count *uint32) error {
		return f.run(p.id, room, uintptr(unsafe.Pointer(ids)), uintptr(unsafe.Pointer(count)))
	})
	if err != nil {
		return nil, err
	}
	list := make([]*Kernel, len(ids))
	for i, id := range ids {
		list[i] = p.kernel(id, queryOf(clGetKernelInfo, id).text(kernelFunctionName))
	}
	return list, nil
}

func (p *Program) kernel(id uintptr, name string) *Kernel {
	k := &Kernel{program: p, name: name}
	k.own(kernelKind, id)
	return k
}

// Name returns the name of the function.
func (k *Kernel) Name() string { return k.name }

// KernelInfo describes a kernel.
type KernelInfo struct {
	Name       string
	NumArgs    int
	Attributes string // as the driver spells them, such as "reqd_work_group_size(16,16,1)" (OpenCL 1.2)
}

const (
	kernelFunctionName = 0x1190
	kernelNumArgs      = 0x1191
	kernelAttributes   = 0x1195

	kernelWorkGroupSize         = 0x11B0
	kernelCompileWorkGroupSize  = 0x11B1
	kernelLocalMemSize          = 0x11B2
	kernelPreferredSizeMultiple = 0x11B3
	kernelPrivateMemSize        = 0x11B4
)

// Info describes the kernel.
func (k *Kernel) Info() (*KernelInfo, error) {
	f := clGetKernelInfo
	if err := k.use(f); err != nil {
		return nil, err
	}
	defer k.leave()
	q := queryOf(f, k.id)
	count, err := q(kernelNumArgs)
	if err != nil {
		return nil, about(err, k.name)
	}
	return &KernelInfo{
		Name:       q.text(kernelFunctionName),
		NumArgs:    int(decode(count)),
		Attributes: q.text(kernelAttributes),
	}, nil
}

// WorkGroupInfo is what a compiled kernel needs of a device.
type WorkGroupInfo struct {
	MaxSize           int    // work-items of a work-group
	CompileSize       [3]int // reqd_work_group_size; zeros: none
	LocalMem          int64  // bytes a work-group, with the local arguments set so far
	PrivateMem        int64  // bytes a work-item; many drivers say 0
	PreferredMultiple int    // of the size of a work-group: the warp or wavefront
}

// WorkGroupInfo returns what the kernel needs of a device. What the driver does not tell is
// zero; it fails when not even MaxSize can be had.
func (k *Kernel) WorkGroupInfo(d *Device) (WorkGroupInfo, error) {
	f := clGetKernelWorkGroupInfo
	if err := k.use(f); err != nil {
		return WorkGroupInfo{}, err
	}
	defer k.leave()
	if d == nil || d.id == 0 {
		return WorkGroupInfo{}, refuse(f.name, InvalidDevice, "the device is nil")
	}
	q := queryOfPair(f, k.id, d.id)
	size, err := q(kernelWorkGroupSize)
	if err != nil {
		return WorkGroupInfo{}, about(err, k.name)
	}
	info := WorkGroupInfo{
		MaxSize:           int(decode(size)),
		LocalMem:          q.int64(kernelLocalMemSize),
		PrivateMem:        q.int64(kernelPrivateMemSize),
		PreferredMultiple: q.int(kernelPreferredSizeMultiple),
	}
	copy(info.CompileSize[:], q.ints(kernelCompileWorkGroupSize))
	return info, nil
}

// Release gives the kernel up; launches under way go on. It does nothing when called again,
// or on nil.
func (k *Kernel) Release() {
	if k != nil {
		k.drop()
	}
}

func (k *Kernel) use(f *function) error {
	if k == nil {
		return kernelKind.gone(f.name)
	}
	return k.object.use(f, kernelKind)
}
