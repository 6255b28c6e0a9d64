package cl_test

import (
	"errors"
	"testing"

	"github.com/ndtune/ndtune/cl"
)

func TestContextOfNoDevice(t *testing.T) {
	if _, err := cl.NewContext(nil); !errors.Is(err, cl.InvalidDevice) {
		t.Errorf("nil device: %v", err)
	}
}

// The children of a context live on when it is released first.
func TestContextReleasedFirst(t *testing.T) {
	r := newRig(t)
	c := must(cl.NewContext(r.device))(t)
	q := must(c.NewQueue(0))(t)
	defer q.Release()
	b := must(c.NewBufferFrom(0, []byte{1, 2, 3, 4}))(t)
	defer b.Release()
	c.Release()
	got := make([]byte, 4)
	r.check(q.Read(b, 0, got))
	if got[3] != 4 {
		t.Errorf("%v", got)
	}
}
