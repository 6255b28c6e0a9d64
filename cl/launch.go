package cl

import (
	"fmt"
	"unsafe"
)

// launch holds the sizes of an NDRange where the driver can read them. They lie in the
// kernel, so that a launch allocates nothing but its event.
type launch struct {
	offset, global, local [3]uintptr
}

// EnqueueKernel launches the kernel over an NDRange of 1 to 3 dimensions, as many as global
// has. A nil offset is zero; a nil local leaves the size of the work-groups to the driver.
// The arguments are those set when the call is made.
func (q *Queue) EnqueueKernel(k *Kernel, offset, global, local []int, wait ...*Event) (*Event, error) {
	f := clEnqueueNDRangeKernel
	if err := k.use(f); err != nil {
		return nil, err
	}
	defer k.leave()
	c, err := q.begin(f, wait)
	if err != nil {
		return nil, about(err, k.name)
	}
	defer c.end()
	k.mu.Lock()
	defer k.mu.Unlock()
	held, err := k.holdArguments(f)
	defer held.leave()
	if err != nil {
		return nil, err
	}
	if err := k.launch.set(f, offset, global, local); err != nil {
		return nil, about(err, k.name)
	}
	e, err := c.event(f.run(q.id, k.id, uintptr(len(global)),
		uintptr(optional(&k.launch.offset, offset)),
		uintptr(unsafe.Pointer(&k.launch.global)),
		uintptr(optional(&k.launch.local, local)),
		c.waitCount(), uintptr(c.waitList()), uintptr(c.slot())))
	if err != nil {
		return nil, about(err, fmt.Sprintf("%s, global size %v, local size %v", k.name, global, local))
	}
	return e, nil
}

func (l *launch) set(f *function, offset, global, local []int) error {
	if n := len(global); n < 1 || n > 3 {
		return refuse(f.name, InvalidWorkDimension, fmt.Sprintf("%d dimensions", n))
	}
	for _, r := range []struct {
		name   string
		from   []int
		to     *[3]uintptr
		least  int
		status Status
	}{
		{"offset", offset, &l.offset, 0, InvalidGlobalOffset},
		{"global size", global, &l.global, 0, InvalidGlobalWorkSize},
		{"local size", local, &l.local, 1, InvalidWorkGroupSize},
	} {
		if len(r.from) != 0 && len(r.from) != len(global) {
			return refuse(f.name, r.status, fmt.Sprintf("the %s has %d dimensions, the global size %d", r.name, len(r.from), len(global)))
		}
		for i, n := range r.from {
			if n < r.least {
				return refuse(f.name, r.status, fmt.Sprintf("%s %v", r.name, r.from))
			}
			r.to[i] = uintptr(n)
		}
	}
	return nil
}

// optional is NULL where nothing was given.
func optional(sizes *[3]uintptr, given []int) unsafe.Pointer {
	if len(given) == 0 {
		return nil
	}
	return unsafe.Pointer(sizes)
}
