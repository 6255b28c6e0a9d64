//go:build unix

package matmul

import (
	"os/exec"
	"syscall"
)

// isolate gives a process a group of its own, so that what a library starts ends with it.
func isolate(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends a process, which was not waited for yet, with all that it has started.
func killGroup(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
