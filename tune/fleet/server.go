package fleet

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// A Server is a NATS server in this process.
type Server struct {
	server *server.Server
	folder string // to remove; "": it stays
}

// startLimit is how long a server may take until it is ready. It takes some 30 ms.
const startLimit = time.Minute

// Listen starts a server with JetStream. The address is HOST:PORT with a loopback host; port 0 is any free
// one. The folder keeps the streams; without one, a temporary folder is used and removed by Close.
func Listen(address, folder string) (*Server, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("the address %s is not HOST:PORT: %w", address, err)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("the port %q is no number from 0 to 65535", port)
	}
	if !isLoopback(host) {
		return nil, fmt.Errorf("the embedded server listens on this machine alone, and %s is another address: run a nats-server with JetStream, TLS and credentials for several machines (docs/fleet.md)", host)
	}
	free := int(number)
	if number == 0 {
		free = server.RANDOM_PORT
	}
	s := &Server{}
	if folder == "" {
		if folder, err = os.MkdirTemp("", "ndtune-fleet-"); err != nil {
			return nil, err
		}
		s.folder = folder
	}
	o := &server.Options{
		ServerName: "ndtune", Host: host, Port: free, JetStream: true, StoreDir: folder,
		NoLog: true, NoSigs: true, MaxPayload: 2 * maxMessage,
	}
	if s.server, err = server.NewServer(o); err != nil {
		s.removeFolder()
		return nil, err
	}
	s.server.Start()
	if !s.server.ReadyForConnections(startLimit) || !s.server.JetStreamEnabled() {
		s.Close()
		return nil, fmt.Errorf("the server did not start on %s with its store in %s: is the address in use, or the folder not writable?", address, folder)
	}
	return s, nil
}

// URL returns the address for agents and coordinators.
func (s *Server) URL() string { return s.server.ClientURL() }

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

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}

// checkURL refuses addresses of other machines without encryption and credentials.
func checkURL(address string, a Access) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls" {
		return fmt.Errorf("the address %q is not of the form nats://HOST:PORT or tls://HOST:PORT", address)
	}
	switch {
	case isLoopback(u.Hostname()):
		return nil
	case u.Scheme != "tls":
		return fmt.Errorf("%s is another machine: its address begins with tls://, so that nobody reads or changes what is sent", u.Host)
	case a.Credentials == "":
		return errors.New("another machine needs credentials: give the file of a NATS user")
	}
	return nil
}
