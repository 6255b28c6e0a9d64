// Package natsserver starts the official NATS server for tests: the tool of scripts/go.mod, or the program that NDTUNE_NATS_SERVER names.
// Nothing that is built imports the server.
package natsserver

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// program is the path of the server.
var program = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("NDTUNE_NATS_SERVER"); path != "" {
		return path, nil
	}
	return tool("nats-server")
})

// tool returns the path of a tool, which the go command builds, or finds in its cache.
func tool(name string) (string, error) {
	module, err := goCommand("env", "GOMOD")
	if err != nil {
		return "", err
	}
	return goCommand("-C", filepath.Join(filepath.Dir(module), "scripts"), "tool", "-n", name)
}

func goCommand(arguments ...string) (string, error) {
	c := exec.Command("go", arguments...)
	c.Env = append(os.Environ(), "CGO_ENABLED=0") // as make builds it, also for tests under the race detector
	out, err := c.Output()
	if exit, is := errors.AsType[*exec.ExitError](err); is {
		err = fmt.Errorf("%s: %w\n%s", c, err, exit.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}

// A Server is a server with JetStream in a process of its own, which the test ends.
type Server struct {
	Address string // HOST:PORT

	folder    string
	arguments []string
	process   *exec.Cmd
}

// Start starts a server on a free port of the loopback, with a store in a folder.
func Start(t testing.TB, folder string) *Server {
	t.Helper()
	return StartWith(t, folder, "-js", "-sd", "store")
}

// StartWith starts a server in a folder, with some arguments, on a free port of the loopback.
func StartWith(t testing.TB, folder string, arguments ...string) *Server {
	t.Helper()
	s := &Server{folder: folder, arguments: append(arguments, "-a", "127.0.0.1", "-p", "-1")}
	s.start(t)
	t.Cleanup(s.Kill)
	return s
}

// URL returns the address of the server.
func (s *Server) URL() string { return "nats://" + s.Address }

// Kill kills the server.
func (s *Server) Kill() { s.end(os.Kill) }

// Stop lets the server end, and waits until it has.
func (s *Server) Stop() { s.end(os.Interrupt) }

func (s *Server) end(how os.Signal) {
	_ = s.process.Process.Signal(how)
	_ = s.process.Wait()
}

// Again starts a server that has ended again, on the port that it had.
func (s *Server) Again(t testing.TB) {
	t.Helper()
	_, port, err := net.SplitHostPort(s.Address)
	if err != nil {
		t.Fatal(err)
	}
	s.arguments[len(s.arguments)-1] = port
	s.start(t)
}

var listening = regexp.MustCompile(`Listening for client connections on (\S+)`)

// start starts the server, and reads its log until it is ready.
func (s *Server) start(t testing.TB) {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	s.process = exec.Command(path, s.arguments...)
	s.process.Dir = s.folder
	log, err := s.process.StderrPipe()
	if err == nil {
		err = s.process.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for all := bufio.NewScanner(log); all.Scan(); {
		lines = append(lines, all.Text())
		if found := listening.FindStringSubmatch(all.Text()); found != nil {
			s.Address = found[1]
		}
		if strings.Contains(all.Text(), "Server is ready") {
			go io.Copy(io.Discard, log)
			return
		}
	}
	s.Kill()
	t.Fatalf("%s has ended:\n%s", s.process, strings.Join(lines, "\n"))
}
