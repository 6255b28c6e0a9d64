//go:build !linux

package worker

import (
	"os"
	"os/exec"
)

func ownPath() (string, error) { return os.Executable() }

func startKept(c *exec.Cmd) error { return c.Start() }
