package cl

import (
	"fmt"
	"reflect"
	"unsafe"
)

// LocalBytes is a kernel argument: a number of bytes of local memory, for a __local pointer.
type LocalBytes int

// Raw is a kernel argument as bytes, for structs and vectors. Its length must be the size of the argument, with padding:
// a vector of 3 elements has the size of one of 4.
type Raw []byte

// SetArg sets argument i, from 0. v must be one of these:
//
//	*Buffer             a __global or __constant pointer; a nil *Buffer is a null pointer
//	*Image, *Sampler    an image, a sampler
//	LocalBytes          local memory for a __local pointer
//	int8 … uint64       char, short, int, long and their unsigned forms, by size
//	float32, float64    float, double
//	Raw                 anything else, as bytes
//
// or have a type derived from a number type. It is an error if v is a bool, int or uint: OpenCL
// has no bool arguments, and the size of int and uint depends on the machine.
func (k *Kernel) SetArg(i int, v any) error {
	f := &api(k).clSetKernelArg
	if err := k.use(f); err != nil {
		return err
	}
	defer k.leave()
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.set(f, i, v); err != nil {
		return about(err, fmt.Sprintf("argument %d of %s", i, k.name))
	}
	return nil
}

// SetArgs sets arguments 0, 1, … to the values v. It stops at the first error.
func (k *Kernel) SetArgs(v ...any) error {
	for i, value := range v {
		if err := k.SetArg(i, value); err != nil {
			return err
		}
	}
	return nil
}

// argument is an object that was set as an argument. Neither OpenCL nor this package keeps it
// alive until the launch, but this package refuses a launch with a released object.
type argument struct {
	object *object
	kind   *kind
}

// set sets an argument; k must be in use and locked.
func (k *Kernel) set(f *function, i int, v any) error {
	if i < 0 {
		return refuse(f.name, InvalidArgIndex, "negative index")
	}
	switch v := v.(type) {
	case *Buffer:
		if v == nil {
			return k.done(i, argument{}, k.pass(f, i, new(uintptr)))
		}
		return k.setObject(f, i, &v.object, bufferKind)
	case *Image:
		return k.setObject(f, i, handle(v), imageKind)
	case *Sampler:
		return k.setObject(f, i, handle(v), samplerKind)
	case LocalBytes:
		if v <= 0 {
			return refuse(f.name, InvalidArgSize, fmt.Sprintf("%d bytes of local memory", v))
		}
		return k.done(i, argument{}, f.run(k.id, uintptr(i), uintptr(v), 0))
	case Raw:
		if len(v) == 0 {
			return refuse(f.name, InvalidArgSize, "no bytes")
		}
		return k.done(i, argument{}, f.run(k.id, uintptr(i), uintptr(len(v)), uintptr(bytesOf(v))))
	}
	size := k.store(v)
	if size == 0 {
		return refuse(f.name, InvalidArgValue, whyNot(v))
	}
	return k.done(i, argument{}, f.run(k.id, uintptr(i), size, uintptr(unsafe.Pointer(&k.value))))
}

// setObject sets an argument to an OpenCL object.
func (k *Kernel) setObject(f *function, i int, o *object, kind *kind) error {
	if err := o.use(f, kind); err != nil {
		return err
	}
	defer o.leave()
	return k.done(i, argument{o, kind}, k.pass(f, i, &o.id))
}

// pass gives the driver the handle of an object, 0 for a null pointer. Where it must not be confused with a number, a function of its
// own takes it.
func (k *Kernel) pass(f *function, i int, handle *uintptr) error {
	if f.own != nil {
		return k.api.setBuffer.run(k.id, uintptr(i), *handle)
	}
	return f.run(k.id, uintptr(i), unsafe.Sizeof(*handle), uintptr(unsafe.Pointer(handle)))
}

// done records argument i, unless the driver refused it.
func (k *Kernel) done(i int, a argument, err error) error {
	if err != nil {
		return err
	}
	for len(k.held) <= i {
		k.held = append(k.held, argument{})
	}
	k.held[i] = a
	return nil
}

// arguments are the arguments that a launch keeps alive until it is enqueued. From then on the
// driver does.
type arguments []argument

// holdArguments counts a use of each object among the arguments. The caller must call leave on
// the result, even if there is an error.
func (k *Kernel) holdArguments(f *function) (arguments, error) {
	for i, a := range k.held {
		if a.object == nil {
			continue
		}
		if err := a.object.use(f, a.kind); err != nil {
			return k.held[:i], about(err, fmt.Sprintf("argument %d of %s", i, k.name))
		}
	}
	return k.held, nil
}

func (held arguments) leave() {
	for _, a := range held {
		if a.object != nil {
			a.object.leave()
		}
	}
}

// store writes a number to k.value, where the driver reads it. It returns its size in bytes, or 0 if v has no number type.
func (k *Kernel) store(v any) uintptr {
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
	default:
		return 0
	}
	reflect.NewAt(r.Type(), unsafe.Pointer(&k.value)).Elem().Set(r)
	return r.Type().Size()
}

// whyNot returns the reason why v cannot be an argument, and what to give instead.
func whyNot(v any) string {
	if v == nil {
		return "nil: give (*cl.Buffer)(nil) for a null pointer"
	}
	t := reflect.TypeOf(v)
	switch t.Kind() {
	case reflect.Bool:
		return "a bool: OpenCL forbids bool arguments, give an int32 of 0 or 1"
	case reflect.Int, reflect.Uint, reflect.Uintptr:
		return fmt.Sprintf("%s: its size depends on the machine, give an int32 or int64 (or unsigned) as the kernel has it", t)
	case reflect.Struct:
		return fmt.Sprintf("%s: give a struct as cl.Raw, laid out as in OpenCL C", t)
	case reflect.Slice:
		return fmt.Sprintf("%s: give a buffer that holds it, or cl.Raw for the bytes of the argument itself", t)
	case reflect.Array:
		return fmt.Sprintf("%s: give a vector as cl.Raw, such as cl.Raw(cl.Bytes(v[:]))", t)
	}
	return fmt.Sprintf("%s is no type of a kernel argument", t)
}

// Number is the constraint for the scalar types of OpenCL C in buffers. A half has the bits of a uint16.
type Number interface {
	~int8 | ~uint8 | ~int16 | ~uint16 | ~int32 | ~uint32 | ~int64 | ~uint64 | ~float32 | ~float64
}

// Bytes returns the memory of a slice as bytes, without copying, for transfers:
//
//	err := q.Read(b, 0, cl.Bytes(floats))
func Bytes[T Number](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(s[0])))
}
