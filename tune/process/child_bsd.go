//go:build unix && !linux

package process

import "syscall"

// endWithParent does nothing: a child ends when its standard input does.
func endWithParent(*syscall.SysProcAttr) {}
