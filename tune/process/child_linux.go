package process

import (
	"os"
	"os/exec"
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
	return exec.LookPath(os.Args[0])
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
