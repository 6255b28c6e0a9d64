package matmul

import (
	"errors"
	"fmt"
)

// A Kind is a way to multiply.
type Kind string

// The kinds.
const (
	Loop     Kind = "loop"        // Multiply, on one thread
	Kernel   Kind = "kernel"      // an OpenCL kernel
	OpenBLAS Kind = "openblas"    // on all cores
	CuBLAS   Kind = "cublas"      // in float32
	CuTF32   Kind = "cublas-tf32" // with the tensor cores' TF32 for A and B
)

// An Entrant is one of those that are compared.
type Entrant struct {
	Name string
	Kind Kind

	// Of a kernel: its specification among the bundled ones, and the device as
	// device.Listed.Selector gives it.
	Spec   string
	Device string

	// Of a library: files and folders in which it is looked for first, and the card by its
	// PCI address (domain:bus:device.function); "": the first one.
	Libraries []string
	PCI       string

	Iterations int // timed multiplications at least, where they are not very long
}

// OnCPU reports whether nothing is copied to a device and back.
func (e Entrant) OnCPU() bool { return e.Kind == Loop || e.Kind == OpenBLAS }

// Multiplications are those of a measurement, at least, for a kernel with so many
// configurations to choose from: see [Participant].
func (e Entrant) Multiplications(configurations int) int {
	n := 2 // to check, and to time
	if !e.OnCPU() {
		n += 2 // with transfers
	}
	if configurations > 1 {
		n += 2 * configurations
	}
	return n
}

// A MissingError says that a library is not there.
type MissingError struct{ Text string }

func (e *MissingError) Error() string { return e.Text }

// A multiplier multiplies in this process. It is used from one thread of the operating system.
type multiplier interface {
	// about says which library or device it is, and on how many threads.
	about() string

	// prepare makes ready to multiply matrices, in the best of some configurations where it
	// has any.
	prepare(m *Matrices, configurations []string) (prepared, error)

	// tolerance is that of its results.
	tolerance(n int) Tolerance
}

// A prepared multiplication can be repeated.
type prepared interface {
	// run multiplies so many times, and gives the time of each in milliseconds.
	run(times int) ([]float64, error)

	// roundTrip copies A and B, multiplies once and copies C back, and gives the time of all
	// that in milliseconds. On the CPU it is never called.
	roundTrip() (float64, error)

	// fetch brings the result of the last multiplication into Matrices.C.
	fetch() error

	// configuration is that of a kernel, or "", and hostTimer says that times of run are the host's.
	configuration() string
	hostTimer() bool

	close()
}

// open opens an entrant in this process.
func open(e Entrant) (multiplier, error) {
	switch e.Kind {
	case Loop:
		return loop{}, nil
	case Kernel:
		return openKernel(e)
	case OpenBLAS:
		return openOpenBLAS(e)
	case CuBLAS, CuTF32:
		return openCuBLAS(e)
	}
	return nil, fmt.Errorf("there is no way to multiply %q", e.Kind)
}

// measure is all that is measured of an entrant at a size: the result is right, at first and
// at last, or there is no measurement.
func measure(e Entrant, with multiplier, n int, configurations []string) (Measurement, error) {
	m := NewMatrices(n)
	p, err := with.prepare(m, configurations)
	if err != nil {
		return Measurement{}, err
	}
	defer p.close()
	check := func() error { return errors.Join(p.fetch(), m.Check(with.tolerance(n))) }

	if _, err := p.run(1); err != nil {
		return Measurement{}, err
	}
	if err := check(); err != nil {
		return Measurement{}, err
	}
	measured := Measurement{N: n, Configuration: p.configuration()}
	if measured.Alone, err = repeat(e.Iterations, p.run); err != nil {
		return Measurement{}, err
	}
	measured.HostTimer = p.hostTimer()
	if e.OnCPU() {
		return measured, check()
	}
	m.spoil()
	measured.RoundTrips, err = repeat(e.Iterations, func(times int) ([]float64, error) {
		took := make([]float64, times)
		for i := range took {
			if took[i], err = p.roundTrip(); err != nil {
				return nil, err
			}
		}
		return took, nil
	})
	if err == nil {
		err = m.Check(with.tolerance(n)) // of what the last round trip brought
	}
	return measured, err
}
