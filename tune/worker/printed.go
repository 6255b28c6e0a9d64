package worker

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
)

// printed is what a worker and its driver print: the last of it is kept, and all of it
// shown where that is wanted.
type printed struct {
	to     io.Writer // nil: nowhere
	number int

	mutex sync.Mutex
	last  []byte
	line  []byte // begun, for to
}

// oneByOne lets workers write to one place.
type oneByOne struct {
	mutex sync.Mutex
	to    io.Writer
}

func (o *oneByOne) Write(b []byte) (int, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.to.Write(b)
}

// keepPrinted bounds what is kept, in bytes: a Go crash dump of a worker fits.
const keepPrinted = 64 << 10

func newPrinted(to io.Writer, number int) *printed { return &printed{to: to, number: number} }

// copy reads until the end.
func (p *printed) copy(from io.Reader) {
	buffer := make([]byte, 16<<10)
	for {
		n, err := from.Read(buffer)
		p.add(buffer[:n])
		if err != nil {
			p.finish()
			return
		}
	}
}

func (p *printed) add(b []byte) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.last = append(p.last, b...)
	if len(p.last) > 2*keepPrinted {
		p.last = append(p.last[:0], p.last[len(p.last)-keepPrinted:]...)
	}
	if p.to == nil {
		return
	}
	p.line = append(p.line, b...)
	for {
		i := bytes.IndexByte(p.line, '\n')
		if i < 0 {
			break
		}
		p.show(p.line[:i])
		p.line = p.line[i+1:]
	}
	if len(p.line) > keepPrinted {
		p.show(p.line)
		p.line = nil
	}
}

func (p *printed) show(line []byte) {
	fmt.Fprintf(p.to, "worker %d: %s\n", p.number, strings.ToValidUTF8(string(bytes.TrimRight(line, "\r")), "\uFFFD"))
}

func (p *printed) finish() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.to != nil && len(p.line) > 0 {
		p.show(p.line)
		p.line = nil
	}
}

// text is the last of what was printed.
func (p *printed) text() string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return strings.ToValidUTF8(string(p.last), "\uFFFD")
}
