package device

import (
	"math"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune/array"
)

// verifyOnDevice is the size in bytes of an output from which on the device compares it. On two
// cores with PoCL that saves 0.3 ms of 0.5 each time, and building the kernel costs 20 ms, or
// 130 ms once for each machine: for less, a run of some hundred configurations gains nothing.
const verifyOnDevice = 1 << 20

// maxVain is how often in a row the device may doubt an output that the host finds right,
// before that output is left to the host.
const maxVain = 3

// A verifier compares outputs with what is expected where both are: on the device. What it
// passes, [array.Compare] would pass. All else is the host's to judge: what is in doubt, and
// every output from the first time on that the device does not do what is asked of it. Whether
// the device can still be used at all, reading the output back will tell.
type verifier struct {
	least   int  // bytes of an output from which on the device compares it
	off     bool // the device could not do it
	kernels map[array.Type]*verifyKernel
	doubts  *cl.Buffer  // one uint, which the kernels count in
	vain    map[int]int // by argument: doubts in a row about outputs that were right

	passed   int // outputs that the device passed
	readBack int // outputs that the host compared
}

func (v *verifier) release() {
	for _, k := range v.kernels {
		k.release()
	}
	v.doubts.Release()
	v.kernels, v.doubts = nil, nil
}

// A verdict is what the device says about an output.
type verdict int

const (
	unasked verdict = iota // it was not asked, or could not answer
	doubted                // something is not certainly right
	right
)

// ask has the device compare an output with what is expected, where that is worth it.
func (s *session) ask(argument int, expected *array.Array, absolute, relative float64) verdict {
	v, b := &s.verifier, s.buffers[argument]
	if v.off || b.bytes == 0 || b.bytes < v.least || v.vain[argument] >= maxVain ||
		expected == nil || expected.Type != s.infos[argument].Type || len(expected.Bytes) != b.bytes ||
		!forDevice(absolute) || !forDevice(relative) || !s.computes(expected.Type) {
		return unasked
	}
	certain, err := s.verifyOn(b, expected, absolute, relative)
	if err == errNoRoom { // for this output; another may be smaller
		return unasked
	}
	if err != nil {
		v.off = true
		s.releaseExpected()
		return unasked
	}
	if !certain {
		return doubted
	}
	v.passed++
	delete(v.vain, argument)
	return right
}

// forDevice tells the tolerances that the kernel takes from those that the host refuses
// (negative, NaN) or has rules of its own for (infinite).
func forDevice(tolerance float64) bool { return tolerance >= 0 && tolerance <= math.MaxFloat64 }

// computes reports whether the device has arithmetic for a type, or needs none.
func (s *session) computes(t array.Type) bool {
	info, err := s.device.Info()
	return err == nil && (t.Scalar() != array.Float64 || info.DoubleFP != 0)
}

// doubtedInVain notes that the host found an output right after all. The doubt may have come
// of the expected output on the device, where a kernel that writes far out of bounds can hit
// it: it is uploaded anew.
func (s *session) doubtedInVain(argument int) {
	s.buffers[argument].releaseExpected()
	if s.verifier.vain == nil {
		s.verifier.vain = map[int]int{}
	}
	s.verifier.vain[argument]++
}

// verifyOn runs the kernel over an output and waits for it.
func (s *session) verifyOn(b *buffer, expected *array.Array, absolute, relative float64) (certain bool, err error) {
	kernel, err := s.verifyKernel(expected.Type)
	if err != nil {
		return false, err
	}
	want, err := s.expectedOnDevice(b, expected)
	if err != nil {
		return false, err
	}
	if s.verifier.doubts == nil {
		if s.verifier.doubts, err = s.context.NewBuffer(cl.ReadWrite, 4); err != nil {
			return false, err
		}
	}
	var doubts [4]byte
	if err := s.queue.Write(s.verifier.doubts, 0, doubts[:]); err != nil {
		return false, err
	}
	scalars := b.bytes / expected.Type.Scalar().Size()
	if err := kernel.SetArgs(b.working, want, uint64(scalars), kernelTolerance(expected.Type, absolute), kernelTolerance(expected.Type, relative), s.verifier.doubts); err != nil {
		return false, err
	}
	global, local := kernel.items(scalars)
	event, err := s.queue.EnqueueKernel(kernel.Kernel, nil, []int{global}, []int{local})
	if err != nil {
		return false, err
	}
	defer event.Release()
	if err := event.Wait(); err != nil {
		return false, err
	}
	if err := s.queue.Read(s.verifier.doubts, 0, doubts[:]); err != nil {
		return false, err
	}
	return doubts == [4]byte{}, nil
}

// verifyKernel is the kernel for outputs of a type, built when it is first needed.
func (s *session) verifyKernel(t array.Type) (*verifyKernel, error) {
	t = verifiedAs(t)
	if k := s.verifier.kernels[t]; k != nil {
		return k, nil
	}
	info, err := s.device.Info()
	if err != nil {
		return nil, err
	}
	k, err := newVerifyKernel(s.context, s.device, t, info.Type&cl.DeviceCPU != 0)
	if err != nil {
		return nil, err
	}
	if s.verifier.kernels == nil {
		s.verifier.kernels = map[array.Type]*verifyKernel{}
	}
	s.verifier.kernels[t] = k
	return k, nil
}
