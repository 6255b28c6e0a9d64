package cl

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/ndtune/ndtune/internal/cuda"
)

// calls is a platform in Go with one device. It keeps the calls of its functions, with the arguments that are no addresses.
type calls struct {
	made   []string
	failed map[string]*cuda.Failure // the next outcome of a function
}

// in returns what address, which a call was given, points to.
func in[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// does returns a function that keeps the first n of its arguments, and returns object.
func (c *calls) does(name string, n int, object uintptr) cuda.Function {
	return func(args []uintptr) (uintptr, *cuda.Failure) {
		c.made = append(c.made, fmt.Sprint(name, args[:n]))
		return object, c.failed[name]
	}
}

func (c *calls) platform(t *testing.T) *Platform {
	t.Helper()
	lists := func(object uintptr) cuda.Function { // the last arguments are room, objects, number
		return func(args []uintptr) (uintptr, *cuda.Failure) {
			args = args[len(args)-3:]
			if args[1] != 0 {
				*in[uintptr](args[1]) = object
			}
			*in[uint32](args[2]) = 1
			return 0, nil
		}
	}
	api := tableOf(cuda.Functions{
		"clGetPlatformIDs":          lists(1),
		"clGetDeviceIDs":            lists(2),
		"clCreateContext":           c.does("clCreateContext", 0, 3),
		"clCreateCommandQueue":      c.does("clCreateCommandQueue", 2, 4),
		"clCreateBuffer":            c.does("clCreateBuffer", 3, 5),
		"clCreateProgramWithSource": c.does("clCreateProgramWithSource", 2, 6),
		"clBuildProgram":            c.does("clBuildProgram", 2, 0),
		"clCreateKernel":            c.does("clCreateKernel", 1, 7),
		"clSetKernelArg":            c.does("clSetKernelArg", 3, 0),
		"setBuffer":                 c.does("setBuffer", 3, 0),
		"clFinish":                  c.does("clFinish", 1, 0),
		"clWaitForEvents":           c.does("clWaitForEvents", 1, 0),
		"clReleaseKernel":           c.does("clReleaseKernel", 1, 0),
		"clReleaseMemObject":        c.does("clReleaseMemObject", 1, 0),
		"clEnqueueNDRangeKernel": func(args []uintptr) (uintptr, *cuda.Failure) {
			c.made = append(c.made, fmt.Sprint("clEnqueueNDRangeKernel", args[:3], *in[[3]uintptr](args[4])))
			*in[uintptr](args[8]) = 8
			return 0, c.failed["clEnqueueNDRangeKernel"]
		},
		"clReleaseEvent": c.does("clReleaseEvent", 1, 0),
		"openShared": func(args []uintptr) (uintptr, *cuda.Failure) {
			c.made = append(c.made, fmt.Sprint("openShared ", *in[byte](args[1]), " ", args[2], " ", args[3]))
			return 8, nil
		},
		"getSymbol": func(args []uintptr) (uintptr, *cuda.Failure) {
			c.made = append(c.made, fmt.Sprint("getSymbol", args[:1], string(unsafe.Slice(in[byte](args[1]), 5))))
			*in[uintptr](args[2]) = 48
			return 9, c.failed["getSymbol"]
		},
	})
	all, err := api.platforms()
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	return all[0]
}

// objects returns a queue, a buffer and a kernel of the platform.
func (c *calls) objects(t *testing.T) (*Queue, *Buffer, *Kernel) {
	t.Helper()
	devices := get(c.platform(t).Devices(DeviceAll))(t)
	context := get(NewContext(devices[0]))(t)
	program := get(context.NewProgram("kernel"))(t)
	if err := program.Build(""); err != nil {
		t.Fatal(err)
	}
	return get(context.NewQueue(0))(t), get(context.NewBuffer(ReadWrite, 64))(t), get(program.NewKernel("f"))(t)
}

func get[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// Objects of a platform in Go call its functions, and buffers reach a kernel by the function that takes nothing else.
func TestPlatformInGo(t *testing.T) {
	c := &calls{}
	q, b, k := c.objects(t)
	want := []string{"clCreateContext[]", "clCreateProgramWithSource[3 1]", "clBuildProgram[6 1]",
		"clCreateCommandQueue[3 2]", "clCreateBuffer[3 1 64]", "clCreateKernel[6]"}
	if !slices.Equal(c.made, want) {
		t.Errorf("%q", c.made)
	}
	c.made = nil
	if err := k.SetArgs(b, (*Buffer)(nil), int32(7), LocalBytes(256)); err != nil {
		t.Error(err)
	}
	e, err := q.EnqueueKernel(k, nil, []int{4, 2}, []int{2, 1})
	for _, err := range []error{err, e.Wait(), q.Finish()} {
		if err != nil {
			t.Error(err)
		}
	}
	e.Release()
	k.Release()
	b.Release()
	want = []string{"setBuffer[7 0 5]", "setBuffer[7 1 0]", "clSetKernelArg[7 2 4]", "clSetKernelArg[7 3 256]",
		"clEnqueueNDRangeKernel[4 7 2] [4 2 0]", "clWaitForEvents[1]", "clFinish[4]",
		"clReleaseEvent[8]", "clReleaseKernel[7]", "clReleaseMemObject[5]"}
	if !slices.Equal(c.made, want) {
		t.Errorf("%q", c.made)
	}
}

// A platform is the same each time, and none of another library is, whatever its handle.
func TestPlatformsOfTwoLibraries(t *testing.T) {
	one, other := (&calls{}).platform(t), (&calls{}).platform(t)
	if one == other || get(one.api.platforms())(t)[0] != one {
		t.Error("platforms are confused")
	}
	device := get(one.Devices(DeviceAll))(t)[0]
	if device == get(other.Devices(DeviceAll))(t)[0] || device != get(one.Devices(DeviceAll))(t)[0] {
		t.Error("devices are confused")
	}
}

func TestErrorsInTheWordsOfCUDA(t *testing.T) {
	illegal := &cuda.Failure{Status: -9999, Call: "cuEventSynchronize", Text: "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered"}
	c := &calls{failed: map[string]*cuda.Failure{
		"clFinish":        illegal,
		"clWaitForEvents": illegal,
		"setBuffer":       {Status: int32(InvalidMemObject)},
		"getSymbol":       {Status: int32(InvalidValue), Call: "cuModuleGetGlobal", Text: "CUDA_ERROR_NOT_FOUND: named symbol not found"},
	}}
	q, b, k := c.objects(t)
	e := get(q.EnqueueKernel(k, nil, []int{1}, []int{1}))(t)
	_, symbolErr := k.program.Symbol("table")
	_, imageErr := q.context.NewImage(0, ImageFormat{ChannelR, SingleFloat}, ImageDesc{Type: Image2D, Width: 1, Height: 1})
	_, samplerErr := q.context.NewSampler(false, AddressRepeat, FilterNearest)
	_, ilErr := q.context.NewProgramFromIL([]byte{1})
	for _, c := range []struct {
		err   error
		match error
		text  string
	}{
		{q.Finish(), Status(-9999), "cuEventSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered"},
		{e.Wait(), Status(-9999), "cuEventSynchronize: the command failed: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered"},
		{k.SetArg(0, b), InvalidMemObject, "clSetKernelArg: argument 0 of f: CL_INVALID_MEM_OBJECT"},
		{symbolErr, InvalidValue, "cuModuleGetGlobal: table: CUDA_ERROR_NOT_FOUND: named symbol not found"},
		{imageErr, ErrMissingFunction, "CUDA does not have this function: CL_INVALID_OPERATION"},
		{samplerErr, ErrMissingFunction, "clCreateSampler: CUDA does not have this function: CL_INVALID_OPERATION"},
		{ilErr, ErrMissingFunction, "clCreateProgramWithIL: CUDA does not have this function: CL_INVALID_OPERATION"},
	} {
		if !errors.Is(c.err, c.match) || !strings.HasSuffix(c.err.Error(), c.text) {
			t.Errorf("%v, want %s", c.err, c.text)
		}
	}
}

func TestSymbol(t *testing.T) {
	c := &calls{}
	_, _, k := c.objects(t)
	c.made = nil
	b := get(k.program.Symbol("table"))(t)
	if b.Size() != 48 {
		t.Errorf("%d bytes", b.Size())
	}
	b.Release()
	if want := []string{"getSymbol[6]table", "clReleaseMemObject[9]"}; !slices.Equal(c.made, want) {
		t.Errorf("%q", c.made)
	}
	if _, err := new(Program).Symbol("table"); !errors.Is(err, ErrReleased) {
		t.Errorf("of no program: %v", err)
	}
	_, context := queueContext(t)
	p := get(context.NewProgram("kernel void saxpy(global float *y, global float *x, float a) {}"))(t)
	defer p.Release()
	if _, err := p.Symbol("table"); !errors.Is(err, ErrMissingFunction) {
		t.Errorf("of OpenCL: %v", err)
	}
}

func TestOpenShared(t *testing.T) {
	c := &calls{}
	queue, _, _ := c.objects(t)
	c.made = nil
	b := get(queue.context.OpenShared([64]byte{5}, 16, 32))(t)
	if b.Size() != 32 {
		t.Errorf("%d bytes", b.Size())
	}
	b.Release()
	if want := []string{"openShared 5 16 32", "clReleaseMemObject[8]"}; !slices.Equal(c.made, want) {
		t.Errorf("%q", c.made)
	}
	_, context := queueContext(t)
	if _, err := context.OpenShared([64]byte{}, 0, 1); !errors.Is(err, ErrMissingFunction) {
		t.Errorf("of OpenCL: %v", err)
	}
}

// Neither language loads the libraries of the other, and CUDA says what it lacks.
func TestCUDAIsNotThere(t *testing.T) {
	if os.Getenv("NDTUNE_TEST_NO_CUDA") == "" {
		child := exec.Command(os.Args[0], "-test.run", "^TestCUDAIsNotThere$")
		child.Env = append(os.Environ(), "NDTUNE_TEST_NO_CUDA=1", "NDTUNE_CUDA_LIBRARY=/no/such/cuda", LibraryVariable+"=/no/such/opencl")
		if out, err := child.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	if p, err := CUDA(); err == nil || p != nil || errors.Is(err, ErrNoLoader) || !strings.Contains(err.Error(), "CUDA") {
		t.Errorf("%v, %v", p, err)
	}
	if _, err := Platforms(); !errors.Is(err, ErrNoLoader) || strings.Contains(err.Error(), "CUDA") {
		t.Errorf("%v", err)
	}
}
