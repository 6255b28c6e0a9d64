package peak

import (
	"context"
	"fmt"
	"time"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune/hardware"
)

const (
	launchBatch   = 20 * time.Millisecond // a batch of launches takes at least
	mostLaunches  = 1 << 14
	launchBatches = 5
)

// launching measures the cost of a launch for the host: in a long queue, and with a wait for each.
func launching(ctx context.Context, m *Meter) (*hardware.Peaks, error) {
	k, err := m.build("launch.cl", "peak_launch")
	if err != nil {
		return nil, err
	}
	defer k.Release()
	queue, err := m.Context.NewQueue(m.Device, 0) // timestamps would cost time
	if err != nil {
		return nil, err
	}
	defer queue.Release()
	count, err := m.Context.NewBufferFrom(cl.ReadWrite, make([]byte, 4))
	if err != nil {
		return nil, err
	}
	defer count.Release()
	if err := k.SetArgs(count); err != nil {
		return nil, err
	}
	l := &oneItem{queue: queue, kernel: k}
	if _, err := l.run(1, true); err != nil { // builds, with some drivers
		return nil, err
	}
	queued, err := l.cost(ctx, false)
	if err != nil {
		return nil, err
	}
	waited, err := l.cost(ctx, true)
	if err != nil {
		return nil, err
	}
	var found [1]uint32
	if err := queue.Read(count, 0, cl.Bytes(found[:])); err != nil {
		return nil, err
	}
	if int(found[0]) != l.launches {
		return nil, fmt.Errorf("the result is wrong: of %d launches %d were run", l.launches, found[0])
	}
	return &hardware.Peaks{Figures: map[string]hardware.Peak{
		hardware.PeakLaunch:     figure(hardware.PeakLaunch, queued, ""),
		hardware.PeakLaunchWait: figure(hardware.PeakLaunchWait, waited, ""),
	}}, nil
}

// A oneItem launches one work-item repeatedly. It calls the driver directly, since it times the calls.
type oneItem struct {
	queue    *cl.Queue
	kernel   *cl.Kernel
	launches int
}

// run returns the time of n launches. It waits for each of them, or once for all.
func (l *oneItem) run(n int, waiting bool) (time.Duration, error) {
	l.launches += n
	began := time.Now()
	for range n {
		event, err := l.queue.EnqueueKernel(l.kernel, nil, []int{1}, []int{1})
		if err != nil {
			return 0, err
		}
		if waiting {
			err = event.Wait()
		}
		event.Release()
		if err != nil {
			return 0, err
		}
	}
	if !waiting {
		if err := l.queue.Finish(); err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}

// cost returns the least average time of a launch in a batch, in microseconds.
func (l *oneItem) cost(ctx context.Context, waiting bool) (float64, error) {
	n, least := 16, 0.0
	for batches := 0; batches < launchBatches; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		t, err := l.run(n, waiting)
		if err != nil {
			return 0, err
		}
		if t < launchBatch && n < mostLaunches {
			n *= 2
			continue
		}
		batches++
		if each := float64(t.Nanoseconds()) / 1e3 / float64(n); least == 0 || each < least {
			least = each
		}
	}
	return least, nil
}
