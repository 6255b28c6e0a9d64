package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/tune/worker"
)

func commandsCommand() *cli.Command {
	return &cli.Command{
		Name:  "commands",
		Usage: "run the commands that a program sends, and stay in between",
		Description: `Reads commands with --json from standard input and runs one after the other. Drivers and workers stay
warm in between (docs/stream.md). Each command is a list of its words in JSON and a line «---»; its
standard input follows, up to a line «...».

   ndtune commands --device 0:0`,
		Flags:  []cli.Flag{deviceFlag("; it is opened at once")},
		Action: runCommands,
	}
}

// shared is what the commands of one process have in common.
type shared struct{ reserve *worker.Reserve }

// sharedKey is the key of shared in the metadata of an app.
const sharedKey = "shared"

// sharedOf returns what a command has in common with others; nil: it is the only one of this process.
func sharedOf(c *cli.Context) *shared {
	s, _ := c.App.Metadata[sharedKey].(*shared)
	return s
}

// runCommands runs the commands on standard input, until that ends or a signal stops one.
func runCommands(c *cli.Context) error {
	defer endWithoutReader(c)()
	s := &shared{reserve: worker.NewReserve(nil)}
	defer s.reserve.Close()
	c.App.Metadata[sharedKey] = s
	if c.IsSet("device") {
		prepareWorker(c)
	}
	all := documentsOf(c)
	for {
		text, err := all.next(c.Context)
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
		in := &section{from: all.Reader}
		execute(c.Context, append([]string{c.App.Name}, words...), in, c.App.Writer.(*output), c.App.ErrWriter, s)
		if err := c.Context.Err(); err != nil {
			return err
		}
		s.reserve.Settle()
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
