//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ndtune/ndtune/internal/standin"
)

// A runningProgram is ndtune in a process of its own, which a test can send signals to.
type runningProgram struct {
	t       *testing.T
	folder  string
	command *exec.Cmd
	stdout  *bufio.Reader
	pipe    io.Closer       // stdout
	out     strings.Builder // what was read of stdout
	notes   awaitedText     // stderr
	gone    chan struct{}   // closed when the program, and all that it started, has ended
}

// An endedProgram is the output and the status of a program.
type endedProgram struct {
	out, notes string
	status     int            // -1: ended by a signal
	signal     syscall.Signal // that ended it
}

// mark is the variable by which the processes of a program are known.
const mark = "NDTUNE_TEST_FOLDER="

// startSearch starts a search on the tests' device, in a folder.
func startSearch(t *testing.T, folder string, environment []string, arguments ...string) *runningProgram {
	t.Helper()
	return startProgram(t, folder, environment, append(arguments, "--device", needDevice(t).Selector)...)
}

// standIns is the environment of a program that has the stand-in's devices of some profiles, each on a platform of its own.
func standIns(t *testing.T, profiles ...string) string {
	t.Helper()
	if standin.OnSystem() {
		t.Skip("it needs several devices, which the stand-in has")
	}
	folder, err := standin.Folder()
	if err != nil {
		t.Fatal(err)
	}
	return standin.ProfilesVariable + "=" + standin.Profiles(folder, profiles...)
}

// startProgram starts ndtune in a folder, as a process group.
func startProgram(t *testing.T, folder string, environment []string, arguments ...string) *runningProgram {
	t.Helper()
	return startCommand(t, folder, environment, exec.Command("ndtune", arguments...))
}

// startCommand starts a command that becomes ndtune.
func startCommand(t *testing.T, folder string, environment []string, c *exec.Cmd) *runningProgram {
	t.Helper()
	s := &runningProgram{t: t, folder: folder, command: c, gone: make(chan struct{})}
	c.Dir = folder
	c.Env = append(append(programEnvironment(folder), mark+folder), environment...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Stderr = &s.notes
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.stdout, s.pipe = bufio.NewReader(stdout), stdout
	// The program has one end of a pipe, and the processes that it starts inherit it.
	alive, held, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	t.Cleanup(func() { alive.Close() })
	c.ExtraFiles = []*os.File{held}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		if _, err := alive.Read(make([]byte, 1)); err == io.EOF {
			close(s.gone)
		}
	}()
	t.Cleanup(func() {
		if c.ProcessState == nil { // the test has failed before it came to the end
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	})
	return s
}

// read waits for lines on stdout: «Using:» and a line for each result. It reads fewer if the program
// ends before.
func (s *runningProgram) read(lines int) {
	for range lines {
		line, err := s.stdout.ReadString('\n')
		s.out.WriteString(line)
		if err != nil {
			return
		}
	}
}

// close closes stdout, as a reader does that ends.
func (s *runningProgram) close() {
	s.t.Helper()
	if err := s.pipe.Close(); err != nil {
		s.t.Fatal(err)
	}
	s.stdout.Reset(strings.NewReader(""))
}

// Await waits until stderr matches an expression, in which ^ and $ match at line ends.
func (s *runningProgram) await(expression string) {
	s.t.Helper()
	select {
	case <-s.notes.await(expression):
	case <-s.gone:
		s.t.Fatalf("it ended without %s:\n%s", expression, s.end().notes)
	}
}

// signal sends a signal to the process group of the program, as a terminal does.
func (s *runningProgram) signal(signal syscall.Signal) {
	s.t.Helper()
	if err := syscall.Kill(-s.command.Process.Pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
		s.t.Error(err)
	}
}

// end waits for the end of the program. However that came about, it leaves no process behind, and no
// stack trace.
func (s *runningProgram) end() endedProgram {
	t := s.t
	t.Helper()
	rest, err := io.ReadAll(s.stdout)
	if err != nil {
		t.Error(err)
	}
	s.out.Write(rest)
	err = s.command.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	select {
	case <-s.gone:
	case <-time.After(time.Minute):
		t.Errorf("a minute after the end of the program (%v), processes of it are left: %s", err, strings.Join(endProcessesOf(s.folder), "; "))
	}
	state := s.command.ProcessState
	ended := endedProgram{out: s.out.String(), notes: s.notes.text.String(), status: state.ExitCode()}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		ended.signal = status.Signal()
	}
	if trace := stackTrace(ended.notes); trace != "" {
		t.Fatalf("it crashed: %s", ended.notes)
	}
	return ended
}

// An awaitedText receives a text, and tells when it matches an expression.
type awaitedText struct {
	mutex   sync.Mutex
	text    strings.Builder
	awaited *regexp.Regexp // nil: none
	found   chan struct{}
}

func (a *awaitedText) Write(b []byte) (int, error) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.text.Write(b)
	a.check()
	return len(b), nil
}

// Await returns a channel that is closed when the text matches.
func (a *awaitedText) await(expression string) <-chan struct{} {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.awaited, a.found = regexp.MustCompile("(?m)"+expression), make(chan struct{})
	a.check()
	return a.found
}

func (a *awaitedText) check() {
	if a.awaited != nil && a.awaited.MatchString(a.text.String()) {
		close(a.found)
		a.awaited = nil
	}
}

// endProcessesOf ends the processes that are left of a program in a folder, and lists them, if the
// system tells.
func endProcessesOf(folder string) []string {
	var all []string
	paths, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range paths {
		environment, _ := os.ReadFile(path)
		if !bytes.Contains(append([]byte{0}, environment...), []byte("\x00"+mark+folder+"\x00")) {
			continue
		}
		arguments, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		all = append(all, fmt.Sprintf("%d %s", pid, bytes.ReplaceAll(arguments, []byte{0}, []byte{' '})))
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
	}
	return all
}
