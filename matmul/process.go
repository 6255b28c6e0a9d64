package matmul

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// A Process is an entrant in a process of its own, which is started again where it ended.
// Close it when done. It is for one goroutine at a time.
type Process struct {
	Entrant Entrant

	command *exec.Cmd // nil: not running
	in      io.WriteCloser
	answers chan answer // closed at the end of its standard output, or after an answer without sense
	printed *tail
}

// About starts the process and says what the entrant is: which library or device, on how many
// threads. The error is a [MissingError] where its library is not there.
func (p *Process) About(ctx context.Context) (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program, to start it for %s: %w", p.Entrant.Name, err)
	}
	c := exec.Command(program)
	c.Env = append(os.Environ(), environment+"=1")
	p.printed = &tail{}
	c.Stderr = p.printed
	c.WaitDelay = holdTime
	isolate(c)
	if p.in, err = c.StdinPipe(); err != nil {
		return "", err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := c.Start(); err != nil {
		return "", fmt.Errorf("start a process for %s: %w", p.Entrant.Name, err)
	}
	p.command, p.answers = c, make(chan answer)
	go readAnswers(out, p.answers)
	a, err := p.ask(ctx, request{Entrant: &p.Entrant})
	if err == nil && a.Failed != "" {
		err = errors.New(a.Failed)
	}
	if err == nil && a.Missing != "" {
		err = &MissingError{a.Missing}
	}
	if err != nil {
		p.Close()
		return "", err
	}
	return a.About, nil
}

// Measure measures at a size, a kernel in the best of some configurations. When ctx ends
// before there is an answer, the process is killed, and the error is that of the context.
func (p *Process) Measure(ctx context.Context, n int, configurations []string) (Measurement, error) {
	if p.command == nil {
		if _, err := p.About(ctx); err != nil {
			return Measurement{}, err
		}
	}
	a, err := p.ask(ctx, request{N: n, Configurations: configurations})
	switch {
	case err != nil:
		return Measurement{}, err
	case a.Failed != "":
		return Measurement{}, errors.New(a.Failed)
	case a.Measurement == nil:
		return Measurement{}, fmt.Errorf("the process of %s gave no measurement", p.Entrant.Name)
	}
	return *a.Measurement, nil
}

// ask sends a request and waits for the answer. After an error the process is gone.
func (p *Process) ask(ctx context.Context, r request) (answer, error) {
	// What cannot be written has no reader: the process has ended, which is seen below.
	_ = json.NewEncoder(p.in).Encode(r)
	select {
	case a, ok := <-p.answers:
		switch {
		case !ok:
			return answer{}, p.ended()
		case a.garbled != nil:
			p.Close()
			return answer{}, fmt.Errorf("the process of %s gave an answer that makes no sense: %w", p.Entrant.Name, a.garbled)
		}
		return a, nil
	case <-ctx.Done():
		p.Close()
		return answer{}, ctx.Err()
	}
}

// holdTime is how long the last words of a process that has ended are waited for: another one
// that it has started may hold its standard error open.
const holdTime = time.Second

// ended says how a process came to its end of its own accord. It has closed its standard output,
// which is the end of it, or else is made to be.
func (p *Process) ended() error {
	err := p.wait()
	text := "with status 0"
	if err != nil {
		text = err.Error()
	}
	if line := p.printed.last(); line != "" {
		text += "; it printed: " + line
	}
	return fmt.Errorf("the process of %s ended: %s", p.Entrant.Name, text)
}

// Close ends the process. It can be called twice.
func (p *Process) Close() {
	if p.command == nil {
		return
	}
	_ = p.wait() // it was killed
}

// wait kills what there is still of the process and of what it has started, and waits for it.
// Wait closes this end of its standard output, which ends the answers whoever holds the other.
func (p *Process) wait() error {
	killGroup(p.command)
	err := p.command.Wait()
	for range p.answers {
	}
	p.command = nil
	if errors.Is(err, exec.ErrWaitDelay) {
		return nil // it has ended with status 0, and something of it holds its standard error
	}
	return err
}

// readAnswers passes on what are answers among the lines of a process.
func readAnswers(out io.Reader, to chan<- answer) {
	defer close(to)
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if text, ok := strings.CutPrefix(line, answerMark); ok && err == nil {
			var a answer
			a.garbled = json.Unmarshal([]byte(text), &a)
			to <- a
			if a.garbled != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// A tail keeps the end of what is written to it.
type tail struct {
	mutex sync.Mutex
	text  []byte
}

const tailLength = 8 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-tailLength):]
	return len(p), nil
}

// last is the line that says most about a crash: that of Go's runtime which names the signal,
// else the last one.
func (t *tail) last() string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	for _, line := range lines {
		for _, beginning := range []string{"SIG", "fatal error:", "panic:"} {
			if strings.HasPrefix(line, beginning) {
				return line
			}
		}
	}
	return lines[len(lines)-1]
}
