// Command ndtune tunes kernels in OpenCL C and CUDA C: it builds the variants of a kernel that its tunable
// parameters span, checks their output, times them on a device and says which is
// fastest.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/matmul"
	"github.com/ndtune/ndtune/tune/check"
	"github.com/ndtune/ndtune/tune/observe"
	"github.com/ndtune/ndtune/tune/process"
	"github.com/ndtune/ndtune/tune/session"
	"github.com/ndtune/ndtune/tune/worker"
)

func main() {
	worker.Main()
	check.Main()
	matmul.Main()
	os.Exit(run())
}

// run runs the program and returns its exit status.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), process.EndSignals()...)
	defer stop()
	// The first signal ends the run in order; the second one ends the process at once.
	notes := ui.NewNoteWriter(os.Stderr)
	said := make(chan struct{})
	forget := context.AfterFunc(ctx, func() {
		defer close(said)
		signal.Ignore(syscall.SIGHUP) // a terminal that is closed may send more than one
		stop()
		fmt.Fprintln(notes, "\nndtune: interrupted; stopping (once more: at once)")
	})
	defer func() { // before stop, which would be taken for a signal
		if !forget() {
			<-said
		}
	}()

	out := ui.NewOutput(os.Stdout)
	return execute(ctx, os.Args, os.Stdin, out, notes, nil)
}

// execute runs a command line and returns the exit status. Shared has the workers of all commands of this process; nil: this is
// the only one.
func execute(ctx context.Context, args []string, in io.Reader, out *ui.Output, notes io.Writer, shared *worker.Reserve) int {
	app := newApp()
	app.Reader, app.Writer, app.ErrWriter, app.Metadata = in, out, notes, map[string]any{flags.SharedKey: shared}
	err := app.RunContext(ctx, flagsFirst(app, args))
	if err == nil && out.Err != nil {
		err = fmt.Errorf("print the results: %w", out.Err)
	}
	status := ui.ExitStatus(err, ctx.Err() != nil)
	stream := ui.StreamOf(app)
	if stream == nil && shared != nil {
		stream = ui.NewStream(out)
	}
	switch unreported := err != nil && !errors.Is(err, ui.ErrReported) && status != ui.StatusInterrupted; {
	case unreported && stream != nil:
		stream.End.Error = err.Error()
	case unreported:
		fmt.Fprintln(app.ErrWriter, "ndtune: "+ui.Shortened(err.Error()))
	}
	if stream != nil {
		stream.End.Status = status
		stream.Tell(stream.End)
	}
	return status
}

// sayAbandoned says which settings of devices killed processes have left behind, and how they are restored.
func sayAbandoned(c *cli.Context) error {
	if folder, err := session.SettingsFolder(); err == nil {
		for _, text := range observe.AbandonedSettings(folder) {
			fmt.Fprintln(c.App.ErrWriter, text)
		}
	}
	return nil
}
