package fleet

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A follower keeps up with the messages of a bucket.
type follower[T versioned] struct {
	connection *Connection
	bucket     jetstream.KeyValue
	keyOf      func(T) string         // the key that a message must have
	each       func(key string, m *T) // is called with each message; with nil if it was deleted, or not renewed in time
	other      func(err error)        // is called with the error of a message of another version; nil: nothing is
	heard      map[string]time.Time   // by key, the last time
}

// run follows until the context ends: it tells of the messages that are there, and of each that is changed. It begins anew after a
// reconnection, since a server that comes back may have lost the watch or the bucket.
func (f *follower[T]) run(ctx context.Context) {
	f.heard = map[string]time.Time{}
	for ctx.Err() == nil {
		again := f.connection.reconnection()
		if w, err := f.bucket.WatchAll(ctx); err == nil {
			f.read(ctx, w, again)
		}
		f.expire()
		_ = pause(ctx, shortWait)
	}
}

// read reads the entries of a watcher until it ends or something else does.
func (f *follower[T]) read(ctx context.Context, w jetstream.KeyWatcher, again <-chan struct{}) {
	defer func() {
		_ = w.Stop()
		go func() {
			for range w.Updates() { // else it could wait for a reader and never stop
			}
		}()
	}()
	tick := time.NewTicker(renewal)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-again:
			return
		case <-tick.C:
			f.expire()
		case entry, ok := <-w.Updates():
			switch {
			case !ok:
				return
			case entry != nil: // else it is the end of those that were there
				f.hear(entry)
			}
		}
	}
}

// hear tells of an entry.
func (f *follower[T]) hear(entry jetstream.KeyValueEntry) {
	key := entry.Key()
	if entry.Operation() != jetstream.KeyValuePut {
		delete(f.heard, key)
		f.each(key, nil)
		return
	}
	m, err := decode[T](entry.Value())
	switch {
	case err == nil && f.keyOf(m) == key:
		f.heard[key] = time.Now()
		f.each(key, &m)
		return
	case errors.Is(err, errOther) && f.other != nil:
		f.other(err)
	}
	f.connection.dropped.Add(1)
}

// expire forgets the messages that were not renewed in time.
func (f *follower[T]) expire() {
	for key, at := range f.heard {
		if time.Since(at) > expiry {
			delete(f.heard, key)
			f.each(key, nil)
		}
	}
}

// reconnection returns a channel that is closed after the next reconnection.
func (c *Connection) reconnection() <-chan struct{} {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.again
}
