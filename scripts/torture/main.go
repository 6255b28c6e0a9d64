//go:build linux

// Command torture kills processes of searches at random moments, and counts results that are lost or measured twice, and what is left behind:
//
//	go run ./scripts/torture             # 1000 kills; some hours on two cores
//	go run ./scripts/torture -kills 20
//
// It builds ndtune, and needs an OpenCL device that compiles on the CPU, such as PoCL. It prints a line for each trial that went wrong, with
// the folder that it left, and a table at the end. The status is 1 if anything went wrong.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	k := &killing{}
	flag.IntVar(&k.wanted, "kills", 1000, "that hit a process of a search")
	flag.Uint64Var(&k.seed, "seed", 1, "of the moments and the victims")
	flag.StringVar(&k.device, "device", "", "that evaluates (default: that of ndtune tune)")
	flag.StringVar(&k.folder, "folder", "", "for the program and failed trials (default: a temporary one)")
	flag.DurationVar(&k.patience, "patience", 5*time.Minute, "for the end of a search, and for its processes to go, before they count as hung")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := k.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
