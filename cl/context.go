package cl

import (
	"fmt"
	"slices"
	"unsafe"
)

// Context holds devices of one platform and everything that they share: buffers, images,
// programs, events. Release it when done; what was made in it lives on until it is released
// itself.
type Context struct {
	object
	devices []*Device
	version int // of the platform, major*10 + minor; 0: not known

	runsInCaller bool // see Platform.runsInCaller
}

const contextPlatform = 0x1084

// NewContext makes a context of one device or several of one platform.
func NewContext(devices ...*Device) (*Context, error) {
	f := clCreateContext
	if len(devices) == 0 {
		return nil, refuse(f.name, InvalidValue, "no device")
	}
	ids, err := handles(f, devices)
	if err != nil {
		return nil, err
	}
	platform := devices[0].platform
	for _, d := range devices {
		if d.platform != platform {
			return nil, refuse(f.name, InvalidDevice,
				fmt.Sprintf("%s and %s belong to different platforms", devices[0], d))
		}
	}
	properties := []uintptr{contextPlatform, platform.id, 0}
	var status Status
	id := f.create(
		uintptr(unsafe.Pointer(&properties[0])),
		uintptr(len(ids)), uintptr(unsafe.Pointer(&ids[0])),
		0, 0,
		uintptr(unsafe.Pointer(&status)))
	if err := f.made(id, status); err != nil {
		return nil, about(err, devices[0].String())
	}
	c := &Context{devices: slices.Clone(devices), version: platform.version(), runsInCaller: platform.runsInCaller()}
	c.own(contextKind, id)
	return c, nil
}

// Devices returns the devices that the context was made of.
func (c *Context) Devices() []*Device { return slices.Clone(c.devices) }

// Release gives the context up. It does nothing when called again, or on nil.
func (c *Context) Release() {
	if c != nil {
		c.drop()
	}
}

func (c *Context) use(f *function) error {
	if c == nil {
		return contextKind.gone(f.name)
	}
	return c.object.use(f, contextKind)
}
