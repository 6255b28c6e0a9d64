//go:build !linux

package process

import (
	"os"
	"os/exec"
)

func ownPath() (string, error) { return os.Executable() }

func startKept(c *exec.Cmd) error { return c.Start() }
