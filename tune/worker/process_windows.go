package worker

import (
	"os/exec"
	"syscall"
)

// isolate keeps Ctrl-C at the console from a worker.
func isolate(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

func killGroup(c *exec.Cmd) { _ = c.Process.Kill() }

// sweep leaves the worker alone: Windows tells what it kills by a handle, which is no other's.
func sweep(*exec.Cmd) bool { return false }

// Windows has no way to make a process stand still that is meant to be used.
const canFreeze = false

func freeze(*exec.Cmd) {}

func thaw(*exec.Cmd) {}
