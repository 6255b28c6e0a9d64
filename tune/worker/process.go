package worker

import (
	"bufio"
	"encoding/gob"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// A process is a worker as the parent holds it. Its answers arrive on the channel that it
// was started with, and after the last of them its end.
type process struct {
	number   int // counted from 1, in the order of their start
	cmd      *exec.Cmd
	requests chan request
	printed  *printed
	input    *os.File
	kill     sync.Once

	mutex sync.Mutex
	over  bool // it gets no signal any more: its number may be another's
}

// An event is an answer of a process, or its end.
type event struct {
	process *process
	answer  answer
	ended   bool
	state   *os.ProcessState // how it ended; nil where that cannot be known
	garbled error            // why its messages could not be read any further, or nil
}

// launcher starts the processes of a pool.
type launcher struct {
	events   chan<- event
	closed   <-chan struct{} // nobody takes events any more
	output   io.Writer       // what workers print, line by line; nil: nowhere
	variable []string        // more environment
	started  int
}

// start runs the program once more, as a worker.
func (l *launcher) start() (*process, error) {
	l.started++
	p := &process{number: l.started, requests: make(chan request, 8)}
	path, err := ownPath()
	if err != nil {
		return nil, fmt.Errorf("start a worker: find the program: %w", err)
	}
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start a worker: %w", err)
	}
	defer childIn.Close()
	out, childOut, err := os.Pipe()
	if err != nil {
		in.Close()
		return nil, fmt.Errorf("start a worker: %w", err)
	}
	defer childOut.Close()
	log, childLog, err := os.Pipe()
	if err != nil {
		in.Close()
		out.Close()
		return nil, fmt.Errorf("start a worker: %w", err)
	}
	defer childLog.Close()

	p.cmd = exec.Command(path)
	p.cmd.Args = []string{os.Args[0], "(worker)"} // for those who look at the list of processes
	p.cmd.Env = append(append(os.Environ(), environment+"=1"), l.variable...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = childIn, childOut, childLog
	isolate(p.cmd)
	if err := startKept(p.cmd); err != nil {
		in.Close()
		out.Close()
		log.Close()
		return nil, fmt.Errorf("start a worker: %w", err)
	}
	p.input = in
	p.printed = newPrinted(l.output, p.number)
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		p.printed.copy(log)
	}()
	go p.write(in)
	go p.read(l, out, log, drained)
	return p, nil
}

// write sends the requests until the process ends.
func (p *process) write(to *os.File) {
	w := bufio.NewWriter(to)
	encoder := gob.NewEncoder(w)
	for r := range p.requests {
		if encoder.Encode(r) != nil || w.Flush() != nil {
			break // it has ended: read tells
		}
	}
	to.Close()
	for range p.requests { // nobody reads them any more
	}
}

// read passes the answers on, and then the end.
func (p *process) read(l *launcher, out, log *os.File, drained <-chan struct{}) {
	decoder := gob.NewDecoder(bufio.NewReader(out))
	end := event{process: p, ended: true}
	for {
		var a answer
		if err := decoder.Decode(&a); err != nil {
			if err != io.EOF {
				end.garbled = err
			}
			break
		}
		l.pass(event{process: p, answer: a})
	}
	out.Close()
	if end.garbled != nil {
		p.end() // what it says makes no sense
	}
	p.mutex.Lock()
	p.over = sweep(p.cmd)
	p.mutex.Unlock()
	end.state, _ = p.cmd.Process.Wait()
	// Something that the worker started may hold its standard error open still.
	select {
	case <-drained:
	case <-time.After(drainTime):
		log.Close()
		<-drained
	}
	log.Close()
	l.pass(end)
}

// drainTime is how long the last words of a worker that has ended are waited for.
const drainTime = time.Second

func (l *launcher) pass(e event) {
	select {
	case l.events <- e:
	case <-l.closed:
	}
}

// send queues a message. It does not wait for the process.
func (p *process) send(r request) { p.requests <- r }

// end kills the process with all that it has started.
func (p *process) end() { p.kill.Do(func() { p.signal(killGroup) }) }

// signal sends a signal, unless the process has ended. It holds off the call that waits for the
// process, which gives its number free.
func (p *process) signal(send func(*exec.Cmd)) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if !p.over {
		send(p.cmd)
	}
}

// close lets the process end by itself, which it does at once unless it hangs.
func (p *process) close() { close(p.requests) }
