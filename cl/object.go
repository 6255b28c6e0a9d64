package cl

import (
	"sync/atomic"
	"unsafe"
)

// object is a counted handle of an OpenCL object, embedded in every type that has a Release.
//
// The count holds one for the owner until Release and one for each call under way, so that a
// Release beside a running call takes effect when the call is done, and a call after Release
// is refused instead of reaching freed memory. The zero object counts as released.
type object struct {
	id       uintptr
	kind     *kind
	users    atomic.Int32
	released atomic.Bool
}

// kind is what the objects of one type have in common.
type kind struct {
	name    string // as in "the buffer was released"
	release *function
	invalid Status // the status of a bad handle of this kind
}

var (
	contextKind = &kind{"context", clReleaseContext, InvalidContext}
	queueKind   = &kind{"queue", clReleaseCommandQueue, InvalidCommandQueue}
	bufferKind  = &kind{"buffer", clReleaseMemObject, InvalidMemObject}
	imageKind   = &kind{"image", clReleaseMemObject, InvalidMemObject}
	samplerKind = &kind{"sampler", clReleaseSampler, InvalidSampler}
	programKind = &kind{"program", clReleaseProgram, InvalidProgram}
	kernelKind  = &kind{"kernel", clReleaseKernel, InvalidKernel}
	eventKind   = &kind{"event", clReleaseEvent, InvalidEvent}
)

// own makes the object alive, with id already set or given here.
func (o *object) own(k *kind, id uintptr) {
	o.id, o.kind = id, k
	o.users.Store(1)
}

// enter counts a call that uses the object; leave must follow. It reports false when the
// object was released.
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

// keep counts another user of an object that one already uses.
func (o *object) keep() { o.users.Add(1) }

func (o *object) leave() {
	if o.users.Add(-1) == 0 {
		_ = o.kind.release.run(o.id) // nothing is left to be done about a failure
	}
}

// drop gives up the owner's count, once.
func (o *object) drop() {
	if o.users.Load() > 0 && o.released.CompareAndSwap(false, true) {
		o.leave()
	}
}

// gone is the error of using a released object of a kind.
func (k *kind) gone(call string) error {
	return &Error{Call: call, Detail: "the " + k.name + " is nil or was released", Status: k.invalid, Err: ErrReleased}
}

// address is where the handle lies, for calls that take a list of handles.
func (o *object) address() unsafe.Pointer { return unsafe.Pointer(&o.id) }

// use is enter with the error of function f for the caller.
func (o *object) use(f *function, k *kind) error {
	if !o.enter() {
		return k.gone(f.name)
	}
	return nil
}
