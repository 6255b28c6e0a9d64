//go:build unix

package worker

import (
	"os/exec"
	"syscall"
)

// isolate gives a worker a process group of its own: Ctrl-C at the terminal reaches the
// parent only, and what the worker starts (PoCL runs a linker) ends with it.
func isolate(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithParent(c.SysProcAttr)
}

// killGroup ends a worker and what it has started.
func killGroup(c *exec.Cmd) {
	_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
}

// sweep ends what a worker has left that is gone itself, and reports that nothing of it is left
// to signal. The worker was not waited for yet, so that its number is no other's; and how it
// ended is settled.
func sweep(c *exec.Cmd) bool {
	killGroup(c)
	return true
}

// freeze makes a worker stand still, with all that it has started, and thaw lets it go on.
// Both return at once: a processor that runs the worker is interrupted for it.
func freeze(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGSTOP) }

func thaw(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGCONT) }

// canFreeze reports whether there is freeze.
const canFreeze = true
