package ui

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
	"github.com/ndtune/ndtune/tune/space"
)

// A Stream is the output of a command with --json: JSON lines and nothing else (docs/stream.md). What is printed for people vanishes,
// and their notes become lines. Several goroutines may use it at once.
type Stream struct {
	to    io.Writer
	mutex sync.Mutex
	End   StreamEnd
}

// A StreamEnd is the last line of a stream.
type StreamEnd struct {
	Kind   string               `json:"kind"`
	Status int                  `json:"status"` // of the process
	Why    tune.StopReason      `json:"why,omitempty"`
	Cause  string               `json:"cause,omitempty"`
	Best   *space.Configuration `json:"best,omitempty"`
	Beaten string               `json:"limit_beaten,omitempty"` // by the best: the peak to doubt
	Log    string               `json:"log,omitempty"`
	Error  string               `json:"error,omitempty"`
}

// EndWithoutReader returns a context that ends when nobody reads standard output any more. The caller calls done at the end.
func EndWithoutReader(ctx context.Context) (ended context.Context, done func()) {
	ended, done = context.WithCancel(ctx)
	stopWithoutReader(done)
	return ended, done
}

// NewStream returns a stream to an output.
func NewStream(to io.Writer) *Stream { return &Stream{to: to, End: StreamEnd{Kind: "end"}} }

// StreamOf returns the stream of a program; nil: it prints for people.
func StreamOf(app *cli.App) *Stream {
	s, _ := app.ErrWriter.(*Stream)
	return s
}

// Write tells a note for people.
func (s *Stream) Write(p []byte) (int, error) {
	if text := strings.TrimSpace(string(p)); text != "" {
		s.Tell(map[string]string{"kind": "note", "text": text})
	}
	return len(p), nil
}

// Tell writes a value as a line.
func (s *Stream) Tell(v any) {
	line, _ := json.Marshal(v) // texts and numbers
	s.Lines(append(line, '\n'))
}

// Lines writes whole lines. The output keeps the first error.
func (s *Stream) Lines(b []byte) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	_, _ = s.to.Write(b)
}

// Documents are the texts of standard input, which lines «---» separate.
type Documents struct{ *bufio.Reader }

// maxDocument is the most that is read of one, in bytes: a pipe may never end.
var maxDocument = 256 << 20

// Next returns the next document that has any text. The error is io.EOF after the last one.
func (d Documents) Next(ctx context.Context) (text []byte, err error) {
	read := make(chan struct{})
	go func() {
		defer close(read)
		for line, ended := 0, false; err == nil && !ended; { // line: where it begins in the text
			var part []byte
			part, err = d.ReadSlice('\n')
			switch text = append(text, part...); {
			case len(text) > maxDocument:
				err = Wrong("standard input has a text of more than %d MiB", maxDocument>>20)
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
