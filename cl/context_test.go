package cl_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/ndtune/ndtune/cl"
)

func TestContext(t *testing.T) {
	r := newRig(t)
	if !slices.Equal(r.context.Devices(), []*cl.Device{r.device}) || r.queue.Device() != r.device || r.queue.Context() != r.context {
		t.Error("a context or queue does not know its device")
	}
	if _, err := cl.NewContext(); !errors.Is(err, cl.InvalidValue) {
		t.Errorf("no device: %v", err)
	}
	if _, err := cl.NewContext(nil); !errors.Is(err, cl.InvalidDevice) {
		t.Errorf("nil device: %v", err)
	}
	if _, err := r.context.NewQueue(nil, 0); !errors.Is(err, cl.InvalidDevice) {
		t.Errorf("queue for no device: %v", err)
	}
	for _, d := range must(cl.Devices(cl.DeviceAll))(t) {
		if d.Platform() != r.device.Platform() {
			if _, err := cl.NewContext(r.device, d); !errors.Is(err, cl.InvalidDevice) {
				t.Errorf("devices of two platforms: %v", err)
			}
		}
	}
}

// The children of a context live on when it is released first.
func TestContextReleasedFirst(t *testing.T) {
	r := newRig(t)
	c := must(cl.NewContext(r.device))(t)
	q := must(c.NewQueue(r.device, 0))(t)
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
