package device

import (
	"strings"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
)

// checkArguments compares the problem's arguments with those of the built kernel: their
// number, their kinds, and the sizes of scalars, as far as the driver tells.
func checkArguments(k *cl.Kernel, p *tune.Problem) error {
	kernel, err := k.Info()
	if err != nil {
		return fail(tune.Runtime, "ask for the kernel's arguments: %v", err)
	}
	given := p.Arguments()
	if kernel.NumArgs != len(given) {
		return fail(tune.Compile, "the kernel %s takes %d arguments, %d are given", p.KernelName(), kernel.NumArgs, len(given))
	}
	for i, a := range given {
		info, err := k.ArgInfo(i)
		if err != nil {
			return nil // the driver does not tell: setting the arguments will
		}
		if problem := mismatch(info, a); problem != "" {
			return fail(tune.Compile, "argument %d (%s): %s", i, a.Name, problem)
		}
	}
	return nil
}

func mismatch(info cl.ArgInfo, a tune.ArgumentInfo) string {
	kernelTakes := func(what string) string {
		return "the kernel takes " + what + " («" + strings.TrimSpace(info.Type+" "+info.Name) + "»), the definition gives " + a.Kind.WithArticle()
	}
	switch info.Address {
	case cl.AddressGlobal, cl.AddressConstant:
		if a.Kind != tune.BufferArgument {
			return kernelTakes("a buffer")
		}
		return elementMismatch(info, a)
	case cl.AddressLocal:
		if a.Kind != tune.LocalArgument {
			return kernelTakes("local memory")
		}
	case cl.AddressPrivate:
		if a.Kind != tune.ScalarArgument {
			return kernelTakes("a scalar")
		}
		typ, err := array.ParseType(openCLName(info.Type))
		if err == nil && (typ.Size() != a.Type.Size() || isFloat(typ) != isFloat(a.Type)) {
			return "the kernel takes " + info.Type + ", the definition gives " + a.Type.OpenCL()
		}
	}
	return ""
}

// isFloat tells numbers with a fraction from whole ones: the bits of one are nonsense as the
// other.
func isFloat(t array.Type) bool {
	switch t.Scalar() {
	case array.Float16, array.Float32, array.Float64:
		return true
	}
	return false
}

// elementMismatch finds buffers of other numbers: bytes and structures may be anything, but
// float for double, or int for float, is a slip.
func elementMismatch(info cl.ArgInfo, a tune.ArgumentInfo) string {
	typ, err := array.ParseType(openCLName(strings.TrimRight(info.Type, "* ")))
	if err != nil || typ.Scalar().Size() == 1 || a.Type.Scalar().Size() == 1 {
		return ""
	}
	if typ.Scalar().Size() != a.Type.Scalar().Size() || isFloat(typ) != isFloat(a.Type) {
		return "the kernel takes elements of " + typ.OpenCL() + ", the definition gives " + a.Type.OpenCL()
	}
	return ""
}

// openCLName makes a driver's type name one that array knows. OpenCL C's int8 is a vector,
// NumPy's is not.
func openCLName(name string) string {
	name = strings.TrimSpace(name)
	for _, vector := range []struct{ opencl, unambiguous string }{
		{"int8", "int32x8"}, {"int16", "int32x16"}, {"uint8", "uint32x8"}, {"uint16", "uint32x16"}, {"float16", "float32x16"},
	} {
		if name == vector.opencl {
			return vector.unambiguous
		}
	}
	return strings.Replace(name, "unsigned ", "u", 1)
}
