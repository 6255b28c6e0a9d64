package process

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// A Segment is memory of this process that its children can read without a copy. Close it when no other child will need it.
type Segment struct {
	Bytes []byte // before Seal
	file  *os.File
	place SegmentPlace
}

// NewSegment returns a segment of some bytes. It is an error where the operating system has none, or none for children.
func NewSegment(size int) (*Segment, error) {
	fd, err := unix.MemfdCreate("ndtune", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make a segment of memory: %w", err)
	}
	s := &Segment{file: os.NewFile(uintptr(fd), "segment")}
	var own unix.Stat_t
	if err = errors.Join(s.file.Truncate(int64(size)), unix.Fstat(fd, &own)); err == nil {
		s.Bytes, err = unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	s.place = SegmentPlace{uint64(fd), uint64(own.Dev), own.Ino}
	var read *os.File
	if err == nil {
		read, err = s.place.open(os.Getpid())
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("make a segment of %d bytes: %w", size, err)
	}
	read.Close()
	return s, nil
}

// open opens a segment of a process. In a PID namespace without a /proc of its own, the process of that number there is another one: its file is
// not opened.
func (p SegmentPlace) open(pid int) (*os.File, error) {
	path := fmt.Sprintf("/proc/%d/fd/%d", pid, p.Number)
	var there unix.Stat_t
	if err := unix.Stat(path, &there); err != nil || p != (SegmentPlace{p.Number, uint64(there.Dev), there.Ino}) {
		return nil, fmt.Errorf("%s is not the segment with device %d and inode %d", path, p.Device, p.Inode)
	}
	return os.Open(path)
}

// Seal says that the bytes are written, and forgets them. It returns the place where children open the segment.
func (s *Segment) Seal() SegmentPlace {
	_ = unix.Munmap(s.Bytes)
	s.Bytes = nil
	return s.place
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
func OpenSegment(place SegmentPlace, size int) (bytes []byte, err error) {
	f, err := place.open(os.Getppid())
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
