package process

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

const segmentVariable = "NDTUNE_TEST_SEGMENT"

// TestSegment: a child reads the memory of its parent, and what it writes there stays its own.
func TestSegment(t *testing.T) {
	if text := os.Getenv(segmentVariable); text != "" {
		number, _ := strconv.Atoi(text)
		bytes, err := OpenSegment(number, 5000)
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
	number := s.Seal()
	for range 2 {
		child := exec.Command(os.Args[0], "-test.run=^TestSegment$")
		child.Env = append(os.Environ(), segmentVariable+"="+strconv.Itoa(number))
		if out, err := child.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	s.Close()
	if _, err := os.Open(pathOf(os.Getpid(), number)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after Close: %v", err)
	}
}
