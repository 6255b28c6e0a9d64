package process

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/windows"
)

// isolate keeps Ctrl-C at the console from a child.
func isolate(c *exec.Cmd, group bool) {
	if group {
		c.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
	}
}

func killGroup(c *exec.Cmd) { _ = c.Process.Kill() }

// sweep does nothing: Windows names the process to kill by a handle, which is never reused.
func sweep(*exec.Cmd) bool { return false }

// CanFreeze reports whether Freeze does anything on this system. Windows has no documented way to
// stop a process.
const CanFreeze = false

func freeze(*exec.Cmd) {}

func thaw(*exec.Cmd) {}

// sentByTerminal is true: the console sends Ctrl-C to all programs that use it, and there are no other signals.
func sentByTerminal(os.Signal) bool { return true }

func signalText(s syscall.Signal) string { return s.String() }

// takeStreams keeps standard input and output for the protocol. Libraries that are loaded later
// find standard error in the place of standard output.
func takeStreams() (in, out *os.File, err error) {
	in, out = os.Stdin, os.Stdout
	if err := windows.SetStdHandle(windows.STD_OUTPUT_HANDLE, windows.Handle(os.Stderr.Fd())); err != nil {
		return nil, nil, fmt.Errorf("give standard output away: %w", err)
	}
	os.Stdout = os.Stderr
	return in, out, nil
}

// Quoted quotes a word for cmd and PowerShell, if necessary. To cmd a single quote means itself.
func Quoted(word string) string {
	quoted := syscall.EscapeArg(word)
	if quoted == word && strings.ContainsAny(word, "&|<>^()%!;,{}$#@'`*?") {
		quoted = `"` + word + `"`
	}
	return quoted
}
