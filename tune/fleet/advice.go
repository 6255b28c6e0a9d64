package fleet

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// advice says which line of the server's configuration, or which parameter of the address, an error asks for.
var advice = []struct {
	is   func(error) bool
	text string
}{
	{is(jetstream.ErrJetStreamNotEnabled), "start it as nats-server -js, or with «jetstream: enabled» in its configuration"},
	{is(context.DeadlineExceeded), "it does not answer: start it with «jetstream: enabled» in its configuration, and most of the servers of a cluster"},
	{is(jetstream.ErrJetStreamNotEnabledForAccount), "the account of this user needs «jetstream: enabled» in the server's configuration"},
	{is(nats.ErrAuthorization), "the address names the file of a user, ?credentials=FILE, and users of the server's configuration has its public key"},
	{is(nats.ErrMaxPayload), "the server's configuration needs a larger max_payload"},
	{is(nats.ErrNoServers), "start one there, such as nats-server -js -a 127.0.0.1 (docs/fleet.md)"},
	{isA[x509.UnknownAuthorityError], "the address names the certificate of the server's authority, ?authority=FILE"},
	{isA[x509.HostnameError], "the certificate, cert_file of the server's configuration, must have the name or the address of its machine"},
	{hasCode(10026), "the account needs a larger max_consumers in the server's configuration"},
	{hasCode(10027), "the account needs a larger max_streams in the server's configuration"},
	{hasCode(10047), "the account needs a larger max_file in the server's configuration, the server a larger max_file_store, or its disk more room"},
}

func is(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

func isA[E error](err error) bool {
	_, is := errors.AsType[E](err)
	return is
}

func hasCode(code jetstream.ErrorCode) func(error) bool {
	return func(err error) bool {
		api, is := errors.AsType[*jetstream.APIError](err)
		return is && api.ErrorCode == code
	}
}

// violation has the right that a user lacks.
var violation = regexp.MustCompile(`(?i)permissions violation for (publish|subscri)\w* to ("[^"]*")`)

// advised adds the advice for an error of the server.
func advised(err error) error {
	if missing := violation.FindStringSubmatch(err.Error()); missing != nil {
		list := map[string]string{"publish": "publish", "subscri": "subscribe"}[strings.ToLower(missing[1])]
		return fmt.Errorf("%w: permissions of this user in the server's configuration need %s: [ %s ]", err, list, missing[2])
	}
	for _, a := range advice {
		if a.is(err) {
			return fmt.Errorf("%w: %s", err, a.text)
		}
	}
	return err
}

// fits returns an error if a message is too large for the server.
func (c *Connection) fits(what string, data []byte) error {
	const header = 1 << 10
	if most := c.nats.MaxPayload() - header; int64(len(data)) > most {
		return fmt.Errorf("%s has %d bytes, and the server takes %d: its configuration needs a larger max_payload", what, len(data), most)
	}
	return nil
}
