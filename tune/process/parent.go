package process

import (
	"bufio"
	"encoding/gob"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
)

// Marked reports whether this process is a child with a mark. It removes the mark: processes
// started by this one are no such children.
func Marked(mark string) bool {
	if os.Getenv(mark) == "" {
		return false
	}
	os.Unsetenv(mark)
	return true
}

// A Parent is the process that has started this one. A child gets requests Q from it, and answers
// with A.
type Parent[Q, A any] struct {
	name string
	in   io.Reader

	mutex   sync.Mutex
	out     *bufio.Writer
	encoder *gob.Encoder
}

// Connect returns the parent, and keeps everything else in this process from its standard input
// and output. The name is for messages, as in [Host].
func Connect[Q, A any](name string) (*Parent[Q, A], error) {
	in, out, err := takeStreams()
	if err != nil {
		return nil, err
	}
	inChild.Store(true)
	return NewParent[Q, A](name, in, out), nil
}

// Serve answers requests in a child with a mark, one after the other on one thread of the operating system, as libraries want that keep
// state by thread; it ends the process when the parent has no more use for it. Elsewhere it returns at once. The name is for messages.
func Serve[Q, A any](name, mark string, answer func(request Q, parent *Parent[Q, A])) {
	if !Marked(mark) {
		return
	}
	parent, err := Connect[Q, A](name)
	if err != nil {
		fmt.Fprintf(os.Stderr, "ndtune %s: %v\n", name, err)
		os.Exit(1)
	}
	runtime.LockOSThread()
	requests := make(chan Q)
	go parent.Listen(func(r Q) { requests <- r })
	for r := range requests {
		answer(r, parent)
	}
}

// NewParent returns a parent that is reached through any streams.
func NewParent[Q, A any](name string, in io.Reader, out io.Writer) *Parent[Q, A] {
	w := bufio.NewWriter(out)
	return &Parent[Q, A]{name: name, in: in, out: w, encoder: gob.NewEncoder(w)}
}

// Listen passes on the requests until there are no more, and then ends this process, whatever it
// does: the parent has ended, or has no more use for it.
func (p *Parent[Q, A]) Listen(hear func(Q)) {
	in := bufio.NewReader(p.in)
	decoder := gob.NewDecoder(in) // which reads nothing ahead
	for {
		var r Q
		err := decoder.Decode(&r)
		if at, n := bulkOf(&r); err == nil && n > 0 {
			*at = make([]byte, n)
			_, err = io.ReadFull(in, *at)
		}
		if err != nil {
			if err != io.EOF {
				fmt.Fprintf(os.Stderr, "ndtune %s: read a message: %v\n", p.name, err)
			}
			os.Exit(0)
		}
		hear(r)
	}
}

// Send sends an answer. It ends this process if the parent has ended.
func (p *Parent[Q, A]) Send(a A) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	err := p.encoder.Encode(a)
	if err == nil {
		err = p.out.Flush()
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "ndtune %s: send a message: %v\n", p.name, err)
		os.Exit(1)
	}
}
