// Package program has what the three programs share: a device and its kernels, launches with their times, and a report.
package program

import (
	"fmt"
	"log"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune/device"
)

// Runs is the number of measured runs, after one that is not measured.
const Runs = 21

// A Device has the fields of the type Device of an exported package, so that it can be converted to it.
type Device struct {
	Name, Vendor, Type, Platform, Driver, Architecture string
}

// An argument has the fields of the type Argument of an exported package.
type argument = struct {
	Name  string
	Value any
}

// A Program is a context with a queue and the built kernels.
type Program struct {
	Context *cl.Context
	Queue   *cl.Queue
	device  *cl.Device
	kernels []*cl.Kernel
	events  []*cl.Event
	times   []float64 // milliseconds of all kernels of a run
}

// Open takes the device whose record matches best. choose returns the choice for a device, and its level.
func Open[C any](choose func(Device) (choice C, level int, err error)) (*Program, C) {
	var p Program
	var best C
	least := 0
	for _, d := range Must(cl.Devices(cl.DeviceAll)) {
		of := Must(device.Describe(d))
		choice, level, err := choose(Device{of.Name, of.Vendor, of.Type, of.Platform, of.Driver, of.Architecture})
		Check(err)
		if p.device == nil || level < least {
			p.device, best, least = d, choice, level
		}
	}
	if p.device == nil {
		log.Fatal("there is no device of OpenCL")
	}
	p.Context = Must(cl.NewContext(p.device))
	p.Queue = Must(p.Context.NewQueue(p.device, cl.Profiling))
	return &p, best
}

// Build builds the kernels.
func (p *Program) Build(source, options string, kernels []string) {
	built := Must(p.Context.NewProgram(source))
	Check(built.Build(options))
	for _, name := range kernels {
		p.kernels = append(p.kernels, Must(built.NewKernel(name)))
	}
}

// Buffer returns a buffer with a content.
func Buffer[T cl.Number](p *Program, content []T) *cl.Buffer {
	return Must(p.Context.NewBufferFrom(cl.ReadWrite, cl.Bytes(content)))
}

// Launch launches a kernel of an exported package, whose type Argument is A. Local memory is not among its arguments here.
func Launch[A ~argument](p *Program, kernel int, offset, global, local []int, arguments []A) {
	k := p.kernels[kernel]
	for i, a := range arguments {
		value := argument(a).Value
		if bytes, ok := value.([]byte); ok {
			value = cl.Raw(bytes)
		}
		Check(k.SetArg(i, value))
	}
	p.events = append(p.events, Must(p.Queue.EnqueueKernel(k, offset, global, local)))
}

// Finish ends a run. The first one is not measured.
func (p *Program) Finish() {
	Check(p.Queue.Finish())
	var sum time.Duration
	for _, e := range p.events {
		sum += Must(e.Profile()).Duration()
		e.Release()
	}
	p.events = p.events[:0]
	p.times = append(p.times, float64(sum)/1e6)
}

// Report prints the median of the times, and that of the search.
func (p *Program) Report(name, device, matched, options string, search float64) {
	times := slices.Sorted(slices.Values(p.times[1:]))
	fmt.Printf("%s: the result is right\n  %s: %s\n  %s\n", name, device, matched, options)
	fmt.Printf("  median of the kernels' times: %.4f ms (%.4f to %.4f); that of the search: %.4f ms\n",
		times[len(times)/2], times[0], times[len(times)-1], search)
}

// Argument returns an argument of the program, which is a size.
func Argument(i, otherwise int) int {
	if i >= len(os.Args) {
		return otherwise
	}
	return Must(strconv.Atoi(os.Args[i]))
}

// Check ends the program if there is an error.
func Check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Must returns v, and ends the program if there is an error.
func Must[T any](v T, err error) T {
	Check(err)
	return v
}
