package diffusion

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
)

// testSizes are fields that are a pain: without inner cells, with one, odd, long.
var testSizes = [][2]int{
	{1, 1}, {1, 9}, {9, 1}, {2, 2}, {2, 7}, {3, 3}, {3, 8}, {8, 3}, {4, 4}, {5, 5}, {17, 5}, {5, 17}, {64, 64}, {101, 37}, {257, 3},
}

func TestAdvanceFollowsTheModel(t *testing.T) {
	for _, size := range testSizes {
		for _, dt := range []float32{0.225, 0.25, 0.01} {
			for _, steps := range []int{0, 1, 2, 57, 200} {
				name := fmt.Sprintf("%d × %d, dt %v, %d steps", size[0], size[1], dt, steps)
				f := NewField(size[0], size[1], 11)
				m := modelOf(f)
				for range steps {
					m.step(float64(dt))
				}
				timing, err := Advance(context.Background(), f, steps, dt, 0)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if got := m.largestError(f); got > m.bound {
					t.Errorf("%s: off by %g, more than %g", name, got, m.bound)
				}
				if timing.Steps != steps || timing.Updates() != int64(steps*f.InnerCells()) {
					t.Errorf("%s: %+v", name, timing)
				}
			}
		}
	}
}

func TestThreadsDoNotChangeABit(t *testing.T) {
	for _, size := range testSizes {
		for _, steps := range []int{1, 2, 33, 64} {
			alone := randomField(size[0], size[1], -5, 1000, 3)
			others := map[int]*Field{2: alone.Clone(), 3: alone.Clone(), 7: alone.Clone(), 64: alone.Clone()}
			if _, err := advance(context.Background(), alone, steps, testDT, 1); err != nil {
				t.Fatal(err)
			}
			for threads, f := range others {
				if _, err := advance(context.Background(), f, steps, testDT, threads); err != nil {
					t.Fatal(err)
				}
				if i, same := sameBits(alone, f); !same {
					t.Errorf("%v, %d steps: cell %d is %v on one thread, %v on %d",
						size, steps, i, alone.Values[i], f.Values[i], threads)
				}
			}
		}
	}
}

// TestStepsAddUp: n steps and then m are n + m, for even and odd numbers of either.
func TestStepsAddUp(t *testing.T) {
	for _, parts := range [][]int{{10}, {5, 5}, {3, 7}, {0, 9, 1}, {1, 1, 1, 1, 6}} {
		whole, f := NewField(61, 43, 5), NewField(61, 43, 5)
		if _, err := Advance(context.Background(), whole, 10, testDT, 1); err != nil {
			t.Fatal(err)
		}
		for _, steps := range parts {
			if _, err := Advance(context.Background(), f, steps, testDT, 1); err != nil {
				t.Fatal(err)
			}
		}
		if i, same := sameBits(whole, f); !same {
			t.Errorf("%v: cell %d is %v, not %v", parts, i, f.Values[i], whole.Values[i])
		}
	}
}

// TestAPointSpreadsEvenly: left and right are the same to the last bit, since their sum comes
// first; the other symmetries of the square hold but for rounding.
func TestAPointSpreadsEvenly(t *testing.T) {
	const n, steps = 101, 500
	f := &Field{NX: n, NY: n, Values: make([]float32, n*n)}
	f.Values[n/2*n+n/2] = hotspot
	if _, err := Advance(context.Background(), f, steps, testDT, 0); err != nil {
		t.Fatal(err)
	}
	at := func(x, y int) float64 { return float64(f.Values[y*n+x]) }
	for y := range n {
		for x := range n {
			if at(x, y) != at(n-1-x, y) {
				t.Fatalf("(%d, %d) is %v, its mirror image %v", x, y, at(x, y), at(n-1-x, y))
			}
			for _, other := range []float64{at(x, n-1-y), at(y, x)} {
				if math.Abs(at(x, y)-other) > 1e-5 {
					t.Fatalf("(%d, %d) is %v, its image %v", x, y, at(x, y), other)
				}
			}
		}
	}
}

func TestMaximumPrinciple(t *testing.T) {
	for _, dt := range []float32{0.01, 0.125, 0.225, MaxTimeStep} {
		for seed := range uint64(5) {
			f := randomField(40, 33, -100, 1000, seed)
			low, high := f.span()
			const steps = 300
			if _, err := Advance(context.Background(), f, steps, dt, 0); err != nil {
				t.Fatal(err)
			}
			slack := steps * 8 * 0x1p-24 * max(math.Abs(low), math.Abs(high))
			if l, h := f.span(); !(l >= low-slack && h <= high+slack) {
				t.Errorf("dt %v: from [%v, %v] to [%v, %v]", dt, low, high, l, h)
			}
		}
	}
}

func TestUnstableStepsAreRefused(t *testing.T) {
	for _, dt := range []float32{0, -0.1, 0.2501, 1, float32(math.NaN()), float32(math.Inf(1))} {
		f := NewField(5, 5, 1)
		before := f.Clone()
		_, err := Advance(context.Background(), f, 1, dt, 1)
		if err == nil || !strings.Contains(err.Error(), "stable") {
			t.Errorf("dt %v: %v", dt, err)
		}
		if _, same := sameBits(before, f); !same {
			t.Errorf("dt %v: the field was changed", dt)
		}
	}
}

func TestWrongFieldsAreRefused(t *testing.T) {
	for _, f := range []*Field{{}, {NX: 2, NY: 2, Values: make([]float32, 3)}, {NX: -2, NY: -2, Values: make([]float32, 4)}} {
		if _, err := Advance(context.Background(), f, 1, testDT, 1); err == nil {
			t.Errorf("%d × %d cells with %d values were advanced", f.NX, f.NY, len(f.Values))
		}
	}
	if _, err := Advance(context.Background(), NewField(5, 5, 1), -1, testDT, 1); err == nil {
		t.Error("went back in time")
	}
}

// TestTheSumChangesByTheFlux holds the bound of the package's documentation: the sum changes by
// what flows through the edges, and by no more than rounding besides.
func TestTheSumChangesByTheFlux(t *testing.T) {
	for name, f := range map[string]*Field{
		"tutorial":      NewField(64, 48, 1),
		"tutorial, odd": NewField(101, 77, 9),
		"random":        randomField(50, 70, -20, 300, 4),
		"one cell":      randomField(3, 3, 0, 1000, 4),
		"no inner cell": randomField(2, 70, 0, 1000, 4),
		"a hot edge":    hotEdge(40, 40),
	} {
		t.Run(name, func(t *testing.T) {
			const steps = 1000
			before, dt := f.Sum(), float64(float32(testDT))
			through, atMost, total := 0.0, 0.0, absoluteSum(f)
			for range steps {
				flux := f.edgeFlux()
				through += dt * flux
				atMost += dt * math.Abs(flux)
				if _, err := Advance(context.Background(), f, 1, testDT, 1); err != nil {
					t.Fatal(err)
				}
				total = max(total, absoluteSum(f))
			}
			rounding := 8 * 0x1p-24 * steps * total
			change := f.Sum() - before
			if math.Abs(change-through) > rounding {
				t.Errorf("the sum changed by %v, %v flowed through the edges, rounding %v", change, through, rounding)
			}
			if math.Abs(change) > atMost+rounding {
				t.Errorf("the sum changed by %v, more than %v", change, atMost+rounding)
			}
			t.Logf("sum %.6g changed by %.6g; flux %.6g; off by %.3g of %.3g", before, change, through, change-through, rounding)
		})
	}
}

// TestHeatOnlyLeaves: with edges as cold as the coldest cell the sum falls, and by no more than
// the excess over them.
func TestHeatOnlyLeaves(t *testing.T) {
	f := NewField(48, 48, 1)
	for i := range f.Values {
		if x, y := i%48, i/48; x == 0 || y == 0 || x == 47 || y == 47 {
			f.Values[i] = background
		}
	}
	before := f.Sum()
	excess := before - background*float64(len(f.Values))
	for range 20 {
		if _, err := Advance(context.Background(), f, 100, testDT, 1); err != nil {
			t.Fatal(err)
		}
		rounding := 8 * 0x1p-24 * 100 * before
		after := f.Sum()
		if after > before+rounding {
			t.Fatalf("the sum grew from %v to %v", before, after)
		}
		before = after
	}
	if left := before - background*float64(len(f.Values)); left < -1e-2 || left > excess/2 {
		t.Errorf("of %v degrees above the edges, %v are left", excess, left)
	}
}

func hotEdge(nx, ny int) *Field {
	f := &Field{NX: nx, NY: ny, Values: make([]float32, nx*ny)}
	for x := range nx {
		f.Values[x] = hotspot
	}
	return f
}

func absoluteSum(f *Field) float64 {
	sum := 0.0
	for _, v := range f.Values {
		sum += math.Abs(float64(v))
	}
	return sum
}

// A countdown is a context that is cancelled when it has been asked so often whether it is.
type countdown struct {
	context.Context
	left atomic.Int64
}

func newCountdown(left int64) *countdown {
	c := &countdown{Context: context.Background()}
	c.left.Store(left)
	return c
}

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestCancelledAdvanceStopsBetweenSteps: the field is what it is after the steps that are
// reported, and no goroutine is left.
func TestCancelledAdvanceStopsBetweenSteps(t *testing.T) {
	goroutines := runtime.NumGoroutine()
	for _, threads := range []int{1, 2, 5} {
		f := NewField(200, 150, 2)
		start := f.Clone()
		const steps = 101
		timing, err := advance(newCountdown(steps), f, math.MaxInt, testDT, threads)
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("%d threads: %v", threads, err)
		}
		if timing.Steps != steps || timing.Wall <= 0 || timing.UpdatesPerSecond() <= 0 {
			t.Errorf("%d threads: %+v", threads, timing)
		}
		if _, err := Advance(context.Background(), start, timing.Steps, testDT, 1); err != nil {
			t.Fatal(err)
		}
		if i, same := sameBits(start, f); !same {
			t.Errorf("%d threads: cell %d is not that of step %d", threads, i, timing.Steps)
		}
	}
	for runtime.NumGoroutine() > goroutines { // those that have ended may take a moment to go
		runtime.Gosched()
	}
}

func TestAdvanceDoesNotBeginWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	f := NewField(300, 300, 2)
	before := f.Clone()
	timing, err := Advance(ctx, f, 10, testDT, 0)
	if !errors.Is(err, context.Canceled) || timing.Steps != 0 {
		t.Errorf("%+v, %v", timing, err)
	}
	if _, same := sameBits(before, f); !same {
		t.Error("the field was changed")
	}
}

func TestShareCoversEveryRowOnce(t *testing.T) {
	for n := -1; n < 40; n++ {
		for threads := 1; threads < 12; threads++ {
			next := 0
			for i := range threads {
				from, to := share(n, threads, i)
				if from != next || to < from {
					t.Fatalf("%d rows, %d threads: thread %d has %d to %d", n, threads, i, from, to)
				}
				next = to
			}
			if next != max(n, 0) {
				t.Fatalf("%d rows, %d threads: %d are shared", n, threads, next)
			}
		}
	}
}
