package cl

import "unsafe"

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
	f := &api.clCreateContext
	if err := d.check(f); err != nil {
		return nil, err
	}
	properties := []uintptr{contextPlatform, d.platform.id, 0}
	id, err := f.create(uintptr(unsafe.Pointer(&properties[0])), 1, uintptr(unsafe.Pointer(&d.id)), 0, 0)
	if err != nil {
		return nil, about(err, d.String())
	}
	c := &Context{device: d, version: d.platform.version()}
	c.own(contextKind, id)
	return c, nil
}

// Release releases the context. Further calls, and calls on nil, do nothing.
func (c *Context) Release() { handle(c).drop() }

func (c *Context) use(f *function) error { return handle(c).use(f, contextKind) }
