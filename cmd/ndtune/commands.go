package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/job"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/worker"
)

type commandsOptions struct {
	device string // "": none is opened before the first command
	early  bool
}

func commandsCommand(run flags.Runner[commandsOptions]) *cli.Command {
	o := &commandsOptions{}
	return &cli.Command{
		Name:  "commands",
		Usage: "run the commands that a program sends, and stay in between",
		Description: `Reads commands with --json from standard input and runs one after the other. Drivers and workers stay
warm in between (docs/stream.md). Each command is a list of its words in JSON and a line «---»; its
standard input follows, up to a line «...».

   ndtune commands --device 0:0`,
		Flags: []cli.Flag{
			flags.Device(&o.device, "; it is opened at once"),
			flags.Switch(&o.early, "early", "", "load the drivers of OpenCL and CUDA at once, and open the first device, 0:0, if it is a CPU"),
		},
		Action: flags.Action(o, run),
	}
}

func (o *commandsOptions) Read(*cli.Context) error { return nil }

// runCommands runs the commands on standard input, until that ends or a signal stops one.
func runCommands(ctx context.Context, t *ui.Console, o *commandsOptions) error {
	ctx, done := ui.EndWithoutReader(ctx)
	defer done()
	reserve := worker.NewReserve(nil)
	defer reserve.Close()
	if o.device != "" {
		(&job.Evaluation{Shared: reserve}).PrepareWorker(t, o.device, []source.Language{source.OpenCL, source.CUDA})
	}
	if o.early {
		_ = reserve.Prepare(source.OpenCL) // the first command tells why it cannot
		if cl.HasCUDA() {
			_ = reserve.Prepare(source.CUDA)
		}
		go func() {
			if d, err := device.SelectFor("0:0", source.OpenCL); err == nil && d.Identity.Type == "cpu" {
				reserve.Warm(d)
			}
			_, _ = device.List(source.CUDA) // later, since both drivers at once take longer
		}()
	}
	for {
		text, err := t.In.Next(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var words []string
		if err := json.Unmarshal(text, &words); err != nil {
			return ui.Wrong("a command is a list of words in JSON, not %s: %w", excerpt.Of(string(bytes.TrimSpace(text))), err)
		}
		in := &section{from: t.In.Reader}
		execute(ctx, append([]string{"ndtune"}, words...), in, t.Out.(*ui.Output), t.Notes, reserve)
		if err := ctx.Err(); err != nil {
			return err
		}
		reserve.Settle()
		files.Unmap()
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
