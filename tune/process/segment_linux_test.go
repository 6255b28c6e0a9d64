package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

const segmentVariable = "NDTUNE_TEST_SEGMENT"

// TestSegment: a child reads the memory of its parent, and what it writes there stays its own.
func TestSegment(t *testing.T) {
	if text := os.Getenv(segmentVariable); text != "" {
		var place SegmentPlace
		if _, err := fmt.Sscan(text, &place.Number, &place.Device, &place.Inode); err != nil {
			t.Fatal(err)
		}
		bytes, err := OpenSegment(place, 5000)
		if err != nil || bytes[0] != 1 || bytes[4999] != 2 {
			t.Fatal(bytes, err)
		}
		bytes[0] = 3
		CloseSegment(bytes)
		return
	}
	s, err := NewSegment(5000)
	if err != nil {
		t.Fatal(err)
	}
	s.Bytes[0], s.Bytes[4999] = 1, 2
	place := s.Seal()
	for range 2 {
		child := exec.Command(os.Args[0], "-test.run=^TestSegment$")
		child.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %d", segmentVariable, place.Number, place.Device, place.Inode))
		if out, err := child.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	s.Close()
	if _, err := place.open(os.Getpid()); err == nil {
		t.Error("it is open after Close")
	}
}

// TestSegmentOfAnotherProcess: a worker does not take what another process has opened for the segment.
func TestSegmentOfAnotherProcess(t *testing.T) {
	s, err := NewSegment(5000)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	place := s.Seal()
	place.Inode++
	want := fmt.Sprintf("/proc/%d/fd/%d is not the segment with device %d and inode %d",
		os.Getpid(), place.Number, place.Device, place.Inode)
	if _, err := place.open(os.Getpid()); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

const namespaceVariable = "NDTUNE_TEST_NAMESPACE"

// TestNamespaces: in a PID namespace that sees the /proc of another one, and where nothing is mounted there, there is no segment, but children
// can start.
func TestNamespaces(t *testing.T) {
	switch os.Getenv(namespaceVariable) {
	case "":
		for _, mount := range []string{"proc", "tmpfs"} {
			if out, err := inNamespaces(mount, unix.CLONE_NEWUSER|unix.CLONE_NEWPID|unix.CLONE_NEWNS); err != nil {
				if errors.Is(err, fs.ErrPermission) || strings.Contains(out, "cannot mount") {
					t.Skipf("no namespaces here: %v %s", err, out)
				}
				t.Errorf("with %s at /proc: %v: %s", mount, err, out)
			}
		}
	case "proc", "tmpfs":
		err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
		if err == nil {
			err = unix.Mount("none", "/proc", os.Getenv(namespaceVariable), 0, "")
		}
		if err != nil {
			t.Fatal("cannot mount:", err)
		}
		var open []*os.File
		for range 100 { // one of them has the number that the segment has in the process below
			f, err := os.Open(os.DevNull)
			if err != nil {
				t.Fatal(err)
			}
			open = append(open, f)
		}
		if out, err := inNamespaces("below", unix.CLONE_NEWPID); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		runtime.KeepAlive(open)
	case "below":
		if s, err := NewSegment(5000); err == nil {
			t.Errorf("the process %d has the segment %+v, which its children would look for in another process", os.Getpid(), s.Seal())
		}
		path, err := OwnPath()
		if err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(path, "-test.run=^$").CombinedOutput(); err != nil {
			t.Errorf("start %s: %v: %s", path, err, out)
		}
	}
}

// inNamespaces runs TestNamespaces in a process with namespaces of its own.
func inNamespaces(place string, flags uintptr) (out string, err error) {
	child := exec.Command(os.Args[0], "-test.run=^TestNamespaces$")
	child.Env = append(os.Environ(), namespaceVariable+"="+place)
	child.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags}
	if flags&unix.CLONE_NEWUSER != 0 {
		child.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		child.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	text, err := child.CombinedOutput()
	return string(text), err
}
