package wisdom_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/loop"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/wisdom"
)

const source = `
__kernel void copy(__global float *out, __global const float *in) {
    for (int k = 0; k < work; k++) {
        int i = (get_group_id(0) * work + k) * block_size_x + get_local_id(0);
        if (i < n) out[i] = in[i];
    }
}`

// ExampleTuned gets the best configuration of a copy twice. The first call searches, the second one knows.
func ExampleTuned() {
	p, err := problem.New(definition.Definition{
		Kernel:      definition.Kernel{Name: "copy", Source: source},
		Constants:   []definition.Constant{{Name: "n", Value: 100_000}},
		ProblemSize: []definition.Expr{"n"},
		GridDiv:     [3][]definition.Expr{{"block_size_x", "work"}},
		Arguments: []definition.Argument{
			{Name: "out", Type: "float32", Size: "n", Output: true},
			{Name: "in", Type: "float32", Size: "n", Fill: definition.Fill{Kind: array.Random}},
		},
		Parameters: []space.Parameter{
			{Name: "block_size_x", Values: []space.Value{16, 32, 64}},
			{Name: "work", Values: []space.Value{1, 2, 4}},
		},
		Verify: &definition.Verification{Reference: func(in map[string]*array.Array) (map[string]*array.Array, error) {
			return map[string]*array.Array{"out": in["in"]}, nil
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	devices, err := device.List(p.Language())
	if err != nil {
		log.Fatal(err)
	}
	chosen, err := device.Select(devices, "")
	if err != nil {
		log.Fatal(err)
	}
	folder, err := os.MkdirTemp("", "wisdom")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)

	for range 2 {
		tuned, err := wisdom.Tuned(context.Background(), chosen.Device, p, wisdom.Options{
			File: filepath.Join(folder, "copy.wisdom"),
			Run:  loop.Options{MaxEvaluations: 9},
		})
		if err != nil {
			log.Fatal(err)
		}
		options := tuned.Variant.OptionLine() // to build tuned.Variant.Source with
		fmt.Printf("%s; searched: %t; options: %t\n", tuned, tuned.Searched, strings.Contains(options, "-D block_size_x="))
	}
	// Output:
	// the same device and size 100000; searched: true; options: true
	// the same device and size 100000; searched: false; options: true
}
