package worker_test

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
	"github.com/ndtune/ndtune/tune/worker"
)

const saxpy = `
__kernel void saxpy(__global float *y, __global const float *x, const float a) {
    for (int k = 0; k < per_item; k++) {
        int i = (get_group_id(0) * per_item + k) * block_size_x + get_local_id(0);
        if (i < n) y[i] += a * x[i];
    }
}`

// saxpyDefinition is y += a·x. It holds a Go function, and so is registered: workers make it
// themselves.
func saxpyDefinition(string) (definition.Definition, error) {
	return definition.Definition{
		Kernel:      definition.Kernel{Name: "saxpy", Source: saxpy},
		Constants:   []definition.Constant{{Name: "n", Value: 16_384}},
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
	}, nil
}

// In a program this stands in main, before worker.Main.
func init() { worker.Register("saxpy", saxpyDefinition) }

// Example tunes in worker processes. A program calls worker.Main as the first thing that its
// main function does; here TestMain has done so.
func Example() {
	definition, err := saxpyDefinition("")
	if err != nil {
		log.Fatal(err)
	}
	problem, err := problem.New(definition)
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
	ctx := context.Background()
	pool, err := worker.Open(ctx, []device.Listed{chosen}, problem, worker.Options{Maker: "saxpy", Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	outcome, err := loop.Run(ctx, problem, pool, loop.Options{})
	if err != nil {
		log.Fatal(err)
	}
	correct := 0
	for _, r := range outcome.Results {
		if r.Status == tune.Correct && r.Verified {
			correct++
		}
	}
	fmt.Println(correct, "of", outcome.Space.Len(), "configurations are correct")
	// Output: 9 of 9 configurations are correct
}
