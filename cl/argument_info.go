package cl

import "fmt"

// ArgInfo describes an argument as the source declares it.
type ArgInfo struct {
	Name      string
	Type      string // such as "float*" or "uint4"
	Address   AddressQualifier
	Access    AccessQualifier
	Qualifier TypeQualifier
}

// AddressQualifier is the address space of an argument; a value is AddressPrivate.
type AddressQualifier uint32

// The address spaces.
const (
	AddressGlobal   AddressQualifier = 0x119B
	AddressLocal    AddressQualifier = 0x119C
	AddressConstant AddressQualifier = 0x119D
	AddressPrivate  AddressQualifier = 0x119E
)

// String returns "global", "local", "constant" or "private".
func (a AddressQualifier) String() string {
	return nameOf(uint32(a), uint32(AddressGlobal), "global", "local", "constant", "private")
}

// AccessQualifier is how a kernel uses an image argument; for others it is AccessNone.
type AccessQualifier uint32

// The uses of images.
const (
	AccessReadOnly  AccessQualifier = 0x11A0
	AccessWriteOnly AccessQualifier = 0x11A1
	AccessReadWrite AccessQualifier = 0x11A2
	AccessNone      AccessQualifier = 0x11A3
)

// String returns "read-only", "write-only", "read-write" or "none".
func (a AccessQualifier) String() string {
	return nameOf(uint32(a), uint32(AccessReadOnly), "read-only", "write-only", "read-write", "none")
}

// TypeQualifier is the set of qualifiers of what a pointer argument points to.
type TypeQualifier uint64

// The qualifiers.
const (
	TypeConst    TypeQualifier = 1 << 0
	TypeRestrict TypeQualifier = 1 << 1
	TypeVolatile TypeQualifier = 1 << 2
	TypePipe     TypeQualifier = 1 << 3
)

// String returns names joined with "|".
func (t TypeQualifier) String() string {
	return joinBits(uint64(t), "const", "restrict", "volatile", "pipe")
}

const (
	kernelArgAddress   = 0x1196 // the first to be asked, and essential
	kernelArgAccess    = 0x1197
	kernelArgTypeName  = 0x1198
	kernelArgQualifier = 0x1199
	kernelArgName      = 0x119A
)

// ArgInfo describes argument i (OpenCL 1.2). Many drivers keep this only when the program
// was built with -cl-kernel-arg-info, and otherwise answer KernelArgInfoNotAvailable.
func (k *Kernel) ArgInfo(i int) (ArgInfo, error) {
	f := clGetKernelArgInfo
	if err := k.use(f); err != nil {
		return ArgInfo{}, err
	}
	defer k.leave()
	what := fmt.Sprintf("argument %d of %s", i, k.name)
	if i < 0 || i >= queryOf(clGetKernelInfo, k.id).int(kernelNumArgs) {
		return ArgInfo{}, refuse(f.name, InvalidArgIndex, what) // NVIDIA's own answer is InvalidValue
	}
	if err := f.on(k.program.context.version); err != nil {
		return ArgInfo{}, about(err, what)
	}
	q := queryOfPair(f, k.id, uintptr(i))
	address, err := q(kernelArgAddress)
	if err != nil {
		return ArgInfo{}, about(err, what)
	}
	return ArgInfo{
		Name:      q.text(kernelArgName),
		Type:      q.text(kernelArgTypeName),
		Address:   AddressQualifier(decode(address)),
		Access:    AccessQualifier(q.uint(kernelArgAccess)),
		Qualifier: TypeQualifier(q.uint(kernelArgQualifier)),
	}, nil
}
