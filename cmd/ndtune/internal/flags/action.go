package flags

import (
	"bufio"
	"context"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/tune/worker"
)

// SharedKey is the key, in the metadata of an app, of the reserve that the commands of one process share.
const SharedKey = "reserve"

// SharedReserve returns the reserve that a command shares with others of this process; nil: it is the only one.
func SharedReserve(c *cli.Context) *worker.Reserve {
	r, _ := c.App.Metadata[SharedKey].(*worker.Reserve)
	return r
}

// options are what the flags and arguments of a command say. The flags write into them; Read adds the arguments and checks what
// can be checked without a device.
type options[O any] interface {
	*O
	Read(*cli.Context) error
}

// A Runner runs a command with its options.
type Runner[O any] func(context.Context, *ui.Console, *O) error

// Action returns the action of a command: it completes the options, and runs the command with them.
func Action[O any, P options[O]](o P, run Runner[O]) cli.ActionFunc {
	return func(c *cli.Context) error {
		if err := o.Read(c); err != nil {
			return err
		}
		return run(c.Context, consoleOf(c), o)
	}
}

// consoleOf returns the console of a command.
func consoleOf(c *cli.Context) *ui.Console {
	return &ui.Console{
		In: ui.Documents{Reader: bufio.NewReader(c.App.Reader)}, Out: c.App.Writer, Notes: c.App.ErrWriter, Stream: ui.StreamOf(c.App),
		Quiet: c.Bool("quiet"), Verbose: c.Bool("verbose"),
	}
}

// JSONLines chooses JSON lines for the output of a command that is [Streamed].
func JSONLines(to *bool) cli.Flag {
	return Switch(to, "json", CategoryOutput, "print JSON lines for programs: results, notes, the end (docs/stream.md)")
}

// Streamed makes an action one whose output is a stream if --json is given. The program writes its end.
func Streamed(action cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		if c.Bool("json") {
			c.App.Writer, c.App.ErrWriter = io.Discard, ui.NewStream(c.App.Writer)
			if SharedReserve(c) == nil {
				ctx, done := ui.EndWithoutReader(c.Context)
				defer done()
				c.Context = ctx
			}
		}
		return action(c)
	}
}
