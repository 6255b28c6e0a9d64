package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
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
	Beaten string               `json:"limit_beaten,omitempty"` // by the best: the peak to doubt
	Log    string               `json:"log,omitempty"`
	Error  string               `json:"error,omitempty"`
}

func jsonLinesFlag(to *bool) cli.Flag {
	return switchFlag(to, "json", categoryOutput, "print JSON lines for programs: results, notes, the end (docs/stream.md)")
}

// streamed makes an action one whose output is a stream if --json is given. The program writes its end.
func streamed(action cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		if c.Bool("json") {
			c.App.Writer, c.App.ErrWriter = io.Discard, newStream(c.App.Writer)
			if sharedReserve(c) == nil {
				ctx, done := endWithoutReader(c.Context)
				defer done()
				c.Context = ctx
			}
		}
		return action(c)
	}
}

// endWithoutReader returns a context that ends when nobody reads standard output any more. The caller calls done at the end.
func endWithoutReader(ctx context.Context) (ended context.Context, done func()) {
	ended, done = context.WithCancel(ctx)
	stopWithoutReader(done)
	return ended, done
}

func newStream(to io.Writer) *stream { return &stream{to: to, end: streamEnd{Kind: "end"}} }

// streamOf returns the stream of a program; nil: it prints for people.
func streamOf(app *cli.App) *stream {
	s, _ := app.ErrWriter.(*stream)
	return s
}

// Write tells a note for people.
func (s *stream) Write(p []byte) (int, error) {
	if text := strings.TrimSpace(string(p)); text != "" {
		s.tell(map[string]string{"kind": "note", "text": text})
	}
	return len(p), nil
}

// tell writes a value as a line.
func (s *stream) tell(v any) {
	line, _ := json.Marshal(v) // texts and numbers
	s.lines(append(line, '\n'))
}

// lines writes whole lines. The output keeps the first error.
func (s *stream) lines(b []byte) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	_, _ = s.to.Write(b)
}

// standardInput is the argument that names standard input in the place of a specification.
const standardInput = "-"

var errNoSpecification = wrong("standard input holds no specification")

// knownResults reads the results that follow the specification on standard input.
func knownResults(ctx context.Context, t *console, p *problem.Problem) (results []tune.Result, err error) {
	text, err := t.in.next(ctx)
	if err == nil {
		results, err = record.ParseResults(text, p.Parameters())
	}
	switch {
	case err == io.EOF || ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, wrong("known results on standard input: %w", err)
	}
	return results, nil
}

// documents are the texts of standard input, which lines «---» separate.
type documents struct{ *bufio.Reader }

// maxDocument is the most that is read of one, in bytes: a pipe may never end.
var maxDocument = 256 << 20

// next returns the next document that has any text. The error is io.EOF after the last one.
func (d documents) next(ctx context.Context) (text []byte, err error) {
	read := make(chan struct{})
	go func() {
		defer close(read)
		for line, ended := 0, false; err == nil && !ended; { // line: where it begins in the text
			var part []byte
			part, err = d.ReadSlice('\n')
			switch text = append(text, part...); {
			case len(text) > maxDocument:
				err = wrong("standard input has a text of more than %d MiB", maxDocument>>20)
			case err == bufio.ErrBufferFull:
				err = nil
			case string(bytes.TrimRight(text[line:], " \t\r\n")) == "---":
				text, ended = text[:line], len(bytes.TrimSpace(text[:line])) > 0
			default:
				line = len(text)
			}
		}
	}()
	select {
	case <-read:
	case <-ctx.Done(): // the process ends, and the reading with it
		return nil, ctx.Err()
	}
	if err == io.EOF && len(bytes.TrimSpace(text)) > 0 {
		err = nil
	}
	return text, err
}
