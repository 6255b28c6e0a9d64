package fleet

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// A Server is a NATS server in this process.
type Server struct {
	server  *server.Server
	folder  string   // to remove; "": it stays
	secrets *secrets // nil: none are needed
}

// startLimit is how long a server may take until it is ready. It takes some 30 ms.
const startLimit = time.Minute

// Listen starts a server with JetStream. The address is HOST:PORT; port 0 is any free one, and no host is this machine
// alone. Beyond loopback, the server wants encryption and the passwords that are in its addresses. The folder keeps the
// streams and the passwords; without one, a temporary folder is used and removed by Close.
func Listen(address, folder string) (*Server, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("the address %s is not HOST:PORT: %w", address, err)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("the port %q is no number from 0 to 65535", port)
	}
	host = cmp.Or(host, "127.0.0.1")
	return listenAt(host, int(number), folder, !isLoopback(host))
}

func listenAt(host string, port int, folder string, secured bool) (*Server, error) {
	free, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port))) // the server would not say why it cannot
	if err != nil {
		return nil, err
	}
	free.Close()
	if port == 0 {
		port = server.RANDOM_PORT
	}
	s := &Server{}
	if folder == "" {
		if folder, err = os.MkdirTemp("", "ndtune-fleet-"); err != nil {
			return nil, err
		}
		s.folder = folder
	}
	o := &server.Options{
		ServerName: "ndtune", Host: host, Port: port, JetStream: true, StoreDir: folder,
		NoLog: true, NoSigs: true, MaxPayload: 2 * maxMessage,
	}
	if secured {
		if s.secrets, err = secretsIn(folder); err == nil {
			err = s.secrets.apply(o)
		}
		if err != nil {
			s.removeFolder()
			return nil, err
		}
	}
	if s.server, err = server.NewServer(o); err != nil {
		s.removeFolder()
		return nil, err
	}
	s.server.Start()
	if !s.server.ReadyForConnections(startLimit) || !s.server.JetStreamEnabled() {
		s.Close()
		return nil, fmt.Errorf("the server did not start with its store in %s: is the folder not writable?", folder)
	}
	return s, nil
}

// URL returns the address for searches. Beyond loopback, it has a password.
func (s *Server) URL() string { return s.address(searchUser) }

// AgentURL returns the address for agents. Beyond loopback, it has a password, which lets nobody begin a search.
func (s *Server) AgentURL() string { return s.address(agentUser) }

// Secured reports whether the server wants encryption and passwords.
func (s *Server) Secured() bool { return s.secrets != nil }

func (s *Server) address(user string) string {
	plain := s.server.ClientURL()
	u, err := url.Parse(plain)
	switch {
	case err != nil || s.secrets == nil:
		return plain
	case user == agentUser:
		return s.secrets.address(u, user, s.secrets.Agent)
	}
	return s.secrets.address(u, user, s.secrets.Search)
}

// Wait waits until the context ends, and returns nil, or until the server can no longer store anything, as on a full disk.
// Such a server refuses all messages; a new one with the same folder goes on with those that were stored.
func (s *Server) Wait(ctx context.Context) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for s.server.JetStreamEnabled() {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
	return fmt.Errorf("the server can store nothing more in %s: is the disk full? "+
		"Make room and start it again with the same --store; agents and searches wait for it", s.server.StoreDir())
}

// Close ends the server.
func (s *Server) Close() {
	s.server.Shutdown()
	s.server.WaitForShutdown()
	s.removeFolder()
}

func (s *Server) removeFolder() {
	if s.folder != "" {
		os.RemoveAll(s.folder)
	}
}
