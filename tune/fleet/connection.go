package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Access is how a program proves itself to a server on another machine.
type Access struct {
	Credentials string // file of a NATS user, credentials or the seed of an nkey; "": none
	Authority   string // file with the certificate of the server's authority; "": those of the system
}

// A Connection is a connection to a fleet.
type Connection struct {
	nats     *nats.Conn
	js       jetstream.JetStream
	agents   jetstream.KeyValue
	searches jetstream.KeyValue
	problems jetstream.ObjectStore

	storing sync.Mutex   // of a problem: searches that begin at the same time send it once
	dropped atomic.Int64 // messages that could not be read
}

// connectLimit is how long the first connection may take.
const connectLimit = 10 * time.Second

// Connect connects to the server at an address, and makes the streams and buckets that it lacks. Name is of
// the program, for the server. Later interruptions are mended without an end.
func Connect(ctx context.Context, address, name string, a Access) (*Connection, error) {
	if err := checkURL(address, a); err != nil {
		return nil, err
	}
	options := []nats.Option{nats.Name(name), nats.MaxReconnects(-1), nats.ReconnectWait(250 * time.Millisecond), nats.Timeout(connectLimit)}
	if a.Credentials != "" {
		user, err := userOf(a.Credentials)
		if err != nil {
			return nil, fmt.Errorf("the credentials: %w", err)
		}
		options = append(options, user)
	}
	if a.Authority != "" {
		options = append(options, nats.RootCAs(a.Authority))
	}
	n, err := nats.Connect(address, append(options, certificateOption(address)...)...)
	if err != nil {
		return nil, fmt.Errorf("connect to the fleet at %s: %w", Redacted(address), err)
	}
	c := &Connection{nats: n}
	if err := c.prepareAllowed(ctx); err != nil {
		n.Close()
		return nil, fmt.Errorf("the server at %s: %w", Redacted(address), err)
	}
	return c, nil
}

// prepare makes what is missing in JetStream.
func (c *Connection) prepare(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
	if c.js, err = jetstream.New(c.nats); err != nil {
		return err
	}
	for _, s := range []jetstream.StreamConfig{
		{Name: workStream, Subjects: []string{workSubjects + "*"}, Retention: jetstream.WorkQueuePolicy, MaxAge: problemsAge, MaxMsgSize: maxMessage, MaxMsgs: maxWork, Discard: jetstream.DiscardNew},
		{Name: resultStream, Subjects: []string{resultSubjects + "*"}, MaxAge: resultsAge, MaxMsgSize: maxMessage, MaxMsgs: maxResults},
	} {
		if _, err = c.js.CreateStream(ctx, s); err != nil && !errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			return err
		}
	}
	bucket := func(name string) (jetstream.KeyValue, error) {
		kv, err := c.js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: name, TTL: expiry, MaxValueSize: maxMessage, MaxBytes: maxBucket})
		if errors.Is(err, jetstream.ErrBucketExists) {
			return c.js.KeyValue(ctx, name)
		}
		return kv, err
	}
	if c.agents, err = bucket(agentsBucket); err != nil {
		return err
	}
	if c.searches, err = bucket(searchesBucket); err != nil {
		return err
	}
	c.problems, err = c.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: problemsBucket, TTL: problemsAge})
	if errors.Is(err, jetstream.ErrBucketExists) {
		c.problems, err = c.js.ObjectStore(ctx, problemsBucket)
	}
	return err
}

// prepareAllowed is prepare, which ends as soon as the server says that the user has not the right to do something: the
// server answers such a request by nothing else.
func (c *Connection) prepareAllowed(ctx context.Context) error {
	ctx, refuse := context.WithCancelCause(ctx)
	defer refuse(nil)
	usual := c.nats.Opts.AsyncErrorCB
	c.nats.SetErrorHandler(func(n *nats.Conn, s *nats.Subscription, err error) {
		if errors.Is(err, nats.ErrPermissionViolation) {
			refuse(err)
			return
		}
		usual(n, s, err)
	})
	defer c.nats.SetErrorHandler(usual)
	err := c.prepare(ctx)
	if why := context.Cause(ctx); err != nil && errors.Is(why, nats.ErrPermissionViolation) {
		return why
	}
	return err
}

// userOf returns the option for a file with the credentials of a user, or with the seed of a user's key.
func userOf(path string) (nats.Option, error) {
	data, err := os.ReadFile(path)
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

// Close ends the connection.
func (c *Connection) Close() { c.nats.Close() }

// readAll reads the messages of a bucket. Those that cannot be read are left out.
func readAll[T versioned](ctx context.Context, kv jetstream.KeyValue) (all []T, err error) {
	lister, err := kv.ListKeys(ctx)
	if err != nil {
		return nil, err
	}
	for key := range lister.Keys() {
		entry, err := kv.Get(ctx, key)
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			continue // it has just expired
		}
		if err != nil {
			return nil, err
		}
		if m, err := decode[T](entry.Value()); err == nil {
			all = append(all, m)
		}
	}
	return all, ctx.Err()
}
