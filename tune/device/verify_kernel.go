package device

import (
	_ "embed" // the kernel's source
	"math"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/problem"
)

//go:embed verify_kernel.cl
var verifySource string

// A verifyKernel is ndtune_verify, built for scalars of one type, and how it is launched.
type verifyKernel struct {
	*cl.Kernel
	local  int // work-items in a work-group
	least  int // scalars that are worth a work-group
	groups int // work-groups at most: the kernel takes any number of scalars with any number
}

// newVerifyKernel builds the kernel for a type. Contiguous is how CPUs want their memory read.
func newVerifyKernel(l *Launcher, t array.Type, contiguous bool) (*verifyKernel, error) {
	kernel, err := l.Kernel(verifyDefines(t, contiguous)+verifySource, "", "ndtune_verify")
	if err != nil {
		return nil, err
	}
	k := &verifyKernel{Kernel: kernel}
	return k, k.size(l, contiguous)
}

// size chooses how the kernel is launched: on a CPU with a few work-items for each core, on any other device with as many as keep the
// memory of a GPU busy.
func (k *verifyKernel) size(l *Launcher, contiguous bool) error {
	units := max(1, l.Info.ComputeUnits)
	if contiguous {
		k.local, k.least, k.groups = 1, 1<<14, 4*units
		return nil
	}
	built, err := k.WorkGroupInfo()
	if err != nil {
		return err
	}
	k.local = 256
	limits := []int{built.MaxSize, l.Info.MaxWorkGroupSize}
	if sizes := l.Info.MaxWorkItemSizes; len(sizes) > 0 {
		limits = append(limits, sizes[0])
	}
	for _, most := range limits {
		if most > 0 {
			k.local = min(k.local, most)
		}
	}
	k.least, k.groups = k.local, 32*units
	return nil
}

// items is the NDRange for at least one scalar.
func (k *verifyKernel) items(scalars int) problem.NDRange {
	return Line(min(k.groups, (scalars-1)/k.least+1), k.local)
}

// verifiedAs is the type whose kernel compares outputs of a type: vectors are compared as
// their scalars, but of a 3-vector one of four is left out.
func verifiedAs(t array.Type) array.Type {
	if t.Lanes() == 3 {
		return t
	}
	return t.Scalar()
}

// verifyDefines is what the kernel's source asks to be told.
func verifyDefines(t array.Type, contiguous bool) string {
	var b strings.Builder
	define := func(words ...string) { b.WriteString("#define " + strings.Join(words, " ") + "\n") }
	if bits := floatSize(t); bits > 0 {
		define("FLOAT", strconv.Itoa(bits))
	} else {
		name := t.Scalar().OpenCL()
		define("INTEGER", name)
		define("UNSIGNED", "u"+strings.TrimPrefix(name, "u"))
	}
	if t.Lanes() == 3 {
		define("VECTOR3")
	}
	if contiguous {
		define("CONTIGUOUS")
	}
	return b.String()
}

// kernelTolerance is a finite tolerance as the kernel takes it: for floats a little smaller,
// which makes up for rounding in the kernel, and for integers without its fraction.
func kernelTolerance(t array.Type, tolerance float64) any {
	smaller := tolerance * (1 - 0x1p-18)
	switch t.Scalar() {
	case array.Float64:
		return smaller
	case array.Float16, array.Float32:
		if smaller > math.MaxFloat32 {
			return float32(math.MaxFloat32)
		}
		f := float32(smaller)
		if float64(f) > smaller {
			f = math.Nextafter32(f, 0)
		}
		return f
	}
	if tolerance >= 1<<64 {
		return uint64(math.MaxUint64)
	}
	return uint64(tolerance)
}
