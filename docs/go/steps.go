//go:build ignore

// Program steps adds ones to a vector in sixty steps, and tunes the addition with these very steps.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/dynamic"
	"github.com/ndtune/ndtune/tune/spec"
	"github.com/ndtune/ndtune/tune/wisdom"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	s, err := spec.Load("add.yaml", spec.Options{})
	if err != nil {
		return err
	}
	devices, err := device.List()
	if err != nil {
		return err
	}
	chosen, err := device.Select(devices, "")
	if err != nil {
		return err
	}
	l, err := device.NewLauncher(chosen.Device, "") // a context and a queue
	if err != nil {
		return err
	}
	defer l.Release()
	add, err := dynamic.New(l, s.Problem, dynamic.Options{Wisdom: wisdom.Options{File: "add.wisdom"}})
	if err != nil {
		return err
	}

	host := make([]float32, 4096)
	var buffers []*cl.Buffer // sum, vector, ones
	for i := range 3 {
		if i == 2 {
			for j := range host {
				host[j] = 1
			}
		}
		b, err := l.Context.NewBufferFrom(cl.ReadWrite, cl.Bytes(host))
		if err != nil {
			return err
		}
		defer b.Release()
		buffers = append(buffers, b)
	}
	trials := 0
	for range 60 {
		err := add.Do(ctx, func(step *dynamic.Step) error {
			if step.Trial {
				trials++
			}
			return step.Run(buffers[0], buffers[1], buffers[2])
		})
		if err != nil {
			return err
		}
		buffers[0], buffers[1] = buffers[1], buffers[0]
	}
	best, _ := add.Best()
	_, over := add.Outcome()
	fmt.Printf("best: %s; the search is over: %t; %d of 60 steps were trials\n", best, over, trials)
	if err := l.Queue.Read(buffers[1], 0, cl.Bytes(host)); err != nil {
		return err
	}
	fmt.Println("every element is", host[0], "and", host[4095])
	return add.Close()
}
