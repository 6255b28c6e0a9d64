//go:build ignore

// Program sum adds two vectors with the best configuration for its device, which its first run finds.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/spec"
	"github.com/ndtune/ndtune/tune/wisdom"
	"github.com/ndtune/ndtune/tune/worker"
)

func main() {
	worker.Main() // this program is also its own worker
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	kernel, err := spec.Load("add.yaml", spec.Options{})
	if err != nil {
		return err
	}
	devices, err := device.List(kernel.Problem.Language()) // those that take the kernel
	if err != nil {
		return err
	}
	chosen, err := device.Select(devices, "") // the first GPU, else the first device
	if err != nil {
		return err
	}
	tuned, err := wisdom.Tuned(ctx, chosen.Device, kernel.Problem, wisdom.Options{
		File: "add.wisdom",
		Open: func(ctx context.Context) (wisdom.Evaluator, error) { // a driver that crashes ends only a worker
			return worker.Open(ctx, []device.Listed{chosen}, kernel.Problem, worker.Options{})
		},
		Waits: func() { log.Print("another process tunes this; waiting for its result") },
	})
	if err != nil {
		return err
	}
	fmt.Printf("%s: %s\n", tuned.Configuration, tuned)

	l, err := device.NewLauncher(chosen.Device, "")
	if err != nil {
		return err
	}
	defer l.Release()
	program, err := l.Build(tuned.Variant.Source, tuned.Variant.OptionLine())
	if err != nil {
		return err
	}
	defer program.Release()
	add, err := program.NewKernel("add")
	if err != nil {
		return err
	}
	defer add.Release()
	host := make([]float32, tuned.Variant.Elements[0])
	for i := range host {
		host[i] = float32(i)
	}
	var buffers []*cl.Buffer
	for range 3 {
		b, err := l.Context.NewBufferFrom(cl.ReadWrite, cl.Bytes(host))
		if err != nil {
			return err
		}
		defer b.Release()
		buffers = append(buffers, b)
	}
	if err := add.SetArgs(buffers[0], buffers[1], buffers[2]); err != nil {
		return err
	}
	if _, err := l.Times([]device.Launch{{Kernel: add, Range: tuned.Variant.Launches[0].NDRange}}, 1); err != nil {
		return err
	}
	if err := l.Queue.Read(buffers[0], 0, cl.Bytes(host)); err != nil {
		return err
	}
	fmt.Println("1000 + 1000 =", host[1000])
	return nil
}
