package process

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// A Segment is memory of this process that its children can read without a copy. Close it when no other child will need it.
type Segment struct {
	Bytes []byte // before Seal
	file  *os.File
}

// NewSegment returns a segment of some bytes. It is an error where the operating system has none, or none for children.
func NewSegment(size int) (*Segment, error) {
	fd, err := unix.MemfdCreate("ndtune", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make a segment of memory: %w", err)
	}
	s := &Segment{file: os.NewFile(uintptr(fd), "segment")}
	if err = s.file.Truncate(int64(size)); err == nil {
		s.Bytes, err = unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	var read *os.File
	if err == nil {
		read, err = os.Open(pathOf(os.Getpid(), fd))
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("make a segment of %d bytes: %w", size, err)
	}
	read.Close()
	return s, nil
}

func pathOf(pid, fd int) string { return fmt.Sprintf("/proc/%d/fd/%d", pid, fd) }

// Seal says that the bytes are written, and forgets them. It returns a number by which children open the segment.
func (s *Segment) Seal() int {
	_ = unix.Munmap(s.Bytes)
	s.Bytes = nil
	return int(s.file.Fd())
}

// Close gives the memory back. It does nothing on nil.
func (s *Segment) Close() {
	if s == nil {
		return
	}
	if s.Bytes != nil {
		s.Seal()
	}
	s.file.Close()
}

// OpenSegment returns the bytes of a segment of the parent. What this process writes to them stays its own. Close ends their use.
func OpenSegment(number, size int) (bytes []byte, err error) {
	f, err := os.Open(pathOf(os.Getppid(), number))
	if err != nil {
		return nil, fmt.Errorf("open a segment of memory: %w", err)
	}
	defer f.Close()
	if bytes, err = unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE); err != nil {
		err = fmt.Errorf("map a segment of %d bytes: %w", size, err)
	}
	return bytes, err
}

// CloseSegment ends the use of the bytes of a segment of the parent.
func CloseSegment(bytes []byte) { _ = unix.Munmap(bytes) }
