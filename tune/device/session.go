package device

import (
	"fmt"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
)

// A session is what a problem holds on a device: a context, one in-order queue with
// profiling, and a buffer for every buffer argument. A driver error may leave it unusable;
// then it is released and another is made.
type session struct {
	device   *cl.Device
	context  *cl.Context
	queue    *cl.Queue
	problem  *tune.Problem
	infos    []tune.ArgumentInfo
	buffers  []*buffer // by argument; nil where the argument is none, or not yet made
	timer    string
	once     bool   // buffers get their initial content only once: no copy of it is kept
	scratch  []byte // for outputs on the host
	verifier verifier
}

func newSession(d *cl.Device, p *tune.Problem) (*session, error) {
	context, err := cl.NewContext(d)
	if err != nil {
		return nil, err
	}
	queue, err := context.NewQueue(d, cl.Profiling)
	if err != nil {
		context.Release()
		return nil, err
	}
	infos := p.Arguments()
	return &session{
		device: d, context: context, queue: queue, problem: p, infos: infos,
		buffers: make([]*buffer, len(infos)), timer: tune.TimerEvent,
		verifier: verifier{least: verifyOnDevice},
	}, nil
}

func (s *session) releaseBuffers() {
	for i, b := range s.buffers {
		b.release()
		s.buffers[i] = nil
	}
}

func (s *session) release() {
	s.releaseBuffers()
	s.verifier.release()
	s.queue.Release()
	s.context.Release()
}

// alive runs something harmless through the queue.
func (s *session) alive() error {
	b, err := s.context.NewBuffer(cl.ReadWrite, 4)
	if err != nil {
		return err
	}
	defer b.Release()
	sent, back := []byte{1, 2, 3, 4}, make([]byte, 4)
	if err := s.queue.Write(b, 0, sent); err != nil {
		return err
	}
	if err := s.queue.Read(b, 0, back); err != nil {
		return err
	}
	if string(back) != string(sent) {
		return fmt.Errorf("wrote %v to the device and read %v back", sent, back)
	}
	return nil
}
