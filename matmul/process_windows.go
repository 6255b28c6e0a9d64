package matmul

import "os/exec"

func isolate(*exec.Cmd) {}

func killGroup(c *exec.Cmd) { _ = c.Process.Kill() }
