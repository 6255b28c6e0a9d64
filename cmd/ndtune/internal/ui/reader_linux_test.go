package ui

import (
	"fmt"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
)

// TestProgramsGetPipeSignals has a program print the signals that it ignores: a shell's pipeline counts on SIGPIPE.
func TestProgramsGetPipeSignals(t *testing.T) {
	stopWithoutReader(func() {})
	defer signal.Reset(syscall.SIGPIPE)
	out, err := exec.Command("sed", "-n", "s/SigIgn:\t/0x/p", "/proc/self/status").Output()
	var ignored uint64
	if _, scanned := fmt.Sscanf(string(out), "%v", &ignored); err != nil || scanned != nil {
		t.Fatalf("%q: %v, %v", out, err, scanned)
	}
	if ignored&(1<<(syscall.SIGPIPE-1)) != 0 {
		t.Errorf("it ignores SIGPIPE: %#x", ignored)
	}
}
