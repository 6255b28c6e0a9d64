package fleet

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/ndtune/ndtune/internal/files"
)

// The parameters of an address.
const (
	authorityParameter   = "authority"   // file with the certificate of the server's authority; without it, those of the system count
	credentialsParameter = "credentials" // file of a NATS user: credentials, or the seed of an nkey
)

// An access says how a program reaches the servers of a fleet, and how they prove themselves to each other.
type access struct {
	servers     []string // their addresses, without parameters
	shown       []string // these without users and passwords
	authorities []string // files
	credentials string   // file; "": the addresses have passwords, or the servers are on this machine
}

// errForm has no text of the address: where that is wrong, any part of it may be a password, or the rest of one with a character in it that
// should have been escaped.
var errForm = errors.New("an address is not of the form nats://HOST:PORT or tls://HOST:PORT, with ?PARAMETER=VALUE after it " +
	"(it is not shown, since it may have a password, where all but letters and digits is written as %XX); the parameters are " +
	authorityParameter + " and " + credentialsParameter)

// parseAddresses reads the address of a server, or several with commas. It refuses addresses of other machines without
// encryption, or with nothing that proves who the user is. Its errors have no passwords.
func parseAddresses(addresses string) (*access, error) {
	a, anonymous := &access{}, false
	for address := range strings.SplitSeq(addresses, ",") {
		u, err := url.Parse(address)
		if err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls" || strings.Trim(u.Path, "/") != "" || u.Fragment != "" {
			return nil, errForm
		}
		if err := a.addParameters(u.RawQuery); err != nil {
			return nil, err
		}
		if !isLoopback(u.Hostname()) {
			if u.Scheme != "tls" {
				return nil, fmt.Errorf("%s is another machine: its address begins with tls://, so that nobody reads or changes what is sent", u.Hostname())
			}
			anonymous = anonymous || u.User == nil
		}
		u.RawQuery = ""
		a.servers = append(a.servers, strings.ReplaceAll(u.String(), ",", "%2C")) // a comma in a password would begin the next address
		a.shown = append(a.shown, u.Scheme+"://"+u.Host)
	}
	if anonymous && a.credentials == "" {
		return nil, errors.New("another machine needs credentials: name the file of a NATS user, tls://HOST:PORT?credentials=FILE")
	}
	return a, nil
}

// addParameters adds the parameters of an address.
func (a *access) addParameters(query string) error {
	parameters, err := url.ParseQuery(query)
	if err != nil {
		return errForm
	}
	for name, values := range parameters {
		switch name {
		case authorityParameter:
			a.authorities = append(a.authorities, values...)
		case credentialsParameter:
			if a.credentials != "" || len(values) > 1 {
				return errors.New("the credentials of a fleet are named twice")
			}
			a.credentials = values[0]
		default:
			return errForm
		}
	}
	return nil
}

// options returns what a connection needs beside the addresses.
func (a *access) options() ([]nats.Option, error) {
	var options []nats.Option
	if a.credentials != "" {
		user, err := userOf(a.credentials)
		if err != nil {
			return nil, fmt.Errorf("the credentials: %w", err)
		}
		options = append(options, user)
	}
	if len(a.authorities) > 0 {
		for _, path := range a.authorities {
			if _, err := files.ReadFile(path); err != nil {
				return nil, fmt.Errorf("the certificate of the authority: %w", err)
			}
		}
		options = append(options, nats.RootCAs(a.authorities...))
	}
	return options, nil
}

// userOf returns the option for a file with the credentials of a user, or with the seed of a user's key.
func userOf(path string) (nats.Option, error) {
	data, err := files.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if bytes.Contains(data, []byte("BEGIN NATS USER JWT")) {
		return nats.UserCredentials(path), nil
	}
	option, err := nats.NkeyOptionFromSeed(path)
	if err != nil {
		return nil, fmt.Errorf("%s is neither a credentials file nor the seed of a NATS user: %w", path, err)
	}
	return option, nil
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}
