package cl

import (
	"sync/atomic"
	"unsafe"
)

// object is a handle of an OpenCL object with a count of its users. It is the first field of every type
// that has a Release: see handle.
//
// The users are the owner, until Release, and each call in progress. So a Release during a call
// takes effect when the call is done, and a call after Release is an error instead of an access
// to freed memory. The zero object counts as released.
type object struct {
	id       uintptr
	api      *table // the functions of its platform
	kind     *kind
	users    atomic.Int32
	released atomic.Bool
}

// kind holds the properties of one type of objects.
type kind struct {
	name    string // as in "the buffer was released"
	release func(*table) *function
	invalid Status // the status for an invalid handle
}

var (
	contextKind = &kind{"context", func(t *table) *function { return &t.clReleaseContext }, InvalidContext}
	queueKind   = &kind{"queue", func(t *table) *function { return &t.clReleaseCommandQueue }, InvalidCommandQueue}
	bufferKind  = &kind{"buffer", func(t *table) *function { return &t.clReleaseMemObject }, InvalidMemObject}
	imageKind   = &kind{"image", func(t *table) *function { return &t.clReleaseMemObject }, InvalidMemObject}
	samplerKind = &kind{"sampler", func(t *table) *function { return &t.clReleaseSampler }, InvalidSampler}
	programKind = &kind{"program", func(t *table) *function { return &t.clReleaseProgram }, InvalidProgram}
	kernelKind  = &kind{"kernel", func(t *table) *function { return &t.clReleaseKernel }, InvalidKernel}
	eventKind   = &kind{"event", func(t *table) *function { return &t.clReleaseEvent }, InvalidEvent}
)

// handle returns the object of a context, queue, buffer, image, sampler, program, kernel or event, whose first field it is; nil for nil.
func handle[T Context | Queue | Buffer | Image | Sampler | Program | Kernel | Event](of *T) *object {
	return (*object)(unsafe.Pointer(of))
}

// api returns the functions of an object's platform. Those of OpenCL stand in for those of an object that is nil or zero, which
// use refuses.
func api[T Context | Queue | Buffer | Image | Sampler | Program | Kernel | Event](of *T) *table {
	if o := handle(of); o != nil && o.api != nil {
		return o.api
	}
	return openCL
}

// own initialises the object, of a platform with these functions, with its first user, the owner.
func (o *object) own(k *kind, id uintptr, api *table) {
	o.id, o.kind, o.api = id, k, api
	o.users.Store(1)
}

// enter adds a user; leave must follow. It returns false if the object was released.
func (o *object) enter() bool {
	for !o.released.Load() {
		n := o.users.Load()
		if n == 0 {
			return false
		}
		if o.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
	return false
}

// leave removes a user. The last one releases the OpenCL object.
func (o *object) leave() {
	if o.users.Add(-1) == 0 {
		_ = o.kind.release(o.api).run(o.id) // nobody can handle an error here
	}
}

// drop removes the owner, once. It does nothing on nil.
func (o *object) drop() {
	if o != nil && o.users.Load() > 0 && o.released.CompareAndSwap(false, true) {
		o.leave()
	}
}

// gone returns the error for using a released object.
func (k *kind) gone(call string) error {
	return &Error{Call: call, Detail: "the " + k.name + " is nil or was released", Status: k.invalid, Err: ErrReleased}
}

// address returns the address of the handle, for calls that take an array of handles.
func (o *object) address() unsafe.Pointer { return unsafe.Pointer(&o.id) }

// use is like enter, but returns an error for the call of f. A nil object counts as released.
func (o *object) use(f *function, k *kind) error {
	if o == nil || !o.enter() {
		return k.gone(f.name)
	}
	return nil
}
