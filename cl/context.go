package cl

import (
	"fmt"
	"slices"
	"unsafe"
)

// Context holds devices of one platform and the objects that they share: buffers, images,
// programs, events. It must be released. Objects created in it live until they are released
// themselves.
type Context struct {
	object
	devices []*Device
	version int // OpenCL version of the platform, major*10 + minor; 0: unknown
}

const contextPlatform = 0x1084

// NewContext creates a context of one or more devices of one platform.
func NewContext(devices ...*Device) (*Context, error) {
	f := &api.clCreateContext
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
	id, err := f.create(uintptr(unsafe.Pointer(&properties[0])), uintptr(len(ids)), uintptr(unsafe.Pointer(&ids[0])), 0, 0)
	if err != nil {
		return nil, about(err, devices[0].String())
	}
	c := &Context{devices: slices.Clone(devices), version: platform.version()}
	c.own(contextKind, id)
	return c, nil
}

// Release releases the context. Further calls, and calls on nil, do nothing.
func (c *Context) Release() { c.handle().drop() }

// handle returns the object, or nil for nil.
func (c *Context) handle() *object {
	if c == nil {
		return nil
	}
	return &c.object
}

func (c *Context) use(f *function) error { return c.handle().use(f, contextKind) }
