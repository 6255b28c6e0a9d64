package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/tune/session"
)

// A console is where a command reads what it is not given by flags, and where it shows its results and notes.
type console struct {
	in             documents
	out            io.Writer // for results
	notes          io.Writer // for notes and messages
	stream         *stream   // has the results and notes as JSON lines; nil: they are for people
	quiet, verbose bool
}

// say prints a note, unless the command is quiet.
func (t *console) say(format string, a ...any) {
	if !t.quiet {
		fmt.Fprintf(t.notes, format+"\n", a...)
	}
}

// note prints a note.
func (t *console) note(text string) { fmt.Fprintln(t.notes, text) }

// listener prints what a session tells.
func (t *console) listener() session.Listener {
	return session.Listener{Note: t.note, Say: func(text string) { t.say("%s", text) }}
}

// diagnostics receives the output of workers and drivers; nil without --verbose.
func (t *console) diagnostics() io.Writer {
	if t.verbose {
		return t.notes
	}
	return nil
}

// json prints a value as JSON.
func (t *console) json(v any) error {
	encoder := json.NewEncoder(t.out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}

// Options are what the flags and arguments of a command say. The flags write into them; read adds the arguments and checks what
// can be checked without a device.
type options[O any] interface {
	*O
	read(*cli.Context) error
}

// A runner runs a command with its options.
type runner[O any] func(context.Context, *console, *O) error

// action returns the action of a command: it completes the options, and runs the command with them.
func action[O any, P options[O]](o P, run runner[O]) cli.ActionFunc {
	return func(c *cli.Context) error {
		if err := o.read(c); err != nil {
			return err
		}
		return run(c.Context, consoleOf(c), o)
	}
}

// consoleOf returns the console of a command.
func consoleOf(c *cli.Context) *console {
	return &console{
		in: documents{bufio.NewReader(c.App.Reader)}, out: c.App.Writer, notes: c.App.ErrWriter, stream: streamOf(c.App),
		quiet: c.Bool("quiet"), verbose: c.Bool("verbose"),
	}
}
