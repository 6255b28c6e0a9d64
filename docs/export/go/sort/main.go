// Sort sorts 2^n keys with a tuned pipeline: go run ./go/sort 1048576
package main

import (
	"log"
	"math/rand/v2"
	"slices"

	"github.com/ndtune/ndtune/cl"

	"example.com/programs/exported/sort"
	"example.com/programs/go/program"
)

func main() {
	n := program.Argument(1, 1048576)
	p, choice := program.Open(func(d program.Device) (sort.Choice, int, error) {
		choice, err := sort.Choose(sort.Device(d), int64(n))
		return choice, choice.Level, err
	})
	p.Build(sort.Source, choice.Options, sort.Kernels)

	keys, sorted, random := make([]uint32, n), make([]uint32, n), rand.New(rand.NewPCG(1, 1))
	for i := range keys {
		keys[i] = random.Uint32()
	}
	unsorted, buffer := program.Buffer(p, keys), program.Buffer(p, keys)
	buffers := map[string]any{"keys": buffer}
	for range program.Runs + 1 {
		program.Must(p.Queue.EnqueueCopy(unsorted, buffer, 0, 0, 4*n)).Release()
		launches, err := sort.Launches(choice, buffers)
		if err != nil {
			log.Fatalf("%d keys cannot be sorted with %s: %v", n, choice.Options, err)
		}
		for _, l := range launches {
			program.Launch(p, l.Kernel, l.Offset, l.Global, l.Local, l.Arguments)
		}
		p.Finish()
	}
	program.Check(p.Queue.Read(buffer, 0, cl.Bytes(sorted)))
	slices.Sort(keys)
	for i, want := range keys {
		if sorted[i] != want {
			log.Fatalf("key %d is %d, not %d", i, sorted[i], want)
		}
	}
	p.Report("sort", choice.Record.Device.Name, choice.Matched, choice.Options, choice.Record.Time)
}
