package cl

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unsafe"
)

// Program is OpenCL C source (CUDA C on CUDA), SPIR-V, or a binary, and the result of its build. Different programs can
// be built concurrently. A program must be built by one goroutine at a time, and not while it
// has kernels.
type Program struct {
	object
	context *Context
}

// NewProgram creates a program from source text, which Build compiles.
func (c *Context) NewProgram(source string) (*Program, error) {
	f := &api(c).clCreateProgramWithSource
	if err := c.use(f); err != nil {
		return nil, err
	}
	defer c.leave()
	if source == "" {
		return nil, refuse(f.name, InvalidValue, "the source is empty")
	}
	text, pin := pinned(terminated(source)) // some drivers look for the end, whatever the length says
	defer pin.Unpin()
	length := uintptr(len(source))
	id, err := f.create(c.id, 1, uintptr(unsafe.Pointer(text)), uintptr(unsafe.Pointer(&length)))
	return c.program(id, err)
}

// NewProgramFromBinary creates a program from a binary that Binary has returned for the same device and
// driver. It must be built before kernels are created.
func (c *Context) NewProgramFromBinary(binary []byte) (*Program, error) {
	f := &api(c).clCreateProgramWithBinary
	if err := c.use(f); err != nil {
		return nil, err
	}
	defer c.leave()
	if len(binary) == 0 {
		return nil, refuse(f.name, InvalidBinary, "it is empty")
	}
	data, pin := pinned(binary)
	defer pin.Unpin()
	length, loaded := uintptr(len(binary)), Success
	id, err := f.create(c.id, 1, uintptr(unsafe.Pointer(&c.device.id)),
		uintptr(unsafe.Pointer(&length)), uintptr(unsafe.Pointer(data)), uintptr(unsafe.Pointer(&loaded)))
	if err != nil && loaded != Success {
		err = about(err, fmt.Sprintf("binary for %s: %s", c.device, loaded))
	}
	return c.program(id, err)
}

// NewProgramFromIL creates a program from an intermediate language that the device supports
// (see DeviceInfo.ILVersion), usually SPIR-V (OpenCL 2.1, or the extension cl_khr_il_program).
func (c *Context) NewProgramFromIL(il []byte) (*Program, error) {
	f := &api(c).clCreateProgramWithIL
	if err := c.use(f); err != nil {
		return nil, err
	}
	defer c.leave()
	if err := f.on(c.version); err != nil {
		if f = c.device.platform.extension("clCreateProgramWithILKHR"); f.addr == 0 {
			return nil, err
		}
	}
	if len(il) == 0 {
		return nil, refuse(f.name, InvalidValue, "no data")
	}
	id, err := f.create(c.id, uintptr(bytesOf(il)), uintptr(len(il)))
	return c.program(id, err)
}

// program returns the program that a create has made, or the error of the create.
func (c *Context) program(id uintptr, err error) (*Program, error) {
	if err != nil {
		return nil, err
	}
	p := &Program{context: c}
	p.own(programKind, id, c.api)
	return p, nil
}

// pinned pins a block of memory, which is not empty, and returns where its address is, for a call that takes an array of pointers.
func pinned(block []byte) (*uintptr, *runtime.Pinner) {
	pin := new(runtime.Pinner)
	pin.Pin(&block[0])
	address := uintptr(unsafe.Pointer(&block[0]))
	return &address, pin
}

// Build compiles and links the program with options such as "-D n=4 -cl-mad-enable". If the build fails, the
// error is a *BuildError, which holds the log.
func (p *Program) Build(options string) error {
	f := &api(p).clBuildProgram
	if err := p.use(f); err != nil {
		return err
	}
	defer p.leave()
	if strings.IndexByte(options, 0) >= 0 {
		return refuse(f.name, InvalidBuildOptions, "the options hold a NUL")
	}
	device := p.context.device
	err := f.run(p.id, 1, uintptr(unsafe.Pointer(&device.id)), uintptr(bytesOf(terminated(options))), 0, 0)
	if cause, is := errors.AsType[*Error](err); is {
		log, _ := p.BuildLog() // "" if it cannot be read
		return &BuildError{Device: device, Options: options, Log: log, Err: cause}
	}
	return nil
}

const (
	programBinarySizes = 0x1165
	programBinaries    = 0x1166
	programKernelNames = 0x1168
	buildLog           = 0x1183
)

// BuildLog returns the compiler's log of the last Build, whether it succeeded or failed.
func (p *Program) BuildLog() (string, error) {
	f := &api(p).clGetProgramBuildInfo
	if err := p.use(f); err != nil {
		return "", err
	}
	defer p.leave()
	data, err := queryOf(f, p.id, p.context.device.id)(buildLog)
	return strings.TrimRight(string(data), "\x00"), err
}

// Binary returns the built binary. Its format depends on the driver: machine code, PTX, an archive. For a program that was
// not built, it is nil, or an error of some drivers.
func (p *Program) Binary() ([]byte, error) {
	f := &api(p).clGetProgramInfo
	if err := p.use(f); err != nil {
		return nil, err
	}
	defer p.leave()
	data, err := queryOf(f, p.id)(programBinarySizes)
	sizes := words(data)
	if err != nil || len(sizes) == 0 || sizes[0] == 0 {
		return nil, err
	}
	binary := make([]byte, sizes[0])
	to, pin := pinned(binary)
	defer pin.Unpin()
	if err := f.run(p.id, programBinaries, unsafe.Sizeof(*to), uintptr(unsafe.Pointer(to)), 0); err != nil {
		return nil, err
	}
	return binary, nil
}

// KernelNames returns the names of the kernels of a built program.
func (p *Program) KernelNames() ([]string, error) {
	f := &api(p).clGetProgramInfo
	if err := p.use(f); err != nil {
		return nil, err
	}
	defer p.leave()
	data, err := queryOf(f, p.id)(programKernelNames)
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(trimText(data), func(r rune) bool { return r == ';' }), nil
}

// Symbol returns the variable of a built program that is declared __constant__ or __device__, as a buffer. The memory is the program's:
// release the buffer, and use it only while the program or one of its kernels is not released. Only CUDA has symbols.
func (p *Program) Symbol(name string) (*Buffer, error) {
	f := &api(p).getSymbol
	if err := p.use(f); err != nil {
		return nil, err
	}
	defer p.leave()
	text, size := terminated(name), uintptr(0)
	id, err := f.create(p.id, uintptr(bytesOf(text)), uintptr(unsafe.Pointer(&size)))
	if err != nil {
		return nil, about(err, name)
	}
	b := &Buffer{size: int(size)}
	b.own(bufferKind, id, p.api)
	return b, nil
}

// Release releases the program; its kernels stay usable. Further calls, and calls on nil, do
// nothing.
func (p *Program) Release() { handle(p).drop() }

func (p *Program) use(f *function) error { return handle(p).use(f, programKind) }

// BuildError is the error of a failed build.
type BuildError struct {
	Device  *Device
	Options string
	Log     string // the whole log of the compiler
	Err     error  // the *Error of the call; its Status is usually BuildProgramFailure
}

// Error returns the call and its status, the options, the device, and the whole log.
func (e *BuildError) Error() string {
	text := fmt.Sprintf("%v on %v", e.Err, e.Device)
	if e.Options != "" {
		text += " with " + e.Options
	}
	if log := strings.TrimSpace(e.Log); log != "" {
		text += ":\n" + log
	}
	return text
}

// Unwrap returns the *Error of the call.
func (e *BuildError) Unwrap() error { return e.Err }
