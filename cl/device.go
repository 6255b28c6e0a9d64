package cl

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"unsafe"
)

// ErrNoDevice is the error if there are platforms, but none has a device of the requested type.
var ErrNoDevice = errors.New("no OpenCL device")

// DeviceType is a set of device types.
type DeviceType uint64

// The types of devices.
const (
	DeviceDefault     DeviceType = 1 << 0 // the preferred device of the platform
	DeviceCPU         DeviceType = 1 << 1
	DeviceGPU         DeviceType = 1 << 2
	DeviceAccelerator DeviceType = 1 << 3
	DeviceCustom      DeviceType = 1 << 4 // devices without a compiler; not in DeviceAll
	DeviceAll         DeviceType = 0xFFFFFFFF
)

// String returns names joined with "|", such as "GPU" or "default|CPU", and "all".
func (t DeviceType) String() string {
	if t == DeviceAll {
		return "all"
	}
	return joinBits(uint64(t), "default", "CPU", "GPU", "accelerator", "custom")
}

// joinBits returns the names of the bits of a set, from the lowest, joined with "|".
func joinBits(set uint64, names ...string) string {
	var list []string
	for i, name := range names {
		if set&(1<<i) != 0 {
			list = append(list, name)
			set &^= 1 << i
		}
	}
	if set != 0 {
		list = append(list, fmt.Sprintf("%#x", set))
	}
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, "|")
}

// Device is a device of a platform. Each device has exactly one Device for the life of the
// process, so that devices can be compared with ==. It needs no release.
type Device struct {
	id       uintptr
	platform *Platform
	info     func() (*DeviceInfo, error)
}

// devices holds the one *Device of each key.
var devices sync.Map

func deviceOf(id uintptr, p *Platform) *Device {
	fresh := &Device{id: id, platform: p}
	fresh.info = sync.OnceValues(fresh.readInfo)
	d, _ := devices.LoadOrStore(key{p.api, id}, fresh)
	return d.(*Device)
}

// Devices returns the devices of a type on all platforms, in the order of the platforms. The
// error is that of Platforms, or ErrNoDevice if there is no such device. A platform that fails
// to list its devices is ignored if another has some.
func Devices(t DeviceType) ([]*Device, error) {
	platforms, err := Platforms()
	if err != nil {
		return nil, err
	}
	var list []*Device
	var names []string
	var failures []error
	for _, p := range platforms {
		devices, err := p.Devices(t)
		if err != nil {
			failures = append(failures, err)
		}
		list = append(list, devices...)
		names = append(names, p.String())
	}
	if len(list) > 0 {
		return list, nil
	}
	err = fmt.Errorf("%w of type %s on %s\n%s", ErrNoDevice, t, strings.Join(names, ", "), installDriver)
	return nil, errors.Join(append([]error{err}, failures...)...)
}

// Platform returns the platform that the device belongs to.
func (d *Device) Platform() *Platform { return d.platform }

// Info returns the description of the device. It is read once and shared: do not change it. It
// is an error only if the driver does not even report the name.
func (d *Device) Info() (*DeviceInfo, error) {
	if err := d.check("clGetDeviceInfo"); err != nil {
		return nil, err
	}
	return d.info()
}

// String returns the name of the device.
func (d *Device) String() string {
	info, err := d.Info()
	if err != nil {
		return "unknown device"
	}
	return info.Name
}

// check returns an error if the device is nil.
func (d *Device) check(call string) error {
	if d == nil || d.id == 0 {
		return refuse(call, InvalidDevice, "the device is nil")
	}
	return nil
}

// Context holds a device and the objects that belong to it: queues, buffers, images, programs. It must be
// released. Objects created in it live until they are released themselves.
type Context struct {
	object
	device  *Device
	version int // OpenCL version of the platform, major*10 + minor; 0: unknown
}

const contextPlatform = 0x1084

// NewContext creates a context of a device.
func NewContext(d *Device) (*Context, error) {
	if err := d.check("clCreateContext"); err != nil {
		return nil, err
	}
	f := &d.platform.api.clCreateContext
	properties := []uintptr{contextPlatform, d.platform.id, 0}
	id, err := f.create(uintptr(unsafe.Pointer(&properties[0])), 1, uintptr(unsafe.Pointer(&d.id)), 0, 0)
	if err != nil {
		return nil, about(err, d.String())
	}
	c := &Context{device: d, version: d.platform.version()}
	c.own(contextKind, id, d.platform.api)
	return c, nil
}

// Release releases the context. Further calls, and calls on nil, do nothing.
func (c *Context) Release() { handle(c).drop() }

func (c *Context) use(f *function) error { return handle(c).use(f, contextKind) }
