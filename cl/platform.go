package cl

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/ndtune/ndtune/internal/cuda"
	"github.com/ndtune/ndtune/internal/each"
)

// ErrNoPlatform is the error if the OpenCL library has no platform, because no driver is
// installed.
var ErrNoPlatform = errors.New("no OpenCL platform")

// Platform is an OpenCL implementation, such as a vendor's driver, or CUDA. Each has exactly one Platform
// for the life of the process, so that platforms can be compared with ==. It needs no release.
type Platform struct {
	id   uintptr
	api  *table
	info func() (*PlatformInfo, error)
}

// PlatformInfo describes a platform. Values that the driver does not report are zero.
type PlatformInfo struct {
	Name    string `cl:"0x0902,required"`
	Version string `cl:"0x0901"` // "OpenCL 3.0 …", "CUDA 13.0"
}

// platforms holds the one *Platform of each key.
var platforms sync.Map

// key tells platforms or devices apart, whose ids are unique only in their library.
type key struct {
	api *table
	id  uintptr
}

func platformOf(id uintptr, api *table) *Platform {
	fresh := &Platform{id: id, api: api}
	fresh.info = sync.OnceValues(fresh.readInfo)
	p, _ := platforms.LoadOrStore(key{api, id}, fresh)
	return p.(*Platform)
}

// Platforms returns all platforms, in the order of the loader. The error is ErrNoLoader if the
// OpenCL library cannot be loaded, and ErrNoPlatform if there is no platform; both tell the user
// what to install.
func Platforms() ([]*Platform, error) {
	if err := load(); err != nil {
		return nil, err
	}
	all, err := openCL.platforms()
	if err == nil && len(all) == 0 {
		return nil, fmt.Errorf("%w: the OpenCL library found no driver\n%s", ErrNoPlatform, installDriver)
	}
	return all, err
}

// CUDA returns the platform whose programs are CUDA C: see the package comment. It is not among those of Platforms. The error says what
// is missing, and how to get it.
func CUDA() (*Platform, error) {
	api, err := loadCUDA()
	if err != nil {
		return nil, err
	}
	return api.first()
}

// first returns the first platform of a library.
func (t *table) first() (*Platform, error) {
	all, err := t.platforms()
	if err != nil || len(all) == 0 {
		return nil, cmp.Or(err, error(PlatformNotFound))
	}
	return all[0], nil
}

// Known returns what this process knows of a device of CUDA, by the numbers of queries; nil of one of OpenCL.
func (d *Device) Known() map[uintptr][]byte {
	if d.platform.api.clGetDeviceInfo.own == nil {
		return nil
	}
	return cuda.KnownOf(d.id)
}

// ForCompiling returns a device of CUDA of which another process knows all that [Device.Info] has. CUDA's driver is not loaded: programs can
// be built for it, and nothing else.
func ForCompiling(known map[uintptr][]byte) *Device {
	p, _ := tableOf(cuda.ForCompiling(known)).first() // in Go, and with one device
	all, _ := p.Devices(DeviceAll)
	return all[0]
}

// HasCUDA loads CUDA's driver, and reports whether it is there; whether it finds a device, [CUDA] tells later.
func HasCUDA() bool { return cuda.Installed() }

// CUDACompiler returns an error that says how to get NVRTC, the compiler of CUDA C, if it is not there. CUDA has devices without it.
func CUDACompiler() error { return cuda.Compiler() }

// platforms returns the platforms of a library; that it has none is no error.
func (t *table) platforms() ([]*Platform, error) {
	listing.Lock()
	defer listing.Unlock()
	ids, err := list(func(room uintptr, ids *uintptr, count *uint32) error {
		return t.clGetPlatformIDs.run(room, uintptr(unsafe.Pointer(ids)), uintptr(unsafe.Pointer(count)))
	})
	if err != nil && !errors.Is(err, PlatformNotFound) {
		return nil, err
	}
	return each.Of(ids, func(id uintptr) *Platform { return platformOf(id, t) }), nil
}

// listing is held while platforms or devices are listed: PoCL crashes if two threads are the first to do so at once.
var listing sync.Mutex

// list returns what OpenCL lists, such as handles: it asks for their number first.
func list[T any](ask func(room uintptr, all *T, count *uint32) error) ([]T, error) {
	var count uint32
	if err := ask(0, nil, &count); err != nil {
		return nil, err
	}
	if count == 0 {
		return nil, nil
	}
	all := make([]T, count)
	if err := ask(uintptr(count), &all[0], &count); err != nil {
		return nil, err
	}
	return all[:min(int(count), len(all))], nil
}

// Info returns the description of the platform. It is read once and shared: do not change it. It
// is an error only if the driver does not even report the name.
func (p *Platform) Info() (*PlatformInfo, error) {
	if p == nil || p.id == 0 {
		return nil, refuse("clGetPlatformInfo", InvalidPlatform, "the platform is nil")
	}
	return p.info()
}

func (p *Platform) readInfo() (*PlatformInfo, error) {
	q := queryOf(&p.api.clGetPlatformInfo, p.id)
	info := &PlatformInfo{}
	if err := q.read(info); err != nil {
		return nil, about(err, "name of the platform")
	}
	return info, nil
}

// String returns the name of the platform.
func (p *Platform) String() string {
	info, err := p.Info()
	if err != nil {
		return "unknown platform"
	}
	return info.Name
}

// Devices returns the platform's devices of a type. The list is empty, without an error, if there
// are none.
func (p *Platform) Devices(t DeviceType) ([]*Device, error) {
	if p == nil || p.id == 0 {
		return nil, refuse("clGetDeviceIDs", InvalidPlatform, "the platform is nil")
	}
	listing.Lock()
	defer listing.Unlock()
	ids, err := list(func(room uintptr, ids *uintptr, count *uint32) error {
		return p.api.clGetDeviceIDs.run(p.id, uintptr(t), room, uintptr(unsafe.Pointer(ids)), uintptr(unsafe.Pointer(count)))
	})
	if errors.Is(err, DeviceNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, about(err, p.String())
	}
	return each.Of(ids, func(id uintptr) *Device { return deviceOf(id, p) }), nil
}

// extension returns a function of an extension. Its address is 0 if the platform does not have it.
func (p *Platform) extension(name string) *function {
	f, text := &function{name: name}, terminated(name)
	if lookup := &p.api.clGetExtensionFunctionAddressForPlatform; lookup.addr != 0 {
		f.addr = lookup.call([]uintptr{p.id}, uintptr(bytesOf(text)))
	}
	return f
}

// version returns the OpenCL version as major*10 + minor, or 0 if it is unknown.
func (p *Platform) version() int {
	info, err := p.Info()
	if err != nil {
		return 0
	}
	var major, minor int
	if n, _ := fmt.Sscanf(info.Version, "OpenCL %d.%d", &major, &minor); n != 2 {
		return 0
	}
	return major*10 + minor
}
