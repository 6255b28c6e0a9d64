//go:build linux

// Command torture looks for ways to make ndtune lose a result, measure one twice, hang, or leave something behind:
//
//	go run ./scripts/torture kills               # 1000 kills at random moments; some hours on two cores
//	go run ./scripts/torture kills -kills 20
//	go run ./scripts/torture fuzz -time 10m      # every fuzz target of the module for so long
//
// kills builds ndtune and needs an OpenCL device that compiles on the CPU, such as PoCL. It prints a line for each trial that went wrong, with
// the folder that it left, and a table at the end. The status is 1 if anything went wrong.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	usage := errors.New("usage: go run ./scripts/torture kills|fuzz [flags]")
	if len(arguments) == 0 {
		return usage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	flags := flag.NewFlagSet(arguments[0], flag.ExitOnError)
	switch arguments[0] {
	case "kills":
		k := &killing{}
		flags.IntVar(&k.wanted, "kills", 1000, "that hit a process of a search")
		flags.Uint64Var(&k.seed, "seed", 1, "of the moments and the victims")
		flags.StringVar(&k.device, "device", "", "that evaluates (default: that of ndtune tune)")
		flags.StringVar(&k.folder, "folder", "", "for the program and failed trials (default: a temporary one)")
		flags.DurationVar(&k.patience, "patience", 5*time.Minute, "for the end of a search, and for its processes to go, before they count as hung")
		_ = flags.Parse(arguments[1:])
		return k.run(ctx)
	case "fuzz":
		each := flags.Duration("time", 10*time.Minute, "for each target")
		_ = flags.Parse(arguments[1:])
		return fuzz(ctx, *each)
	}
	return usage
}
