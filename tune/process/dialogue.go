package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// MaxLine is the largest number of bytes of a line in a [Dialogue].
const MaxLine = 16 << 20

// goodbye is how long a program has to end by itself after its standard input was closed.
const goodbye = time.Second

// A Dialogue exchanges lines of text with a program of the user's, over its standard input and output. Whoever
// starts one must close it.
type Dialogue struct {
	group
	to    chan []byte
	lines chan []byte   // without the newlines; closed after the last one
	left  chan struct{} // closed when nobody receives any more
}

// Converse starts a program. Show gets what it prints on standard error, line by line; if it is nil, only the last lines are kept
// for the [End].
func Converse(program *exec.Cmd, show func(line string)) (*Dialogue, error) {
	d := &Dialogue{to: make(chan []byte), lines: make(chan []byte), left: make(chan struct{})}
	d.command, d.printed = program, &printed{show: show}
	in, out, err := d.start()
	if err != nil {
		return nil, &StartError{err}
	}
	go d.write(in)
	go d.read(out)
	return d, nil
}

// write sends texts until there are no more.
func (d *Dialogue) write(to io.WriteCloser) {
	defer to.Close()
	for text := range d.to {
		if _, err := to.Write(text); err != nil {
			for range d.to { // the program has closed its input; its answer, or its end, says more
			}
		}
	}
}

var errLongLine = fmt.Errorf("it wrote a line of more than %d bytes", MaxLine)

// read passes on lines, and then the end.
func (d *Dialogue) read(out io.Reader) {
	r := bufio.NewReader(out)
	for {
		line, err := readLine(r)
		if err != nil {
			if err == errLongLine {
				d.end.Garbled = err
				d.Kill()
			}
			break
		}
		select {
		case d.lines <- line:
		case <-d.left:
		}
	}
	close(d.lines)
	d.reap()
}

// readLine returns the next line without its end. The last line needs none.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if line = append(line, part...); len(line) > MaxLine {
			return nil, errLongLine
		}
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case err == io.EOF && len(line) > 0:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// ErrOver is the error of a dialogue whose program has ended, or has closed its standard output. The end of
// the program says why.
var ErrOver = errors.New("the program has ended")

// Send sends a text, which consists of whole lines. It does not wait until the program has read them.
func (d *Dialogue) Send(ctx context.Context, text []byte) error {
	select {
	case d.to <- text:
		return nil
	case <-d.over:
		return ErrOver
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Receive returns the next line of the program, without the newline.
func (d *Dialogue) Receive(ctx context.Context) ([]byte, error) {
	select {
	case line, ok := <-d.lines:
		if !ok {
			return nil, ErrOver
		}
		return line, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Unasked returns a line that the program has printed and that nobody has received, nil if there is none.
func (d *Dialogue) Unasked() []byte {
	select {
	case line := <-d.lines:
		return line
	default:
		return nil
	}
}

// Close ends the dialogue, and returns the end of the program; nil if it cannot be ended. A program that may end by itself gets a
// second for that after its standard input is closed. Then it is killed with everything that it has started. Close must be called
// once.
func (d *Dialogue) Close(byItself bool) *End {
	close(d.to)
	close(d.left)
	if byItself {
		d.AwaitEnd(time.Now().Add(goodbye))
	}
	if d.Kill(); !d.AwaitEnd(time.Now().Add(StopTime)) {
		return nil
	}
	return d.end
}

// Words splits a command line at spaces. Quotes, single or double, keep spaces in a word; a backslash means itself.
func Words(text string) ([]string, error) {
	var words []string
	var word strings.Builder
	begun, quote := false, rune(0)
	for _, r := range text {
		switch {
		case quote == 0 && strings.ContainsRune(" \t\n", r):
			if begun {
				words = append(words, word.String())
				word.Reset()
				begun = false
			}
			continue
		case quote == 0 && (r == '"' || r == '\''):
			quote = r
		case r == quote:
			quote = 0
		default:
			word.WriteRune(r)
		}
		begun = true
	}
	if quote != 0 {
		return nil, fmt.Errorf("the quote %c has no end", quote)
	}
	if begun {
		words = append(words, word.String())
	}
	if len(words) == 0 || words[0] == "" {
		return nil, errors.New("it names no program")
	}
	return words, nil
}
