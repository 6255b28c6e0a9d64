package device_test

import (
	"context"
	"fmt"
	"log"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/loop"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

const saxpy = `
__kernel void saxpy(__global float *y, __global const float *x, const float a) {
    for (int k = 0; k < per_item; k++) {
        int i = (get_group_id(0) * per_item + k) * block_size_x + get_local_id(0);
        if (i < n) y[i] += a * x[i];
    }
}`

// Example tunes y += a·x on the machine's first GPU, or else on its first device.
func Example() {
	problem, err := problem.New(definition.Definition{
		Kernel:      definition.Kernel{Name: "saxpy", Source: saxpy},
		Constants:   []definition.Constant{{Name: "n", Value: 25_600}},
		ProblemSize: []definition.Expr{"n"},
		GridDiv:     [3][]definition.Expr{{"block_size_x", "per_item"}},
		Arguments: []definition.Argument{
			{Name: "y", Type: "float32", Size: "n", Output: true},
			{Name: "x", Type: "float32", Size: "n", Fill: definition.Fill{Kind: array.Random}},
			{Name: "a", Value: float32(2)},
		},
		Parameters: []space.Parameter{
			{Name: "block_size_x", Values: []space.Value{16, 32, 64}},
			{Name: "per_item", Values: []space.Value{1, 2, 4}},
		},
		Verify: &definition.Verification{Reference: func(in map[string]*array.Array) (map[string]*array.Array, error) {
			y, err := array.Slice[float32](in["x"])
			for i := range y {
				y[i] *= 2
			}
			return map[string]*array.Array{"y": in["x"]}, err
		}},
		Metrics: []definition.Metric{{Name: "GB/s", Expression: "12 * n / time / 1e6"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	devices, err := device.List(problem.Language())
	if err != nil {
		log.Fatal(err)
	}
	chosen, err := device.Select(devices, "")
	if err != nil {
		log.Fatal(err)
	}
	evaluator, err := device.Open(chosen.Device, problem, device.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer evaluator.Close()
	outcome, err := loop.Run(context.Background(), problem, evaluator, loop.Options{})
	if err != nil {
		log.Fatal(err)
	}
	correct := 0
	for _, r := range outcome.Results {
		if r.Status == tune.Correct && r.Verified {
			correct++
		}
	}
	fmt.Println(correct, "of", outcome.Space.Len(), "configurations are correct; there is a best:", outcome.Best != nil)
	// Output: 9 of 9 configurations are correct; there is a best: true
}
