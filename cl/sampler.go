package cl

import "unsafe"

// Sampler is the way in which a kernel reads an image. It is safe for concurrent use.
type Sampler struct {
	object
}

// AddressingMode determines the color outside an image.
type AddressingMode uint32

// The modes of addressing.
const (
	AddressUndefined      AddressingMode = 0x1130 // CL_ADDRESS_NONE: the kernel never reads outside
	AddressClampToEdge    AddressingMode = 0x1131
	AddressClampToBorder  AddressingMode = 0x1132 // CL_ADDRESS_CLAMP
	AddressRepeat         AddressingMode = 0x1133
	AddressMirroredRepeat AddressingMode = 0x1134
)

// FilterMode determines the color between pixels.
type FilterMode uint32

// The modes of filtering.
const (
	FilterNearest FilterMode = 0x1140
	FilterLinear  FilterMode = 0x1141
)

// NewSampler creates a sampler. If normalized is true, coordinates are from 0 to 1, else in
// pixels.
func (c *Context) NewSampler(normalized bool, addressing AddressingMode, filter FilterMode) (*Sampler, error) {
	f := clCreateSampler
	if err := c.use(f); err != nil {
		return nil, err
	}
	defer c.leave()
	var normal uintptr
	if normalized {
		normal = 1
	}
	var status Status
	id := f.create(c.id, normal, uintptr(addressing), uintptr(filter), uintptr(unsafe.Pointer(&status)))
	if err := f.made(id, status); err != nil {
		return nil, err
	}
	s := new(Sampler)
	s.own(samplerKind, id)
	return s, nil
}

// Release releases the sampler. Further calls, and calls on nil, do nothing.
func (s *Sampler) Release() {
	if s != nil {
		s.drop()
	}
}
