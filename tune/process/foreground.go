package process

import (
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
	"time"
)

// Foreground runs a command that shares standard input, standard output, standard error and the terminal with this program, until it ends.
// A signal that asks this program to end is passed on, unless the terminal sends it to both, and a second one kills the command. It is asked
// to end, too, when a watcher, which is called again and again, returns an error; that is the error then.
func Foreground(c *exec.Cmd, watch func() error) (*End, error) {
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	isolate(c, false)
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, EndSignals()...)
	defer signal.Stop(signals)
	if err := startKept(c); err != nil {
		return nil, &StartError{err}
	}
	over := make(chan struct{})
	go func() {
		_ = c.Wait() // ProcessState says more
		close(over)
	}()
	ticks := time.NewTicker(watchInterval)
	defer ticks.Stop()
	var failed error
	var late <-chan time.Time // nil: nobody has asked it to end
	for {
		select {
		case <-over:
			return &End{State: c.ProcessState}, failed
		case s := <-signals:
			switch {
			case late != nil:
				_ = c.Process.Kill()
			case !sentByTerminal(s):
				_ = c.Process.Signal(s)
			}
			late = make(chan time.Time) // a program may take its time after Ctrl-C
		case <-ticks.C:
			if failed != nil {
				break
			}
			if failed = watch(); failed != nil {
				_ = c.Process.Signal(syscall.SIGTERM)
				late = time.After(StopTime)
			}
		case <-late:
			_ = c.Process.Kill()
		}
	}
}

// EndSignals are the signals that ask this program to end. Under nohup, SIGHUP is none.
func EndSignals() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
	return slices.DeleteFunc(all, func(s os.Signal) bool { return s == syscall.SIGHUP && signal.Ignored(s) })
}

// watchInterval is the time between two calls of a watcher.
const watchInterval = 50 * time.Millisecond

// Status is the exit status by which a shell tells of an end: 128 and its number for a signal.
func (e *End) Status() int {
	if w, known := e.waitStatus(); known && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return e.State.ExitCode()
}
