package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A Connection is a connection to a fleet.
type Connection struct {
	nats     *nats.Conn
	js       jetstream.JetStream
	agents   jetstream.KeyValue
	searches jetstream.KeyValue
	problems jetstream.ObjectStore

	storing sync.Mutex   // of a problem: searches that begin at the same time send it once
	dropped atomic.Int64 // messages that could not be read

	mutex sync.Mutex
	again chan struct{} // closed after the next reconnection
}

// The limits of the first connection: of finding the server, and of making what it lacks. A cluster that has just
// started answers only after it has chosen a leader.
const (
	connectLimit = 10 * time.Second
	prepareLimit = 30 * time.Second
	requestLimit = 3 * time.Second
)

// reconnectDelay returns the time before the next try of all servers, after a number of tries.
func reconnectDelay(tries int) time.Duration {
	return min(time.Duration(max(tries, 1))*250*time.Millisecond, 2*time.Second)
}

// replicas is the number of servers of a cluster that keep each stream, so that one of them may fail.
const replicas = 3

// Connect connects to the server at an address, or to the first that answers of several with commas, and makes the
// streams and buckets that it lacks. An address is tls://HOST:PORT, or nats://HOST:PORT on this machine. Its parameters
// ?authority=FILE&credentials=FILE name the certificate of the server's authority and the file of a NATS user.
//
// Name is of the program, for the server. Note gets sentences for the user, about a connection that is lost and back; nil:
// they are dropped. Later interruptions are mended without an end.
func Connect(ctx context.Context, address, name string, note func(text string)) (*Connection, error) {
	a, err := parseAddresses(address)
	if err != nil {
		return nil, err
	}
	own, err := a.options()
	if err != nil {
		return nil, err
	}
	if note == nil {
		note = func(string) {}
	}
	c := &Connection{again: make(chan struct{})}
	opening, refuse := context.WithCancelCause(ctx)
	defer refuse(nil)
	options := append(own,
		nats.Name(name), nats.MaxReconnects(-1), nats.CustomReconnectDelay(reconnectDelay), nats.Timeout(connectLimit),
		nats.DisconnectErrHandler(func(n *nats.Conn, _ error) {
			if !n.IsClosed() {
				note("The connection to the fleet is lost; trying again.")
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) {
			note("The connection to the fleet is back.")
			go c.reconnected()
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			switch {
			case errors.Is(err, nats.ErrConsumerNotActive): // the subscription begins anew by itself
			case errors.Is(err, nats.ErrPermissionViolation) && opening.Err() == nil:
				refuse(err) // the server answers such a request by nothing else
			default:
				note(fmt.Sprintf("The connection to the fleet: %v.", advised(err)))
			}
		}),
	)
	n, err := nats.Connect(strings.Join(a.servers, ","), options...)
	if err != nil {
		return nil, fmt.Errorf("connect to the fleet at %s: %w", strings.Join(a.shown, ","), advised(err))
	}
	c.nats = n
	if err = c.prepare(opening); err != nil {
		if why := context.Cause(opening); why != nil {
			err = why
		}
		n.Close()
		return nil, fmt.Errorf("the server at %s: %w", strings.Join(a.shown, ","), advised(err))
	}
	return c, nil
}

// prepare opens what the server has for fleets.
func (c *Connection) prepare(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, prepareLimit)
	defer cancel()
	if c.js, err = jetstream.New(c.nats, jetstream.WithDefaultTimeout(requestLimit)); err != nil {
		return err
	}
	return persist(ctx, passes, func() error { return c.open(ctx) })
}

// persist calls a function until it succeeds, fails with an error that does not pass, or the context ends.
func persist(ctx context.Context, passes func(error) bool, f func() error) error {
	for {
		err := f()
		if err == nil || !passes(err) || pause(ctx, shortWait) != nil {
			return err
		}
	}
}

// pause waits for a time, or until the context ends, whose error it returns then.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// open opens the streams and buckets, and makes those that are missing. A request that a cluster without a leader drops is no reason to wait
// long.
func (c *Connection) open(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	if _, err := c.js.AccountInfo(ctx); err != nil {
		return err
	}
	copies := 1
	if c.nats.ConnectedClusterName() != "" {
		copies = replicas
	}
	for _, s := range []jetstream.StreamConfig{
		{
			Name: workStream, Subjects: []string{workSubjects + "*"}, Retention: jetstream.WorkQueuePolicy, MaxAge: problemsAge,
			MaxMsgs: maxWork, Discard: jetstream.DiscardNew, Replicas: copies,
		},
		{Name: resultStream, Subjects: []string{resultSubjects + "*"}, MaxAge: resultsAge, MaxMsgs: maxResults, Replicas: copies},
	} {
		_, err := c.js.Stream(ctx, s.Name)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			_, err = c.js.CreateStream(ctx, s)
		}
		if err != nil {
			return fmt.Errorf("make the stream %s: %w", s.Name, err)
		}
	}
	for name, to := range map[string]*jetstream.KeyValue{agentsBucket: &c.agents, searchesBucket: &c.searches} {
		bucket, err := c.js.KeyValue(ctx, name)
		if errors.Is(err, jetstream.ErrBucketNotFound) {
			bucket, err = c.js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: name, TTL: expiry, MaxBytes: maxBucket, Replicas: copies})
		}
		if *to = bucket; err != nil {
			return fmt.Errorf("make the bucket %s: %w", name, err)
		}
	}
	bucket, err := c.js.ObjectStore(ctx, problemsBucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		bucket, err = c.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: problemsBucket, TTL: problemsAge, Replicas: copies})
	}
	if c.problems = bucket; err != nil {
		return fmt.Errorf("make the bucket %s: %w", problemsBucket, err)
	}
	return nil
}

// The codes of errors of a cluster that has no leader, or not enough servers, for now.
const (
	codeUnavailable jetstream.ErrorCode = 10008
	codeNoPeers     jetstream.ErrorCode = 10005
)

// passes reports whether an error of JetStream may pass. A cluster finds a stream some time after it was made, and a server that still writes
// the state of a deleted queue fails to make one with the same name.
func passes(err error) bool {
	if api, is := errors.AsType[*jetstream.APIError](err); is {
		return slices.Contains([]jetstream.ErrorCode{codeUnavailable, codeNoPeers, jetstream.JSErrCodeConsumerCreate}, api.ErrorCode)
	}
	return slices.ContainsFunc([]error{
		nats.ErrTimeout, context.DeadlineExceeded, nats.ErrNoResponders,
		jetstream.ErrNoStreamResponse, jetstream.ErrBucketNotFound, jetstream.ErrStreamNotFound,
	}, func(passing error) bool { return errors.Is(err, passing) })
}

// reconnected makes what the server lacks, if its store was lost while it was away, and tells those who follow a bucket.
func (c *Connection) reconnected() {
	ctx, cancel := context.WithTimeout(context.Background(), prepareLimit)
	defer cancel()
	again := &Connection{nats: c.nats, js: c.js} // whose buckets are those of before, by their names
	for again.open(ctx) != nil && ctx.Err() == nil && c.nats.IsConnected() {
		time.Sleep(shortWait)
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	close(c.again)
	c.again = make(chan struct{})
}

// Close ends the connection.
func (c *Connection) Close() { c.nats.Close() }
