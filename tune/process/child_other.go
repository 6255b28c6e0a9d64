//go:build !linux

package process

import (
	"os"
	"os/exec"
)

// OwnPath returns a path of the running program.
func OwnPath() (string, error) { return os.Executable() }

func startKept(c *exec.Cmd) error { return c.Start() }
