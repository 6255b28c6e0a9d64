package process

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
)

// printed is the standard error of a child. It keeps the end of it.
type printed struct {
	show func(line string) // gets all of it; nil: nobody does

	mutex sync.Mutex
	last  []byte
	line  []byte // the beginning of one, for show
}

// printed returns what the child of a number prints.
func (h *Host[Q, A]) printed(number int) *printed {
	if h.Output == nil {
		return &printed{}
	}
	return &printed{show: func(line string) {
		h.printing.Lock()
		defer h.printing.Unlock()
		fmt.Fprintf(h.Output, "%s %d: %s\n", h.Name, number, line)
	}}
}

var newline = []byte("\n")

// keepPrinted bounds what is kept, in bytes: a Go crash dump of a child fits.
const keepPrinted = 64 << 10

// Write implements io.Writer.
func (p *printed) Write(b []byte) (int, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.last = append(p.last, b...)
	if len(p.last) > 2*keepPrinted {
		p.last = append(p.last[:0], p.last[len(p.last)-keepPrinted:]...)
	}
	if p.show == nil {
		return len(b), nil
	}
	p.line = append(p.line, b...)
	for line, rest, whole := bytes.Cut(p.line, newline); whole; line, rest, whole = bytes.Cut(rest, newline) {
		p.showLine(line)
		p.line = rest
	}
	if len(p.line) > keepPrinted {
		p.showLine(p.line)
		p.line = nil
	}
	return len(b), nil
}

func (p *printed) showLine(line []byte) {
	p.show(strings.ToValidUTF8(string(bytes.TrimRight(line, "\r")), "\uFFFD"))
}

// end shows a line that has no end, and returns the end of what was printed.
func (p *printed) end() string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if len(p.line) > 0 {
		p.showLine(p.line)
		p.line = nil
	}
	return strings.ToValidUTF8(string(p.last), "\uFFFD")
}
