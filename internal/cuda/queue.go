package cuda

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
)

// A queue is a stream.
type queue struct {
	object
	*context
	profiling bool

	mu     sync.Mutex
	stream uintptr               // 0: it was not needed yet
	zero   uintptr               // the event from which times count
	unused []uintptr             // events
	last   atomic.Pointer[event] // of the last command
}

// createQueue makes a queue. It is in order, also where it need not be.
func createQueue(_ *task, a []uintptr) *queue {
	const profiling = 1 << 1
	q := &queue{context: of[context](a[0]), profiling: a[2]&profiling != 0}
	q.begin(&q.context.object, func(t *task) { // its commands still run
		if q.stream != 0 {
			defer q.enter(t)()
			for _, e := range append(q.unused, q.zero) {
				t.run(&q.cuEventDestroy_v2, e)
			}
			t.run(&q.cuStreamDestroy_v2, q.stream)
		}
	})
	return q
}

// An event is a command, with the events of CUDA before and behind it.
type event struct {
	object
	*queue
	before, behind uintptr // before is 0 in a queue without profiling
	from, to       int     // ns after the queue's zero; both 0: they are not known yet
}

// start returns the stream.
func (q *queue) start(t *task) uintptr {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.stream == 0 {
		defer q.enter(t)()
		const nonBlocking = 1 // it does not wait for the stream 0
		q.stream = get[uintptr](t, &q.cuStreamCreate, nonBlocking)
		q.zero = q.take(t)
		t.run(&q.cuEventRecord, q.zero, q.stream)
	}
	return q.stream
}

// take returns an event of CUDA; the queue is locked.
func (q *queue) take(t *task) (e uintptr) {
	if n := len(q.unused); n > 0 {
		e, q.unused = q.unused[n-1], q.unused[:n-1]
		return e
	}
	return get[uintptr](t, &q.cuEventCreate, 0)
}

// enqueue enqueues a call of a function after the commands of its wait list, and waits for it if it is blocking. The last arguments of
// OpenCL's function are the length and the address of the wait list, and the address for the event. Between the events of CUDA is the
// call alone: where the device has nothing else to do, the time between them has what the host does.
//
//go:uintptrescapes
func (q *queue) enqueue(t *task, a []uintptr, blocking bool, command *function, args ...uintptr) {
	waits, list, place := a[len(a)-3], a[len(a)-2], a[len(a)-1]
	e := &event{queue: q}
	e.begin(&q.object, func(*task) {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.unused = slices.DeleteFunc(append(q.unused, e.before, e.behind), func(e uintptr) bool { return e == 0 })
	})
	defer q.enter(t)()
	q.mu.Lock()
	for i := range waits {
		if other := of[event](*at[uintptr](list + 8*i)); other.queue != q {
			t.run(&q.cuStreamWaitEvent, q.stream, other.behind, 0)
		}
	}
	e.behind = q.take(t)
	if q.profiling {
		e.before = q.take(t)
		t.run(&q.cuEventRecord, e.before, q.stream)
	}
	t.run(command, args...)
	t.run(&q.cuEventRecord, e.behind, q.stream)
	q.last.Store(e)
	q.mu.Unlock()
	if blocking {
		e.wait(t)
	}
	if t.failed != nil {
		_ = e.leave()
		return
	}
	*at[uintptr](place) = handleOf(e)
}

// Transfers wait, whatever their flag says: the memory of the caller stays where it is only until then.

func enqueueWrite(t *task, a []uintptr) {
	q, b := of[queue](a[0]), of[buffer](a[1])
	q.enqueue(t, a, true, &q.cuMemcpyHtoDAsync_v2, b.at+a[3], a[5], a[4], q.start(t))
}

func enqueueRead(t *task, a []uintptr) {
	q, b := of[queue](a[0]), of[buffer](a[1])
	q.enqueue(t, a, true, &q.cuMemcpyDtoHAsync_v2, a[5], b.at+a[3], a[4], q.start(t))
}

func enqueueCopy(t *task, a []uintptr) {
	q, from, to := of[queue](a[0]), of[buffer](a[1]), of[buffer](a[2])
	q.enqueue(t, a, false, &q.cuMemcpyDtoDAsync_v2, to.at+a[4], from.at+a[3], a[5], q.start(t))
}

func finish(t *task, a []uintptr) {
	q := of[queue](a[0])
	q.mu.Lock()
	stream := q.stream
	q.mu.Unlock()
	if stream != 0 {
		defer q.enter(t)()
		q.await(t, stream)
	}
}

func waitForEvents(t *task, a []uintptr) {
	for i := range a[0] {
		of[event](*at[uintptr](a[1] + 8*i)).wait(t)
	}
}

// wait waits for the command. For the last one, it waits for the stream, which takes no core, as waiting for an event of CUDA does.
func (e *event) wait(t *task) {
	defer e.enter(t)()
	if e.last.Load() == e {
		e.await(t, e.stream)
	} else {
		t.run(&e.cuEventSynchronize, e.behind)
	}
}

// eventTimes answers with a time of a command; the host's are those of its start. The difference of end and start is exact. The times
// themselves count from the first use of the queue, with 24 bits.
func eventTimes(t *task, a []uintptr) []byte {
	const profilingEnd = 0x1283
	e := of[event](a[0])
	if e.before == 0 {
		t.fail(profilingNotAvailable, "the queue was created without profiling")
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.to == 0 {
		defer e.enter(t)()
		took := get[float32](t, &e.cuEventElapsedTime, e.before, e.behind) // in ms
		since := get[float32](t, &e.cuEventElapsedTime, e.zero, e.before)
		from := 1 + int(math.Round(float64(since)*1e6)) // 0 would say that the time is not known
		if t.failed == nil {
			e.from, e.to = from, from+int(math.Round(float64(took)*1e6))
		}
	}
	if a[1] == profilingEnd {
		return numbers(e.to)
	}
	return numbers(e.from)
}
