package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
)

// OwnPath returns a path of the running program, even if its file was replaced or removed. Without /proc, it is the path that the program was
// started by.
func OwnPath() (string, error) {
	const self = "/proc/self/exe"
	if _, err := os.Stat(self); err == nil {
		return self, nil
	}
	path, err := exec.LookPath(os.Args[0])
	if err != nil {
		return "", fmt.Errorf("%w; mount /proc, or start the program by its path", err)
	}
	return filepath.Abs(path)
}

// endWithParent lets the kernel kill a child when the parent ends, even a child that hangs or
// is frozen.
func endWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// startThread takes functions to the one thread that starts children. The kernel takes the end of
// the thread that started a process for the end of the parent, and Go ends threads at will.
var startThread = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// startKept starts a command on a thread that stays.
func startKept(c *exec.Cmd) error {
	done := make(chan error)
	startThread() <- func() { done <- c.Start() }
	return <-done
}
