package cuda

import (
	"cmp"
	"slices"
	"unsafe"
)

// A kernel is a function of a program, with its arguments.
type kernel struct {
	object
	*declaration
	program   *program
	arguments []*byte // the first bytes of copies
	given     []bool
	dynamic   int // bytes of dynamic shared memory
}

func createKernel(t *task, a []uintptr) *kernel {
	p, name := of[program](a[0]), text(a[1])
	kernels := p.code(t).Kernels
	i := slices.IndexFunc(kernels, func(d declaration) bool { return d.Name == name || d.Symbol == name })
	if i < 0 {
		t.fail(invalidKernelName, "the program has no __global__ function %s", name)
		return nil
	}
	k := &kernel{program: p, declaration: &kernels[i], given: make([]bool, len(kernels[i].Parameters))}
	for _, size := range k.Parameters {
		k.arguments = append(k.arguments, &make([]byte, max(1, size))[0])
	}
	k.begin(&p.object, nil)
	return k
}

// setArgument keeps a value, or the size of dynamic shared memory, which is the argument after the last.
func setArgument(t *task, a []uintptr) {
	k, i, size, value := of[kernel](a[0]), int(a[1]), a[2], a[3]
	switch {
	case i == len(k.Parameters) && value == 0: // also of a kernel that has no use for it
		k.dynamic = int(size)
	case value == 0:
		t.fail(invalidArgValue, "local memory is no parameter in CUDA C: extern __shared__ is the argument after the last")
	default:
		k.set(t, i, memory(value, size))
	}
}

func setBuffer(t *task, a []uintptr) {
	address := uintptr(0)
	if a[2] != 0 {
		address = of[buffer](a[2]).at
	}
	of[kernel](a[0]).set(t, int(a[1]), numbers(int(address)))
}

func (k *kernel) set(t *task, i int, value []byte) {
	switch {
	case i >= len(k.Parameters):
		t.fail(invalidArgIndex, "the kernel has %d parameters", len(k.Parameters))
	case len(value) != k.Parameters[i]:
		t.fail(invalidArgSize, "%d bytes for a parameter of %d", len(value), k.Parameters[i])
	default:
		copy(unsafe.Slice(k.arguments[i], len(value)), value)
		k.given[i] = true
	}
}

// kernelInfo answers with the number of arguments, the one query of package cl.
func kernelInfo(_ *task, a []uintptr) []byte {
	k := of[kernel](a[0])
	if k.Dynamic {
		return numbers(len(k.Parameters) + 1)
	}
	return numbers(len(k.Parameters))
}

func workGroupInfo(_ *task, a []uintptr) []byte {
	k := of[kernel](a[0])
	switch a[2] {
	case 0x11B0:
		k.program.mu.Lock()
		defer k.program.mu.Unlock()
		if l := k.program.loaded[k.Symbol]; l != nil {
			return numbers(l.threads)
		}
		return numbers(cmp.Or(k.MostThreads, k.program.first(0x1004))) // registers do not count yet
	case 0x11B1:
		return numbers(k.Threads[:]...)
	case 0x11B2:
		return numbers(k.Shared)
	}
	return nil
}

func enqueueKernel(t *task, a []uintptr) {
	q, k, n := of[queue](a[0]), of[kernel](a[1]), a[2]
	if i := slices.Index(k.given, false); i >= 0 {
		t.fail(invalidKernelArgs, "parameter %d is not set", i)
	}
	l := k.program.kernel(t, k.Symbol, k.dynamic)
	grid, block := k.size(t, l.threads, sizes(a[3], n), sizes(a[4], n), sizes(a[5], n))
	q.enqueue(t, a, false, &q.cuLaunchKernel, l.function, grid[0], grid[1], grid[2], block[0], block[1], block[2], uintptr(k.dynamic),
		q.start(t), uintptr(unsafe.Pointer(unsafe.SliceData(k.arguments))), 0)
}

// sizes returns n sizes at an address; nil for the address 0.
func sizes(address, n uintptr) []uintptr {
	return unsafe.Slice(at[uintptr](address), n*min(address, 1))
}

// size returns the grid and the block of a launch, where blocks have at most some threads.
func (k *kernel) size(t *task, most int, offset, global, local []uintptr) (grid, block [3]uintptr) {
	grid, block = [3]uintptr{1, 1, 1}, [3]uintptr{1, 1, 1}
	limits := [3]uintptr{1<<31 - 1, 65535, 65535}
	for i, items := range global {
		switch {
		case local != nil:
			block[i] = local[i]
		case k.Threads[0] > 0:
			block[i] = uintptr(k.Threads[i])
		case i == 0:
			block[i] = max(1, min(items&-items, 256)) // a power of two that divides it
		}
		grid[i] = items / block[i]
		switch {
		case offset != nil && offset[i] != 0:
			t.fail(invalidGlobalOffset, "CUDA has no global offsets")
		case items%block[i] != 0 || k.Threads[0] > 0 && block[i] != uintptr(k.Threads[i]):
			t.fail(invalidWorkGroupSize, "a block of %v for a global size of %v; the kernel requires %v", local, global, k.Threads)
		case grid[i] < 1 || grid[i] > limits[i]:
			t.fail(invalidGlobalWorkSize, "a grid of %d blocks in dimension %d, where 1 to %d are possible", grid[i], i, limits[i])
		}
	}
	if threads := block[0] * block[1] * block[2]; threads > uintptr(most) {
		t.fail(invalidWorkGroupSize, "a block of %d threads, where at most %d are possible (registers or __launch_bounds__)", threads, most)
	}
	return grid, block
}
