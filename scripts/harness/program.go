//go:build linux

package harness

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

// A Program is a process that runs. All that it starts has its mark in the environment.
type Program struct {
	*exec.Cmd
	Name   string
	Mark   string
	Ended  chan struct{} // closed at the end
	Killed bool          // by Kill

	output  string // path
	failure error  // of Wait, after the end
}

var started atomic.Int64

// Launch starts a program with further environment variables. Its output is appended to the file NAME.out in the folder.
func Launch(folder, name string, environment []string, command ...string) (*Program, error) {
	p := &Program{
		Cmd: exec.Command(command[0], command[1:]...), Name: name, Mark: fmt.Sprintf("NDTUNE_HARM=%d-%d", os.Getpid(), started.Add(1)),
		Ended: make(chan struct{}), output: filepath.Join(folder, name+".out"),
	}
	out, err := os.OpenFile(p.output, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p.Dir, p.Stdout, p.Stderr = folder, out, out
	p.Env = append(append(os.Environ(), environment...), p.Mark)
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.failure = p.Wait()
		close(p.Ended)
	}()
	return p, nil
}

// Output returns what the program has printed, and those of its name before it.
func (p *Program) Output() string {
	text, _ := os.ReadFile(p.output)
	return string(text)
}

// Failure waits for the end of the program, and returns its error.
func (p *Program) Failure() error {
	<-p.Ended
	return p.failure
}

// Over reports whether the program has ended.
func (p *Program) Over() bool { return p.Within(0) }

// Within waits for the end of the program.
func (p *Program) Within(limit time.Duration) bool {
	select {
	case <-p.Ended:
		return true
	default:
	}
	select {
	case <-p.Ended:
		return true
	case <-time.After(limit):
		return false
	}
}

// Signal sends a signal to the program alone.
func (p *Program) Signal(s syscall.Signal) { _ = p.Process.Signal(s) }

// SignalAll sends a signal to the program and to all that it has started.
func (p *Program) SignalAll(s syscall.Signal) {
	for _, pid := range p.Family() {
		_ = syscall.Kill(pid, s)
	}
}

// Kill kills the program alone.
func (p *Program) Kill() {
	p.Killed = true
	p.Signal(syscall.SIGKILL)
	<-p.Ended
}

// End interrupts the program, and kills it if it does not end in time.
func (p *Program) End(limit time.Duration) bool {
	p.Signal(syscall.SIGINT)
	good := p.Within(limit)
	if !good {
		p.Kill()
	}
	return good
}

// Family returns the process, and those that it has started, but for those that have ended and are waited for.
func (p *Program) Family() []int { return Marked(p.Mark) }

// Marked returns the processes with a mark in their environment, but for those that have ended and are waited for.
func Marked(mark string) (pids []int) {
	paths, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err == nil && bytes.Contains(text, []byte(mark+"\x00")) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// Remaining returns the processes with a mark that are still there after a time.
func Remaining(mark string, patience time.Duration) (left []int) {
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		if left = Marked(mark); len(left) == 0 {
			return nil
		}
	}
	return left
}

// KillMarked kills all processes with a mark.
func KillMarked(mark string) {
	for _, pid := range Marked(mark) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}
