package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/tune/worker"
)

type commandsOptions struct{ device string } // "": none is opened before the first command

func commandsCommand(run runner[commandsOptions]) *cli.Command {
	o := &commandsOptions{}
	return &cli.Command{
		Name:  "commands",
		Usage: "run the commands that a program sends, and stay in between",
		Description: `Reads commands with --json from standard input and runs one after the other. Drivers and workers stay
warm in between (docs/stream.md). Each command is a list of its words in JSON and a line «---»; its
standard input follows, up to a line «...».

   ndtune commands --device 0:0`,
		Flags:  []cli.Flag{deviceFlag(&o.device, "; it is opened at once")},
		Action: action(o, run),
	}
}

// sharedKey is the key, in the metadata of an app, of the reserve that the commands of one process share.
const sharedKey = "reserve"

// sharedReserve returns the reserve that a command shares with others of this process; nil: it is the only one.
func sharedReserve(c *cli.Context) *worker.Reserve {
	r, _ := c.App.Metadata[sharedKey].(*worker.Reserve)
	return r
}

func (o *commandsOptions) read(*cli.Context) error { return nil }

// runCommands runs the commands on standard input, until that ends or a signal stops one.
func runCommands(ctx context.Context, t *console, o *commandsOptions) error {
	ctx, done := endWithoutReader(ctx)
	defer done()
	reserve := worker.NewReserve(nil)
	defer reserve.Close()
	if o.device != "" {
		(&evaluationOptions{shared: reserve}).prepareWorker(t, o.device)
	}
	for {
		text, err := t.in.next(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var words []string
		if err := json.Unmarshal(text, &words); err != nil {
			return wrong("a command is a list of words in JSON, not %s: %w", excerpt.Of(string(bytes.TrimSpace(text))), err)
		}
		in := &section{from: t.in.Reader}
		execute(ctx, append([]string{"ndtune"}, words...), in, t.out.(*output), t.notes, reserve)
		if err := ctx.Err(); err != nil {
			return err
		}
		reserve.Settle()
		if _, err := io.Copy(io.Discard, in); err != nil {
			return err
		}
	}
}

// A section is the standard input of one command of several: all lines up to «...».
type section struct {
	from *bufio.Reader
	line []byte // the rest of it
	err  error
}

// Read implements io.Reader.
func (s *section) Read(p []byte) (n int, err error) {
	for len(s.line) == 0 && s.err == nil {
		if s.line, s.err = s.from.ReadBytes('\n'); string(bytes.TrimRight(s.line, "\r\n")) == "..." {
			s.line, s.err = nil, io.EOF
		}
	}
	n = copy(p, s.line)
	if s.line = s.line[n:]; len(s.line) > 0 {
		return n, nil
	}
	return n, s.err
}
