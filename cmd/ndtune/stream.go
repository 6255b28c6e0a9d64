package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
)

// A stream is the output of a command with --json: JSON lines and nothing else (docs/stream.md). What is printed for people vanishes,
// and their notes become lines. Several goroutines may use it at once.
type stream struct {
	to    io.Writer
	mutex sync.Mutex
	end   streamEnd
}

// A streamEnd is the last line of a stream.
type streamEnd struct {
	Kind   string               `json:"kind"`
	Status int                  `json:"status"` // of the process
	Why    tune.StopReason      `json:"why,omitempty"`
	Cause  string               `json:"cause,omitempty"`
	Best   *space.Configuration `json:"best,omitempty"`
	Log    string               `json:"log,omitempty"`
	Error  string               `json:"error,omitempty"`
}

func jsonLinesFlag() cli.Flag {
	return &cli.BoolFlag{
		Name: "json", Category: categoryOutput, Usage: "print JSON lines for programs: results, notes, the end (docs/stream.md)",
	}
}

// streamed makes an action one whose output is a stream if --json is given.
func streamed(action cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		if !c.Bool("json") {
			return action(c)
		}
		app := c.App
		out, notes := app.Writer, app.ErrWriter
		s := &stream{to: out, end: streamEnd{Kind: "end"}}
		app.Writer, app.ErrWriter = io.Discard, s
		err := action(c)
		app.Writer, app.ErrWriter = out, notes
		s.end.Status = exitStatus(err, c.Context.Err() != nil)
		if err != nil && !errors.Is(err, errReported) && s.end.Status != statusInterrupted {
			s.end.Error = err.Error()
		}
		s.tell(s.end)
		if err != nil {
			return reportedError{err}
		}
		return nil
	}
}

// streamOf returns the stream of a command; nil: it prints for people.
func streamOf(c *cli.Context) *stream {
	s, _ := c.App.ErrWriter.(*stream)
	return s
}

// Write tells a note for people.
func (s *stream) Write(p []byte) (int, error) {
	if text := strings.TrimSpace(string(p)); text != "" {
		s.tell(struct {
			Kind string `json:"kind"`
			Text string `json:"text"`
		}{"note", text})
	}
	return len(p), nil
}

// tell writes a value as a line.
func (s *stream) tell(v any) {
	line, err := json.Marshal(v)
	if err != nil {
		panic(err) // of a value of this program, such as a map with keys that are no texts
	}
	s.lines(append(line, '\n'))
}

// result tells a result, with the paths of its outputs by name. Those that do not exist were not written, as the launch failed.
func (s *stream) result(r tune.Result, outputs map[string]string) error {
	line, err := record.ResultLine(r)
	if err != nil {
		return err
	}
	for name, path := range outputs {
		if _, err := os.Stat(path); err != nil {
			delete(outputs, name)
		}
	}
	if len(outputs) > 0 {
		paths, err := json.Marshal(outputs)
		if err != nil {
			return err
		}
		line = fmt.Appendf(line[:len(line)-1], `,"outputs":%s}`, paths)
	}
	s.lines(append(line, '\n'))
	return nil
}

// lines writes whole lines. The output keeps the first error.
func (s *stream) lines(b []byte) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	_, _ = s.to.Write(b)
}

// A reportedError is an error that a stream has told.
type reportedError struct{ error }

func (e reportedError) Unwrap() error        { return e.error }
func (e reportedError) Is(target error) bool { return target == errReported }

// standardInput is the argument that names standard input in the place of a specification, for the commands of readsInput.
const standardInput = "-"

var readsInput = []string{"tune", "run", "space"}

var errNoSpecification = wrong("standard input holds no specification")

// knownResults reads the results that follow the specification on standard input.
func knownResults(c *cli.Context, p *problem.Problem) ([]tune.Result, error) {
	if c.Args().First() != standardInput {
		return nil, nil
	}
	text, err := documentsOf(c).next(c.Context)
	switch {
	case err == io.EOF:
		return nil, nil
	case err != nil:
		return nil, err
	}
	results, err := record.ParseResults(text, p.Parameters())
	if err != nil {
		return nil, wrong("known results on standard input: %w", err)
	}
	return results, nil
}

// documents are the texts of standard input, which lines «---» separate.
type documents struct{ *bufio.Reader }

// documentsOf returns the documents of a command that were not read yet.
func documentsOf(c *cli.Context) documents {
	d, ok := c.App.Reader.(documents)
	if !ok {
		d = documents{bufio.NewReader(c.App.Reader)}
		c.App.Reader = d
	}
	return d
}

// next returns the next document that has any text. The error is io.EOF after the last one.
func (d documents) next(ctx context.Context) (text []byte, err error) {
	read := make(chan struct{})
	go func() {
		defer close(read)
		text, err = d.read()
	}()
	select {
	case <-read:
		return text, err
	case <-ctx.Done(): // the process ends, and the reading with it
		return nil, ctx.Err()
	}
}

func (d documents) read() (text []byte, err error) {
	for err == nil {
		var line []byte
		line, err = d.ReadBytes('\n')
		switch {
		case err != nil && err != io.EOF:
			return nil, fmt.Errorf("read standard input: %w", err)
		case string(bytes.TrimRight(line, " \t\r\n")) != "---":
			text = append(text, line...)
		case len(bytes.TrimSpace(text)) > 0:
			return text, nil
		}
	}
	if len(bytes.TrimSpace(text)) > 0 {
		return text, nil
	}
	return nil, err
}
