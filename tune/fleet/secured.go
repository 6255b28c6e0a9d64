package fleet

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/ndtune/ndtune/internal/files"
)

// secrets are what a server of this program shows and wants beyond loopback: a certificate that it signed itself, and
// the passwords of its two users. Addresses for clients have the digest of the certificate, so that no authority is needed.
type secrets struct {
	Certificate []byte `json:"certificate"` // DER
	Key         []byte `json:"key"`         // PKCS #8
	Search      string `json:"search"`      // password of the user for searches
	Agent       string `json:"agent"`       // password of the user for agents
}

const (
	searchUser = "search"
	agentUser  = "agent"

	secretsFile = "secrets.json" // in the folder of a server
)

// secretsIn returns the secrets in the folder of a server, so that addresses stay valid; new ones if there are none.
func secretsIn(folder string) (*secrets, error) {
	path := filepath.Join(folder, secretsFile)
	data, err := files.ReadFile(path)
	switch {
	case err == nil:
		s := &secrets{}
		if err := json.Unmarshal(data, s); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		return s, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	s, err := newSecrets()
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	if data, err = json.Marshal(s); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	return s, files.WritePrivate(path, data)
}

func newSecrets() (*secrets, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "ndtune fleet"},
		NotBefore: now.Add(-24 * time.Hour), NotAfter: now.AddDate(10, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	s := &secrets{Search: rand.Text(), Agent: rand.Text()}
	if s.Certificate, err = x509.CreateCertificate(rand.Reader, template, template, key.Public(), key); err != nil {
		return nil, err
	}
	s.Key, err = x509.MarshalPKCS8PrivateKey(key)
	return s, err
}

// apply lets a server take encrypted connections of the two users only.
func (s *secrets) apply(o *server.Options) error {
	key, err := x509.ParsePKCS8PrivateKey(s.Key)
	if err != nil {
		return fmt.Errorf("the key of the server: %w", err)
	}
	certificate := tls.Certificate{Certificate: [][]byte{s.Certificate}, PrivateKey: key}
	o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{certificate}}
	o.TLSTimeout = connectLimit.Seconds()
	o.Users = []*server.User{
		{Username: searchUser, Password: s.Search, Permissions: searchPermissions()},
		{Username: agentUser, Password: s.Agent, Permissions: agentPermissions()},
	}
	return nil
}

// address returns the address of a server for one of its users.
func (s *secrets) address(of *url.URL, user, password string) string {
	u := url.URL{Scheme: "tls", User: url.UserPassword(user, password), Host: net.JoinHostPort(reachable(of.Hostname()), of.Port())}
	u.RawQuery = url.Values{certificateParameter: {digest(s.Certificate)}}.Encode()
	return u.String()
}

func digest(certificate []byte) string {
	sum := sha256.Sum256(certificate)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// reachable returns an address of this machine by which others reach a server that listens on all of them.
func reachable(host string) string {
	if a, err := netip.ParseAddr(host); err != nil || !a.IsUnspecified() {
		return host
	}
	all, _ := net.InterfaceAddrs()
	for _, n := range all {
		if p, err := netip.ParsePrefix(n.String()); err == nil && p.Addr().Is4() && p.Addr().IsGlobalUnicast() {
			return p.Addr().String()
		}
	}
	return "127.0.0.1"
}
