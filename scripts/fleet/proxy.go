//go:build linux

package main

import (
	"io"
	"net"
	"sync"
)

// A proxy forwards connections to a server, and can cut them.
type proxy struct {
	port     int
	to       string
	listener net.Listener

	mutex sync.Mutex
	cut   bool
	stuck chan struct{} // not nil: nothing is forwarded until it is closed
	all   map[net.Conn]bool
}

func newProxy(to string) (*proxy, error) {
	listener, err := net.Listen("tcp", address(0))
	if err != nil {
		return nil, err
	}
	p := &proxy{port: listener.Addr().(*net.TCPAddr).Port, to: to, listener: listener, all: map[net.Conn]bool{}}
	go func() {
		for {
			c, err := p.listener.Accept()
			if err != nil {
				return
			}
			go p.serve(c)
		}
	}()
	return p, nil
}

func (p *proxy) serve(c net.Conn) {
	defer c.Close()
	if !p.keep(c) {
		return
	}
	defer p.forget(c)
	s, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer s.Close()
	if !p.keep(s) {
		return
	}
	defer p.forget(s)
	done := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{c, s}, {s, c}} {
		go func() {
			_, _ = io.Copy(way[0], &holding{way[1], p})
			done <- struct{}{}
		}()
	}
	<-done
}

// keep registers a connection. While connections are cut, it refuses them.
func (p *proxy) keep(c net.Conn) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.cut {
		return false
	}
	p.all[c] = true
	return true
}

func (p *proxy) forget(c net.Conn) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	delete(p.all, c)
}

// refuse closes all connections and refuses new ones, until mend is called.
func (p *proxy) refuse() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.cut = true
	for c := range p.all {
		c.Close()
	}
}

// hold forwards nothing until mend is called, as if packets were lost.
func (p *proxy) hold() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.stuck = make(chan struct{})
}

func (p *proxy) mend() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.cut = false
	if p.stuck != nil {
		close(p.stuck)
		p.stuck = nil
	}
}

// holding reads from a connection unless the proxy holds.
type holding struct {
	net.Conn
	proxy *proxy
}

func (h *holding) Read(b []byte) (int, error) {
	n, err := h.Conn.Read(b)
	h.proxy.mutex.Lock()
	stuck := h.proxy.stuck
	h.proxy.mutex.Unlock()
	if stuck != nil {
		<-stuck
	}
	return n, err
}
