//go:build unix && !linux

package worker

import "syscall"

// endWithParent does nothing: a worker ends when its standard input does.
func endWithParent(*syscall.SysProcAttr) {}
