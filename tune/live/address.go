package live

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
)

// splitAddress is the host and the port of host:port; without a host, this machine alone.
func splitAddress(address string) (host, port string, err error) {
	host, port, err = net.SplitHostPort(address)
	if err == nil && host == "" {
		host = "127.0.0.1"
	}
	if n, bad := strconv.ParseUint(port, 10, 16); err == nil && (bad != nil || n > 65535) {
		err = errors.New("no port")
	}
	if err != nil {
		return "", "", fmt.Errorf("%q: want HOST:PORT, such as 127.0.0.1:8080; without HOST it is 127.0.0.1, and port 0 is one that is free", address)
	}
	return host, port, nil
}

// url is where a browser finds the page. Of a server that listens at all addresses, it is the
// first that others can reach.
func (g *guard) url(address *net.TCPAddr, host string) string {
	if address.IP.IsUnspecified() {
		host = reachable()
	}
	u := url.URL{Scheme: "http", Host: net.JoinHostPort(host, strconv.Itoa(address.Port)), Path: "/"}
	if g.token != "" {
		u.RawQuery = url.Values{tokenName: {g.token}}.Encode()
	}
	return u.String()
}

// reachable is an address of this machine for others, else its name.
func reachable() string {
	all, _ := net.InterfaceAddrs()
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
			return n.IP.String()
		}
	}
	if name, err := os.Hostname(); err == nil {
		return name
	}
	return "localhost"
}

// withoutAddress leaves out of an error of the network what stands in the message already.
func withoutAddress(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}
