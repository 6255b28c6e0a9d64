//go:build linux

package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ndtune/ndtune/scripts/harness"
)

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
	*harness.Program
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
		if s.Over() {
			return fmt.Errorf("%s has ended", s.Name)
		}
		time.Sleep(50 * time.Millisecond)
	}
	return errors.New("the server does not listen")
}

// The kinds of servers.
const (
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
		if s.Program, err = harness.Launch(folder, "server", nil, p.nats, "-a", "127.0.0.1", "-p", fmt.Sprint(s.port), "-js", "-sd", store); err != nil {
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
			s.Program, err = harness.Launch(folder, name, nil, p.nats, "-a", "127.0.0.1", "-p", fmt.Sprint(s.port), "-js", "-sd", filepath.Join(folder, name), "-n", name,
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
