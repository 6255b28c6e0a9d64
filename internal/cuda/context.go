package cuda

import (
	"runtime"
	"sync"
	"time"
	"unsafe"
)

// A context is the primary context of its device.
type context struct {
	object
	*device

	mu      sync.Mutex
	primary uintptr // 0: it was not needed yet
}

func createContext(_ *task, a []uintptr) *context {
	c := &context{device: of[device](*at[uintptr](a[2]))}
	c.begin(nil, func(t *task) {
		if c.primary != 0 {
			t.run(&c.cuDevicePrimaryCtxRelease_v2, uintptr(c.number))
		}
	})
	return c
}

// enter makes the context that of the thread, on which the goroutine stays until it leaves: defer c.enter(t)().
func (c *context) enter(t *task) (leave func()) {
	runtime.LockOSThread()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.primary == 0 {
		const blocking = 4
		c.cuDevicePrimaryCtxSetFlags_v2.call(uintptr(c.number), blocking) // else waiting takes a core
		c.primary = get[uintptr](t, &c.cuDevicePrimaryCtxRetain, uintptr(c.number))
	}
	t.run(&c.cuCtxSetCurrent, c.primary)
	return runtime.UnlockOSThread
}

// spin is how long a thread asks for the end of commands before it sleeps. To be woken takes some 20 µs, which a search with short
// kernels would pay several times a configuration. A thread that asks longer takes a core from those that build.
const spin = 100 * time.Microsecond

// await waits for the commands of a stream.
func (c *context) await(t *task, stream uintptr) {
	for began := time.Now(); t.failed == nil && c.cuStreamQuery.call(stream) == notReady && time.Since(began) < spin; {
	}
	t.run(&c.cuStreamSynchronize, stream)
}

// A buffer is memory of a device.
type buffer struct {
	object
	context  *context
	at, size uintptr
}

func createBuffer(t *task, a []uintptr) *buffer {
	const copyHost = 1 << 5
	c := of[context](a[0])
	defer c.enter(t)()
	b := &buffer{context: c, size: a[2]}
	b.at = get[uintptr](t, &c.cuMemAlloc_v2, b.size)
	b.begin(&c.object, func(t *task) {
		defer c.enter(t)()
		t.run(&c.cuMemFree_v2, b.at) // which waits for the commands that use it
	})
	if a[1]&copyHost != 0 {
		t.run(&c.cuMemcpyHtoDAsync_v2, b.at, a[3], b.size, 0)
		t.run(&c.cuStreamSynchronize, 0)
	}
	if t.failed != nil {
		_ = b.leave()
	}
	return b
}

// createSubBuffer makes a buffer of a part of another, which keeps the memory.
func createSubBuffer(_ *task, a []uintptr) *buffer {
	whole, region := of[buffer](a[0]), *at[[2]uintptr](a[3])
	b := &buffer{context: whole.context, at: whole.at + region[0], size: region[1]}
	b.begin(&whole.object, nil)
	return b
}

// openShared makes a buffer of memory of another process.
func openShared(t *task, a []uintptr) *buffer {
	c, handle := of[context](a[0]), *at[[8]uintptr](a[1])
	defer c.enter(t)()
	const enablePeers = 1 // the memory may be on another device
	base := new(uintptr)
	if runtime.GOARCH == "amd64" && runtime.GOOS != "windows" { // C has a large struct on the stack, behind the six registers
		t.run(&c.cuIpcOpenMemHandle_v2, append([]uintptr{uintptr(unsafe.Pointer(base)), enablePeers, 0, 0, 0, 0}, handle[:]...)...)
	} else {
		t.run(&c.cuIpcOpenMemHandle_v2, uintptr(unsafe.Pointer(base)), a[1], enablePeers)
	}
	b := &buffer{context: c, at: *base + a[2], size: a[3]}
	b.begin(&c.object, func(t *task) {
		defer c.enter(t)()
		t.run(&c.cuIpcCloseMemHandle, *base)
	})
	return b
}
