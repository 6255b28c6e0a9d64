package diffusion

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// leastCells is how many cells a thread must have in a step to be worth its wait at the
// barrier: some microseconds of work.
const leastCells = 1 << 13

// Advance takes a field the given number of steps of length dt forward on the CPU, in place.
// Threads bounds the number of threads, and 0 stands for all cores; a small field is worth
// fewer. The result is the same to the last bit, however many there are.
//
// When ctx is cancelled, it stops after the step under way: the field is then what it is after
// Timing.Steps steps, and the error is that of the context.
func Advance(ctx context.Context, f *Field, steps int, dt float32, threads int) (Timing, error) {
	if err := checkAdvance(f, steps); err != nil {
		return Timing{}, err
	}
	if err := checkTimeStep(dt); err != nil {
		return Timing{}, fmt.Errorf("advance a field on the CPU: %w", err)
	}
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	return advance(ctx, f, steps, dt, min(threads, f.InnerCells()/leastCells))
}

func checkAdvance(f *Field, steps int) error {
	if err := f.check(); err != nil {
		return fmt.Errorf("advance: %w", err)
	}
	if steps < 0 {
		return fmt.Errorf("advance by %d steps: the equation has no way back", steps)
	}
	return nil
}

// advance is Advance on exactly so many threads, as far as there are rows for them.
func advance(ctx context.Context, f *Field, steps int, dt float32, threads int) (Timing, error) {
	began := time.Now()
	threads = max(min(threads, f.NY-2), 1)
	other := f.Clone().Values // has the edges, which no step writes
	gate := newBarrier(threads, func(round int) bool { return round < steps && ctx.Err() == nil })

	work := func(thread int) {
		from, to := share(f.NY-2, threads, thread)
		u, uNew := f.Values, other
		for gate.pass() {
			stepRows(uNew, u, f.NX, 1+from, 1+to, dt)
			u, uNew = uNew, u
		}
	}
	var others sync.WaitGroup
	for thread := 1; thread < threads; thread++ {
		others.Go(func() { work(thread) })
	}
	work(0)
	others.Wait()

	done := gate.rounds()
	if done%2 == 1 {
		copy(f.Values, other)
	}
	t := Timing{Steps: done, Cells: f.InnerCells(), Wall: time.Since(began)}
	if done < steps {
		return t, fmt.Errorf("advance a field on the CPU, %d of %d steps done: %w", done, steps, ctx.Err())
	}
	return t, nil
}

// share is the part of n rows that one of the threads computes.
func share(n, threads, thread int) (from, to int) {
	n = max(n, 0)
	return n * thread / threads, n * (thread + 1) / threads
}
