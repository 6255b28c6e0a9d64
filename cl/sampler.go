package cl

import "unsafe"

// Sampler says how a kernel reads an image. It is safe for concurrent use.
type Sampler struct {
	object
}

// AddressingMode says what is read outside an image.
type AddressingMode uint32

// The modes of addressing.
const (
	AddressUndefined      AddressingMode = 0x1130 // CL_ADDRESS_NONE: the kernel does not go there
	AddressClampToEdge    AddressingMode = 0x1131
	AddressClampToBorder  AddressingMode = 0x1132 // CL_ADDRESS_CLAMP
	AddressRepeat         AddressingMode = 0x1133
	AddressMirroredRepeat AddressingMode = 0x1134
)

// FilterMode says what is read between pixels.
type FilterMode uint32

// The modes of filtering.
const (
	FilterNearest FilterMode = 0x1140
	FilterLinear  FilterMode = 0x1141
)

// NewSampler makes a sampler; with normalized, coordinates are from 0 to 1 instead of in
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

// Release gives the sampler up. It does nothing when called again, or on nil.
func (s *Sampler) Release() {
	if s != nil {
		s.drop()
	}
}
