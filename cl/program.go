package cl

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"
)

// Program is OpenCL C source, SPIR-V, or a binary, and the result of its build. Different programs can
// be built concurrently. A program must be built by one goroutine at a time, and not while it
// has kernels.
type Program struct {
	object
	context *Context
	devices []*Device
	built   atomic.Pointer[[]uintptr] // the devices of the last successful Build
}

// NewProgram creates a program from source text, which Build compiles.
func (c *Context) NewProgram(source string) (*Program, error) {
	f := &api.clCreateProgramWithSource
	if err := c.use(f); err != nil {
		return nil, err
	}
	defer c.leave()
	if source == "" {
		return nil, refuse(f.name, InvalidValue, "the source is empty")
	}
	text := terminated(source)
	texts, pin := pinAll([][]byte{text})
	defer pin.Unpin()
	length := uintptr(len(source))
	id, err := f.create(c.id, 1, uintptr(unsafe.Pointer(&texts[0])), uintptr(unsafe.Pointer(&length)))
	return c.program(id, err, c.devices)
}

// NewProgramFromBinaries creates a program from one binary for each device, which Binaries has
// returned for the same device and driver. It must be built before kernels are created.
func (c *Context) NewProgramFromBinaries(devices []*Device, binaries [][]byte) (*Program, error) {
	f := &api.clCreateProgramWithBinary
	if err := c.use(f); err != nil {
		return nil, err
	}
	defer c.leave()
	if len(devices) == 0 || len(devices) != len(binaries) {
		return nil, refuse(f.name, InvalidValue, fmt.Sprintf("%d devices, %d binaries", len(devices), len(binaries)))
	}
	ids, err := handles(f, devices)
	if err != nil {
		return nil, err
	}
	lengths := make([]uintptr, len(binaries))
	for i, binary := range binaries {
		if len(binary) == 0 {
			return nil, refuse(f.name, InvalidBinary, "no binary for "+devices[i].String())
		}
		lengths[i] = uintptr(len(binary))
	}
	data, pin := pinAll(binaries)
	defer pin.Unpin()
	loaded := make([]Status, len(binaries))
	id, err := f.create(c.id, uintptr(len(ids)), uintptr(unsafe.Pointer(&ids[0])),
		uintptr(unsafe.Pointer(&lengths[0])), uintptr(unsafe.Pointer(&data[0])), uintptr(unsafe.Pointer(&loaded[0])))
	p, err := c.program(id, err, slices.Clone(devices))
	if err != nil {
		return nil, about(err, binaryFailures(devices, loaded))
	}
	return p, nil
}

func binaryFailures(devices []*Device, loaded []Status) string {
	var list []string
	for i, status := range loaded {
		if status != Success {
			list = append(list, fmt.Sprintf("binary for %s: %s", devices[i], status))
		}
	}
	if len(list) == 0 {
		return fmt.Sprintf("binaries for %d devices", len(devices))
	}
	return strings.Join(list, ", ")
}

// NewProgramFromIL creates a program from an intermediate language that the device supports
// (see DeviceInfo.ILVersion), usually SPIR-V (OpenCL 2.1, or the extension cl_khr_il_program).
func (c *Context) NewProgramFromIL(il []byte) (*Program, error) {
	f := &api.clCreateProgramWithIL
	if err := c.use(f); err != nil {
		return nil, err
	}
	defer c.leave()
	if err := f.on(c.version); err != nil {
		if f = c.devices[0].platform.extension("clCreateProgramWithILKHR"); f.addr == 0 {
			return nil, err
		}
	}
	return c.programFromIL(f, il)
}

func (c *Context) programFromIL(f *function, il []byte) (*Program, error) {
	if len(il) == 0 {
		return nil, refuse(f.name, InvalidValue, "no data")
	}
	id, err := f.create(c.id, uintptr(bytesOf(il)), uintptr(len(il)))
	return c.program(id, err, c.devices)
}

// program returns the program that a create has made, or the error of the create.
func (c *Context) program(id uintptr, err error, devices []*Device) (*Program, error) {
	if err != nil {
		return nil, err
	}
	p := &Program{context: c, devices: devices}
	p.own(programKind, id)
	return p, nil
}

// pinAll pins blocks of memory and returns their addresses, for a call that takes an array of
// pointers. The address of an empty block is 0.
func pinAll(blocks [][]byte) ([]uintptr, *runtime.Pinner) {
	pin := new(runtime.Pinner)
	list := make([]uintptr, len(blocks))
	for i, block := range blocks {
		if len(block) > 0 {
			pin.Pin(&block[0])
			list[i] = uintptr(unsafe.Pointer(&block[0]))
		}
	}
	return list, pin
}

// Build compiles and links the program with options such as "-D n=4 -cl-mad-enable", for the
// given devices or, if none are given, for all devices of the program. If the build fails, the
// error is a *BuildError, which holds the log.
func (p *Program) Build(options string, devices ...*Device) error {
	f := &api.clBuildProgram
	if err := p.use(f); err != nil {
		return err
	}
	defer p.leave()
	if strings.IndexByte(options, 0) >= 0 {
		return refuse(f.name, InvalidBuildOptions, "the options hold a NUL")
	}
	if len(devices) == 0 {
		devices = p.devices
	}
	ids, err := handles(f, devices)
	if err != nil {
		return err
	}
	text := terminated(options)
	err = f.run(p.id, uintptr(len(ids)), uintptr(unsafe.Pointer(&ids[0])), uintptr(bytesOf(text)), 0, 0)
	var cause *Error
	if errors.As(err, &cause) {
		return p.buildError(cause, options, devices)
	}
	p.built.Store(&ids)
	return nil
}

const (
	programDevices     = 0x1163
	programBinarySizes = 0x1165
	programBinaries    = 0x1166
	programKernelNames = 0x1168
	buildStatus        = 0x1181
	buildLog           = 0x1183

	buildFailed = -2 // a build status
)

// BuildLog returns the compiler's log of the last Build for a device, whether it succeeded or
// failed.
func (p *Program) BuildLog(d *Device) (string, error) {
	data, err := p.buildInfo(d, buildLog)
	if err != nil {
		return "", err
	}
	return strings.TrimRight(string(data), "\x00"), nil
}

func (p *Program) buildInfo(d *Device, param uint32) ([]byte, error) {
	f := &api.clGetProgramBuildInfo
	if err := p.use(f); err != nil {
		return nil, err
	}
	defer p.leave()
	if err := d.check(f); err != nil {
		return nil, err
	}
	return queryOfPair(f, p.id, d.id)(param)
}

// Binaries returns the built binaries in the order of Devices, nil for devices for which the
// program was not built. Their format depends on the driver: machine code, PTX, an archive.
func (p *Program) Binaries() ([][]byte, error) {
	f := &api.clGetProgramInfo
	if err := p.use(f); err != nil {
		return nil, err
	}
	defer p.leave()
	q := queryOf(f, p.id)
	sizes, err := q(programBinarySizes)
	if err != nil {
		return nil, err
	}
	devices, err := q(programDevices)
	if err != nil {
		return nil, err
	}
	built := make([][]byte, len(sizes)/int(unsafe.Sizeof(uintptr(0))))
	for i, size := range words[int](sizes) {
		if size > 0 {
			built[i] = make([]byte, size)
		}
	}
	if len(built) == 0 {
		return nil, nil
	}
	list, pin := pinAll(built)
	defer pin.Unpin()
	err = f.run(p.id, programBinaries, uintptr(len(list))*unsafe.Sizeof(list[0]), uintptr(unsafe.Pointer(&list[0])), 0)
	if err != nil {
		return nil, err
	}
	return p.inOrder(p.binaryDevices(words[uintptr](devices), len(built)), built), nil
}

// inOrder sorts binaries from the order of the given devices into that of Devices.
func (p *Program) inOrder(ids []uintptr, built [][]byte) [][]byte {
	list := make([][]byte, len(p.devices))
	for i, d := range p.devices {
		if at := slices.Index(ids, d.id); at >= 0 && at < len(built) {
			list[i] = built[at]
		}
	}
	return list
}

// KernelNames returns the names of the kernels of a built program.
func (p *Program) KernelNames() ([]string, error) {
	f := &api.clGetProgramInfo
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

// Release releases the program; its kernels stay usable. Further calls, and calls on nil, do
// nothing.
func (p *Program) Release() { p.handle().drop() }

// handle returns the object, or nil for nil.
func (p *Program) handle() *object {
	if p == nil {
		return nil
	}
	return &p.object
}

func (p *Program) use(f *function) error { return p.handle().use(f, programKind) }

// BuildError is the error of a failed build.
type BuildError struct {
	Device  *Device // the device for which the build failed, or the first of several
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

// buildError finds the device on which the build failed, and its log.
func (p *Program) buildError(cause *Error, options string, devices []*Device) *BuildError {
	e := &BuildError{Device: devices[0], Options: options, Err: cause}
	for _, d := range devices {
		status, err := p.buildInfo(d, buildStatus)
		if err == nil && int32(decode(status)) == buildFailed {
			e.Device = d
			break
		}
	}
	e.Log, _ = p.BuildLog(e.Device) // the log is "" if it cannot be read
	return e
}
