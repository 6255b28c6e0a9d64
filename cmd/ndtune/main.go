// Command ndtune tunes OpenCL kernels: it builds the variants of a kernel that its tunable
// parameters span, checks their output, times them on an OpenCL device and says which is
// fastest.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/ndtune/ndtune/matmul"
	"github.com/ndtune/ndtune/tune/worker"
)

// version is set when the program is built (see the Makefile).
var version string

func main() {
	worker.Main()
	matmul.Main()
	os.Exit(run())
}

// run is main with its exit status: 0 done, 1 failed, 2 the command line or a
// specification is wrong, 130 interrupted.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first signal ends the run in order; the second one ends the process at once.
	notes := newNoteWriter(os.Stderr)
	forget := context.AfterFunc(ctx, func() {
		stop()
		fmt.Fprintln(notes, "\nndtune: interrupted; stopping (once more: at once)")
	})
	defer forget() // before stop, which would be taken for a signal

	app := newApp()
	out := &output{to: plainWriter{os.Stdout}}
	app.Writer, app.ErrWriter = out, notes
	err := app.RunContext(ctx, flagsFirst(app, os.Args))
	if err == nil && out.err != nil {
		err = fmt.Errorf("print the results: %w", out.err)
	}
	status := exitStatus(err)
	if err != nil && !errors.Is(err, errReported) && status != statusInterrupted {
		fmt.Fprintln(app.ErrWriter, "ndtune: "+shortened(err.Error()))
	}
	return status
}
