// Package screen stands in for a terminal in tests: a pseudo terminal, and what it shows of what was printed.
package screen

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A Terminal is what a program takes for a terminal.
type Terminal struct {
	t     *testing.T
	Slave *os.File // the program's
	Size  Size

	read  sync.WaitGroup
	bytes bytes.Buffer // what was printed, to be looked at when HangUp has returned
}

// A Size is that of a terminal.
type Size struct{ Rows, Columns int }

// Open opens a terminal.
func Open(t *testing.T, size Size) *Terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no pseudo terminals: %v", err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(size.Rows), Col: uint16(size.Columns)}); err != nil {
		t.Fatal(err)
	}
	p := &Terminal{t: t, Slave: slave, Size: size}
	p.read.Add(1)
	go func() {
		defer p.read.Done()
		defer master.Close()
		if _, err := io.Copy(&p.bytes, master); err != nil && !errors.Is(err, syscall.EIO) { // which says that nobody has the slave any more
			t.Error(err)
		}
	}()
	return p
}

// HangUp waits until everything that was printed is read. Nobody else may have the slave.
func (p *Terminal) HangUp() string {
	p.Slave.Close()
	p.read.Wait()
	return p.bytes.String()
}

// A screen is what a terminal shows of what was printed: only what this program prints is
// understood, and anything else is an error.
type screen struct {
	size    Size
	lines   [][]rune
	row, at int
}

// Shown returns the lines that a terminal shows of what was printed, without spaces at their ends.
func Shown(t *testing.T, size Size, printed string) []string {
	t.Helper()
	s := &screen{size: size, lines: [][]rune{nil}}
	for rest := []rune(printed); len(rest) > 0; {
		taken, err := s.take(rest)
		if err != nil {
			t.Fatalf("%v in %q", err, printed)
		}
		rest = rest[taken:]
	}
	var lines []string
	for _, l := range s.lines {
		lines = append(lines, strings.TrimRight(string(l), " "))
	}
	return lines
}

func (s *screen) take(rest []rune) (int, error) {
	switch r := rest[0]; {
	case r == '\r':
		s.at = 0
	case r == '\n':
		if s.row++; s.row == len(s.lines) {
			s.lines = append(s.lines, nil)
		}
	case r == '\x1b':
		end := 2
		for end < len(rest) && (rest[end] < '@' || rest[end] > '~') {
			end++
		}
		if end >= len(rest) || rest[1] != '[' {
			return 0, errors.New("a broken escape sequence")
		}
		return end + 1, s.control(string(rest[2:end]), rest[end])
	case r < ' ':
		return 0, fmt.Errorf("the control character %q", r)
	default:
		if s.at == s.size.Columns { // it wraps
			s.at = 0
			if s.row++; s.row == len(s.lines) {
				s.lines = append(s.lines, nil)
			}
		}
		for len(s.lines[s.row]) <= s.at {
			s.lines[s.row] = append(s.lines[s.row], ' ')
		}
		s.lines[s.row][s.at] = r
		s.at++
	}
	return 1, nil
}

func (s *screen) control(arguments string, command rune) error {
	switch command {
	case 'A':
		s.row = max(0, s.row-1)
	case 'J':
		s.lines = s.lines[:s.row+1]
		s.lines[s.row] = s.lines[s.row][:min(s.at, len(s.lines[s.row]))]
	case 'm':
	default:
		return fmt.Errorf("the escape sequence %q%c", arguments, command)
	}
	return nil
}
