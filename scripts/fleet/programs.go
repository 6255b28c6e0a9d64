//go:build linux

package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// A program is a process that runs, and its group.
type program struct {
	name    string
	command *exec.Cmd
	ended   chan struct{}
	killed  bool // by a fault
}

// launch starts a program. Its output goes to files in the folder.
func launch(folder, name, path string, environment []string, arguments ...string) (*program, error) {
	out, err := os.OpenFile(filepath.Join(folder, name+".out"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	notes, err := os.OpenFile(filepath.Join(folder, name+".err"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer notes.Close()
	p := &program{name: name, command: exec.Command(path, arguments...), ended: make(chan struct{})}
	c := p.command
	c.Dir, c.Stdout, c.Stderr = folder, out, notes
	c.Env = append(os.Environ(), environment...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = c.Wait()
		close(p.ended)
	}()
	return p, nil
}

func (p *program) signal(s syscall.Signal) { _ = p.command.Process.Signal(s) }

// family signals the program and all its descendants.
func (p *program) family(s syscall.Signal) {
	for _, id := range append([]int{p.command.Process.Pid}, descendants(p.command.Process.Pid)...) {
		_ = syscall.Kill(id, s)
	}
}

// descendants returns the processes that a process has started, and those that they have started.
func descendants(of int) (all []int) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", of))
	for _, task := range tasks {
		data, _ := os.ReadFile(task)
		for _, text := range strings.Fields(string(data)) {
			if id, err := strconv.Atoi(text); err == nil {
				all = append(append(all, id), descendants(id)...)
			}
		}
	}
	return all
}

// over reports whether the program has ended.
func (p *program) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// within waits for the end of the program.
func (p *program) within(limit time.Duration) bool {
	select {
	case <-p.ended:
		return true
	case <-time.After(limit):
		return false
	}
}

// end interrupts the program, and kills it if it does not end in time.
func (p *program) end(limit time.Duration) bool {
	p.signal(syscall.SIGINT)
	good := p.within(limit)
	if !good {
		p.kill()
	}
	return good
}

func (p *program) kill() {
	p.killed = true
	p.signal(syscall.SIGKILL)
	<-p.ended
}

func (p *program) status() int { return p.command.ProcessState.ExitCode() }

var lastPort atomic.Int64

// port returns a port of the loopback that nothing uses, below those of outgoing connections.
func port() int {
	for {
		n := 20000 + int((lastPort.Add(1)+int64(os.Getpid())*97)%12000)
		if l, err := net.Listen("tcp", address(n)); err == nil {
			l.Close()
			return n
		}
	}
}

func address(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

// A server is a server of NATS, one of a cluster perhaps, that can be started again.
type server struct {
	*program
	port  int
	start func() error
}

// await waits until something listens on the port of the server.
func (s *server) await() error {
	for range 1200 {
		c, err := net.DialTimeout("tcp", address(s.port), time.Second)
		if err == nil {
			c.Close()
			return nil
		}
		if s.over() {
			return fmt.Errorf("%s has ended", s.name)
		}
		time.Sleep(50 * time.Millisecond)
	}
	return errors.New("the server does not listen")
}

// The kinds of servers.
const (
	embedded = "fleet-serve"
	separate = "nats-server"
	cluster  = "cluster-of-3"
)

// servers starts the servers of a fleet.
func (p *proof) servers(folder, kind string) (all []*server, err error) {
	if kind == cluster {
		return p.cluster(folder)
	}
	s := &server{port: port()}
	s.start = func() (err error) {
		store := filepath.Join(folder, "store")
		if kind == embedded {
			s.program, err = launch(folder, "server", p.ndtune, nil, "fleet", "serve", "--listen", address(s.port), "--store", store)
		} else {
			s.program, err = launch(folder, "server", p.nats, nil, "-a", "127.0.0.1", "-p", fmt.Sprint(s.port), "-js", "-sd", store)
		}
		if err != nil {
			return err
		}
		return s.await()
	}
	return []*server{s}, s.start()
}

func (p *proof) cluster(folder string) (all []*server, err error) {
	var routes []string
	var ports []int
	for range 3 {
		n := port()
		ports = append(ports, n)
		routes = append(routes, "nats://"+address(n))
	}
	for i := range 3 {
		s := &server{port: port()}
		name := fmt.Sprintf("server%d", i)
		s.start = func() (err error) {
			s.program, err = launch(folder, name, p.nats, nil, "-a", "127.0.0.1", "-p", fmt.Sprint(s.port), "-js", "-sd", filepath.Join(folder, name), "-n", name,
				"--cluster_name", "proof", "--cluster", "nats://"+address(ports[i]), "--routes", strings.Join(routes, ","))
			return err
		}
		if err := s.start(); err != nil {
			return all, err
		}
		all = append(all, s)
	}
	for _, s := range all {
		if err := s.await(); err != nil {
			return all, err
		}
	}
	return all, nil
}
