package worker

import (
	"io"
	"slices"
	"sync"
	"time"

	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/process"
	"github.com/ndtune/ndtune/tune/source"
)

// A Reserve keeps idle workers between the pools of a program, with the driver loaded and a context on the device, so
// that the next pool need not start them. Its pools are open one at a time. Close it after the last of them.
//
// A worker in the reserve holds no buffers. A worker in which a launch failed or an output was wrong is not kept, since
// the kernel may have damaged the process.
type Reserve struct {
	host *host

	mutex    sync.Mutex
	spares   []spare
	ending   *time.Timer // of all spares; nil: there was none yet
	settling *time.Timer // of all but one; nil: they stay
}

// A spare is a worker in a reserve.
type spare struct {
	child    *child
	builds   bool
	ends     bool            // by itself, as those of a CPU do
	language source.Language // whose drivers it has loaded
	selector string          // "": it has no device yet, and can become a worker of any kind for one of the language
}

// reserveTime is how long workers wait for the next pool.
const reserveTime = 10 * time.Minute

// NewReserve returns an empty reserve. Output gets the lines that its workers print, as in [Options].
func NewReserve(output io.Writer) *Reserve { return &Reserve{host: newHost(output)} }

// Prepare starts a worker before its device is known, so that it loads the drivers while the program chooses one: those of devices that
// probably are wanted, by the language of their kernels. It does nothing if there is a worker that evaluates on such a device.
func (r *Reserve) Prepare(language source.Language) error {
	if !hasRun {
		return errNoMain
	}
	if r.find(func(s *spare) bool { return !s.builds && s.language == language }, func(*spare) {}) {
		return nil
	}
	c, err := r.host.Start()
	if err == nil {
		c.Requests <- request{Hello: &hello{Load: language}}
		r.add(spare{child: c, language: language})
	}
	return err
}

// Warm lets the worker of [Reserve.Prepare] open a device and check its timer, if no pool has it yet. A pool for the device gets it then.
func (r *Reserve) Warm(d device.Listed) {
	language := device.LanguageOf(*d.Identity)
	r.find(func(s *spare) bool { return s.selector == "" && s.language == language }, func(s *spare) {
		s.selector = d.Selector()
		s.child.Requests <- request{Hello: &hello{Warm: true, Selector: s.selector, Device: *d.Identity, Visible: d.Visible()}}
	})
}

// find hands the first worker of which something is true to a function, and reports whether there is one.
func (r *Reserve) find(is func(*spare) bool, then func(*spare)) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for i := range r.spares {
		if s := &r.spares[i]; s.child.Alive() && is(s) {
			then(s)
			return true
		}
	}
	return false
}

// closeTime is how long workers of a CPU may take to end by themselves.
const closeTime = 500 * time.Millisecond

// Close ends all workers in the reserve. It does nothing on nil.
//
// On a CPU device workers end by themselves. On other devices they are killed, and not waited for: the driver of a GPU takes a second to
// clear seventeen contexts away.
func (r *Reserve) Close() {
	if r == nil {
		return
	}
	r.host.Close()
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, s := range r.spares {
		close(s.child.Requests)
		if !s.ends {
			s.child.Kill()
		}
	}
	limit := time.Now().Add(closeTime)
	for _, s := range r.spares {
		if s.ends && !s.child.AwaitEnd(limit) {
			s.child.Kill()
			s.child.AwaitEnd(limit.Add(process.StopTime)) // the kernel of the operating system may still be at work on it
		}
	}
	r.spares = nil
}

// settleTime is how long the workers of one pool wait for the next one, if there may be none.
const settleTime = 5 * time.Second

// Settle says that there may be no pool for long: after some seconds one worker that evaluates is left. A context holds hundreds of
// megabytes of a GPU's memory.
func (r *Reserve) Settle() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.settling != nil {
		r.settling.Stop()
	}
	r.settling = time.AfterFunc(settleTime, func() { r.trim(0, 1) })
}

// put takes a worker that has nothing to do.
func (r *Reserve) put(s spare) {
	s.child.Requests <- request{Release: true}
	r.add(s)
}

func (r *Reserve) add(s spare) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.spares = append(r.spares, s)
	if r.ending == nil {
		r.ending = time.AfterFunc(reserveTime, func() { r.trim(0, 0) })
	} else {
		r.ending.Reset(reserveTime)
	}
}

// take returns a worker of one kind for a device, which waits for its hello, or nil.
func (r *Reserve) take(builds bool, selector string) *child {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.spares = slices.DeleteFunc(r.spares, func(s spare) bool {
		dead := !s.child.Alive()
		if dead {
			close(s.child.Requests)
		}
		return dead
	})
	i := slices.IndexFunc(r.spares, func(s spare) bool { return s.builds == builds && s.selector == selector })
	if i < 0 {
		i = slices.IndexFunc(r.spares, func(s spare) bool {
			return s.selector == "" && (s.language == source.CUDA) == device.NamesCUDA(selector)
		})
	}
	if i < 0 {
		return nil
	}
	c := r.spares[i].child
	r.spares = slices.Delete(r.spares, i, i+1)
	return c
}

// trim ends workers until no more than some numbers of each kind are left, those that came last.
func (r *Reserve) trim(builders, others int) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	slices.Reverse(r.spares)
	defer func() { slices.Reverse(r.spares) }()
	r.spares = slices.DeleteFunc(r.spares, func(s spare) bool {
		left := &others
		if s.builds {
			left = &builders
		}
		if *left--; *left >= 0 {
			return false
		}
		s.child.Kill()
		close(s.child.Requests)
		return true
	})
}
