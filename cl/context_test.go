package cl_test

import (
	"errors"
	"testing"

	"github.com/ndtune/ndtune/cl"
)

func TestContext(t *testing.T) {
	r := newRig(t)
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

// One context of two devices: programs, binaries and queues of both.
func TestTwoDevices(t *testing.T) {
	first := testDevice(t)
	devices := must(first.Platform().Devices(cl.DeviceAll))(t)
	if len(devices) < 2 {
		t.Skipf("%s has one device; PoCL has two with POCL_DEVICES=\"pthread basic\"", first.Platform())
	}
	devices = []*cl.Device{devices[1], devices[0]} // not in the platform's order
	c := must(cl.NewContext(devices...))(t)
	defer c.Release()
	built := must(c.NewProgram("kernel void f(global int *out, int v) { *out = v; }"))(t)
	defer built.Release()
	if err := built.Build(""); err != nil {
		t.Fatal(err)
	}
	again := must(c.NewProgramFromBinaries(devices, must(built.Binaries())(t)))(t)
	defer again.Release()
	if err := again.Build(""); err != nil {
		t.Fatal(err)
	}
	for _, p := range []*cl.Program{built, again} {
		k := must(p.NewKernel("f"))(t)
		defer k.Release()
		for i, d := range devices {
			q := must(c.NewQueue(d, 0))(t)
			defer q.Release()
			out := must(c.NewBuffer(0, 4))(t)
			defer out.Release()
			r := &rig{t: t, device: d, context: c, queue: q}
			r.check(k.SetArgs(out, int32(i+3)))
			r.done(q.EnqueueKernel(k, nil, []int{1}, nil))
			if got := r.read(out)[0]; got != byte(i+3) {
				t.Errorf("%s: %d", d, got)
			}
		}
	}
	half := must(c.NewProgram("kernel void f(global int *out) { *out = 1; }"))(t)
	defer half.Release()
	if err := half.Build("", devices[1]); err != nil {
		t.Fatal(err)
	}
	binaries := must(half.Binaries())(t)
	if len(binaries) != 2 || len(binaries[0]) != 0 || len(binaries[1]) == 0 {
		t.Errorf("built for the second device only: %d and %d bytes", len(binaries[0]), len(binaries[1]))
	}
}
