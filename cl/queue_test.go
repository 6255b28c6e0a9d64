package cl

import (
	"errors"
	"os"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
)

// refuseProfiling replaces the driver's function that makes queues by one that answers
// InvalidQueueProperties where profiling is wanted, as that of the Raspberry Pi's V3D does, or
// to all.
func refuseProfiling(t *testing.T, all bool) {
	t.Helper()
	real := openCL.clCreateCommandQueue.addr
	if real == 0 {
		t.Skip("the library has no clCreateCommandQueue")
	}
	openCL.clCreateCommandQueue.addr = purego.NewCallback(func(context, device, properties uintptr, status unsafe.Pointer) uintptr {
		if all || QueueProperties(properties)&Profiling != 0 {
			*(*Status)(status) = InvalidQueueProperties
			return 0
		}
		id, _, _ := purego.SyscallN(real, context, device, properties, uintptr(status))
		return id
	})
	t.Cleanup(func() { openCL.clCreateCommandQueue.addr = real })
}

func queueContext(t *testing.T) (*Device, *Context) {
	t.Helper()
	devices, err := Devices(DeviceAll)
	if err != nil {
		if os.Getenv("NDTUNE_REQUIRE_OPENCL") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	c, err := NewContext(devices[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Release)
	return devices[0], c
}

// A driver that refuses profiling gives a queue without it, whose events have no times.
func TestQueueOfADriverThatRefusesProfiling(t *testing.T) {
	_, c := queueContext(t)
	refuseProfiling(t, false)
	q, err := c.NewQueue(Profiling)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Release()
	if q.Profiling() {
		t.Error("the queue says that it has profiling")
	}
	b, err := c.NewBufferFrom(ReadWrite, []byte{1, 2, 3, 4})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Release()
	other, err := c.NewBuffer(ReadWrite, 4)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Release()
	e, err := q.EnqueueCopy(b, other, 0, 0, 4)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Release()
	if err := e.Wait(); err != nil {
		t.Fatal(err)
	}
	if p, err := e.Profile(); !errors.Is(err, ProfilingInfoNotAvailable) {
		t.Errorf("times of a queue without profiling: %+v, %v", p, err)
	}
}

// Where the driver refuses the queue without profiling too, its first answer counts.
func TestQueueOfADriverThatRefusesAll(t *testing.T) {
	_, c := queueContext(t)
	refuseProfiling(t, true)
	for _, properties := range []QueueProperties{Profiling, 0} {
		if q, err := c.NewQueue(properties); !errors.Is(err, InvalidQueueProperties) {
			q.Release()
			t.Errorf("%v: %v", properties, err)
		}
	}
}
