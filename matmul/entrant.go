package matmul

import (
	"errors"
	"fmt"
	"time"

	"github.com/ndtune/ndtune/tune/score"
)

// A Kind is a way to multiply.
type Kind string

// The kinds.
const (
	Loop     Kind = "loop"     // Multiply, on one thread
	OnDevice Kind = "device"   // a kernel in OpenCL C or CUDA C
	OpenBLAS Kind = "openblas" // on all cores
	CuBLAS   Kind = "cublas"   // on an NVIDIA card
)

// An Entrant is one of the implementations that are compared.
type Entrant struct {
	Name      string // of a kernel: that among Kernels, with «, CUDA C» behind it for the kernel in CUDA C
	Kind      Kind
	Precision Precision // Float of a loop and OpenBLAS

	Device string // of a kernel: as returned by device.Listed.Selector

	// Of a library: the files and folders to search first, and the card by its PCI address
	// (domain:bus:device.function), or "" for the first card.
	Libraries []string
	PCI       string

	Iterations int  // the least number of timed multiplications, unless they are very long
	Errors     bool // also measure the errors of results
}

// OnCPU reports whether the entrant runs on the CPU, without copies to a device.
func (e Entrant) OnCPU() bool { return e.Kind == Loop || e.Kind == OpenBLAS }

// Multiplications returns the least number of multiplications of a measurement, for a kernel with
// that many configurations to choose from; see [Participant].
func (e Entrant) Multiplications(configurations int) int {
	n := 2 // one to check, one to time
	if !e.OnCPU() {
		n += 2 // the same with transfers
	}
	if configurations > 1 {
		n += 2 * configurations
	}
	if e.Errors {
		n += len(allData)
	}
	return n
}

// A MissingError is the error for a library that is not installed.
type MissingError struct{ Text string }

func (e *MissingError) Error() string { return e.Text }

// A multiplier is an open entrant. It is used from one thread of the operating system.
type multiplier struct {
	about string // the library or device, and its threads

	// prepare makes a multiplication of matrices, in the best of some configurations if there are
	// any.
	prepare func(m *Matrices, c Candidates) (*prepared, error)
}

// A prepared multiplication can be repeated.
type prepared struct {
	configuration string // of a kernel
	hostTimer     bool   // run uses the host's clock, since the driver's timestamps are unusable

	run       func(times int) ([]float64, error) // returns the milliseconds of each multiplication
	roundTrip func() error                       // copies A and B, multiplies once and copies C back; nil on the CPU
	fetch     func() error                       // copies the result of the last multiplication to Matrices.C
	close     func()
}

// timed returns a function that repeats do and returns the milliseconds of each call by the host's
// clock.
func timed(do func() error) func(times int) ([]float64, error) {
	return func(times int) ([]float64, error) {
		took := make([]float64, times)
		for i := range took {
			began := time.Now()
			if err := do(); err != nil {
				return nil, err
			}
			took[i] = float64(time.Since(began)) / float64(time.Millisecond)
		}
		return took, nil
	}
}

// open opens an entrant in this process.
func open(e Entrant) (*multiplier, error) {
	var opened interface{ multiplier() *multiplier }
	var err error
	switch e.Kind {
	case Loop:
		return onHost("one thread", func(m *Matrices) { Multiply(floats(m.C), floats(m.A), floats(m.B), m.M, m.N, m.K) }), nil
	case OnDevice:
		opened, err = openKernel(e)
	case OpenBLAS:
		opened, err = openOpenBLAS(e)
	case CuBLAS:
		opened, err = openCuBLAS(e)
	default:
		err = fmt.Errorf("there is no way to multiply %q", e.Kind)
	}
	if err != nil {
		return nil, err
	}
	return opened.multiplier(), nil
}

// onHost returns a multiplier on the CPU.
func onHost(about string, multiply func(*Matrices)) *multiplier {
	return &multiplier{about, func(m *Matrices, _ Candidates) (*prepared, error) {
		run := timed(func() error { multiply(m); return nil })
		return &prepared{run: run, fetch: func() error { return nil }, close: func() {}}, nil
	}}
}

// measure measures an entrant at a size. It checks the first and the last result; there is no
// measurement with a wrong result.
func measure(e Entrant, with *multiplier, s Shape, c Candidates) (Measurement, error) {
	m := NewMatrices(s, e.Precision)
	p, err := with.prepare(m, c)
	if err != nil {
		return Measurement{}, err
	}
	defer p.close()
	check := func() error { return errors.Join(p.fetch(), m.Check()) }

	if _, err := p.run(1); err != nil {
		return Measurement{}, err
	}
	if err := check(); err != nil {
		return Measurement{}, err
	}
	measured := Measurement{Shape: s, Configuration: p.configuration, HostTimer: p.hostTimer}
	if measured.Alone, err = repeat(e.Iterations, p.run); err != nil {
		return Measurement{}, err
	}
	again := p.roundTrip
	if e.OnCPU() {
		err = check()
		again = func() error { _, err := p.run(1); return err }
	} else {
		m.spoil()
		measured.RoundTrips, err = repeat(e.Iterations, timed(p.roundTrip))
		if err == nil {
			err = m.Check() // the result of the last round trip
		}
	}
	if err == nil && e.Errors {
		measured.Errors, err = errorsOf(m, again)
	}
	return measured, err
}

// errorsOf multiplies matrices of all distributions and returns the errors.
func errorsOf(m *Matrices, multiply func() error) ([]Errors, error) {
	var all []Errors
	for _, d := range allData {
		m.Fill(d)
		m.spoil()
		if err := multiply(); err != nil {
			return nil, err
		}
		all = append(all, m.Errors())
	}
	return all, nil
}

// A Measurement holds the times of an entrant at a size.
type Measurement struct {
	Shape         Shape
	Alone         []float64 // milliseconds of each multiplication
	RoundTrips    []float64 // milliseconds of each, with the copies to the device and back; none on the CPU
	Configuration string    // of a kernel
	HostTimer     bool      // the driver's timestamps cannot be used: Alone is by the host's clock
	Errors        []Errors  // by data; empty if they were not measured
}

// Time returns the median time of a multiplication alone in milliseconds.
func (m *Measurement) Time() float64 { return score.StatsOf(m.Alone).Median }

// WithTransfers returns the median time of a round trip in milliseconds. On the CPU, without copies,
// it is that of a multiplication.
func (m *Measurement) WithTransfers() float64 {
	if len(m.RoundTrips) == 0 {
		return m.Time()
	}
	return score.StatsOf(m.RoundTrips).Median
}

// The limits of the repetitions of a measurement, in milliseconds.
const (
	leastTime = 100.0  // of all runs, unless there are mostRuns
	mostTime  = 2000.0 // after it, there are no more runs, however few there were
	batchTime = 20.0   // of launches that are enqueued without waiting
	mostRuns  = 200    // unless the least number is larger
)

// repeat calls run for at least the least number of times, then until 100 ms or 200 runs are reached,
// but stops after 2 s. A run of at most 20 ms gets an untimed warm-up, which brings caches and clock
// rates into a steady state.
func repeat(least int, run func(times int) ([]float64, error)) ([]float64, error) {
	times, err := run(1)
	if err != nil {
		return nil, err
	}
	each := times[0]
	if each <= batchTime {
		if _, err := run(batchOf(each, least)); err != nil {
			return nil, err
		}
		times = nil
	}
	sum := 0.0
	for _, t := range times {
		sum += t
	}
	most := max(mostRuns, least)
	for sum < mostTime && (len(times) < least || len(times) < mostRuns && sum < leastTime) {
		more, err := run(batchOf(each, min(least, most-len(times))))
		if err != nil {
			return nil, err
		}
		for _, t := range more {
			sum, each = sum+t, t
		}
		times = append(times, more...)
	}
	return times, nil
}

// batchOf returns how many runs of a duration fit in 20 ms, from 1 to most.
func batchOf(each float64, most int) int {
	if each <= 0 {
		return 1
	}
	return max(1, min(most, int(batchTime/each)))
}
