package worker

import (
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// ownPath is the running program, also where its file was replaced or removed meanwhile.
func ownPath() (string, error) {
	const self = "/proc/self/exe"
	if _, err := os.Stat(self); err == nil {
		return self, nil
	}
	return os.Executable()
}

// endWithParent lets the kernel kill a worker when the parent ends, even one that hangs or
// stands still.
func endWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// startThread carries commands to the one thread that starts them: the kernel takes the end of
// the thread that started a process for the end of the parent, and Go may end any other.
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

// startKept starts a command from a thread that stays.
func startKept(c *exec.Cmd) error {
	done := make(chan error)
	startThread() <- func() { done <- c.Start() }
	return <-done
}
