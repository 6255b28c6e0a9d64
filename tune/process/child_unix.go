//go:build unix

package process

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// isolate gives a child a process group of its own, if it wants one: Ctrl-C at the terminal reaches the parent
// only, and what the child starts (PoCL runs a linker) is killed with it.
func isolate(c *exec.Cmd, group bool) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: group}
	endWithParent(c.SysProcAttr)
}

func killGroup(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }

// sweep kills the orphans of an exited child before it is reaped, so that its PID cannot have
// been reused, and reports that nothing is left to signal. The child's exit status is settled.
func sweep(c *exec.Cmd) bool {
	killGroup(c)
	return true
}

// CanFreeze reports whether Freeze does anything on this system.
const CanFreeze = true

func freeze(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGSTOP) }

func thaw(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGCONT) }

// sentByTerminal reports whether a signal of this process comes from its terminal, which sends it to the programs in the foreground too.
func sentByTerminal(s os.Signal) bool {
	for fd := range 3 {
		if group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err == nil {
			return s == os.Interrupt && group == unix.Getpgrp()
		}
	}
	return false
}

// signalText is a signal by its name and its meaning: «SIGSEGV (segmentation fault)».
func signalText(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return fmt.Sprintf("%s (%s)", name, s)
	}
	return s.String()
}

// takeStreams moves standard input and output out of reach of what libraries, compilers and
// other processes print or read: descriptor 1 becomes standard error, descriptor 0 reads nothing.
func takeStreams() (in, out *os.File, err error) {
	files := [2]*os.File{}
	for fd := range files {
		kept, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
		if err != nil {
			return nil, nil, fmt.Errorf("keep descriptor %d: %w", fd, err)
		}
		files[fd] = os.NewFile(uintptr(kept), "protocol")
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, nil, err
	}
	defer null.Close()
	if err := unix.Dup2(int(null.Fd()), 0); err != nil {
		return nil, nil, fmt.Errorf("give standard input away: %w", err)
	}
	if err := unix.Dup2(2, 1); err != nil {
		return nil, nil, fmt.Errorf("give standard output away: %w", err)
	}
	return files[0], files[1], nil
}

var plainWord = regexp.MustCompile(`^[\w./:,=+@%-]+$`)

// Quoted quotes a word for a POSIX shell, if necessary.
func Quoted(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
