package worker

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// patience bounds the wait for the end of a process that has been killed.
const patience = watchdog

// marked are the processes whose environment has a variable.
func marked(variable string) []int {
	var pids []int
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range all {
		environ, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(append([]byte{0}, environ...), []byte("\x00"+variable+"\x00")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// checkGone makes sure that no process with a variable in its environment is left, or will be
// when those are gone that have been killed already.
func checkGone(t testing.TB, variable string) {
	t.Helper()
	for _, pid := range marked(variable) {
		waitForEnd(t, pid)
	}
	if pids := marked(variable); len(pids) > 0 {
		t.Errorf("the processes %v are left", pids)
	}
}

// waitForEnd waits until a process ends, which need not be a child.
func waitForEnd(t testing.TB, pid int) {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if err == unix.ESRCH {
		return
	}
	if err != nil {
		t.Fatalf("watch process %d: %v", pid, err)
	}
	defer unix.Close(fd)
	deadline := time.Now().Add(patience)
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(time.Until(deadline).Milliseconds()))
		switch {
		case err == unix.EINTR:
		case err != nil:
			t.Fatalf("watch process %d: %v", pid, err)
		case n == 0:
			command, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
			t.Errorf("process %d has not ended (%q)", pid, command)
			return
		default:
			return
		}
	}
}
