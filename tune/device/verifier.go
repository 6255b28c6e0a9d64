package device

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// compare compares the outputs of the last launch with the expected outputs, or calls the
// problem's own check. Large outputs are compared on the device, and read back unless they are
// certainly right. If the errors of the outputs are metrics, all outputs are read back, and compare returns the errors.
func (s *session) compare(p *problem.Problem, v *problem.Variant, expected map[string]*array.Array) ([]hardware.Reading, error) {
	if check := p.Check(); check != nil {
		return nil, s.runCheck(check, v)
	}
	var errs *errorMeter // nil: nobody needs them
	if p.NeedsError() {
		errs = &errorMeter{}
	}
	for i, info := range s.infos {
		if !info.Output {
			continue
		}
		if r := p.Reduction(info.Name); r != "" {
			if err := s.compareReduced(i, r, v, expected[info.Name], errs); err != nil {
				return nil, err
			}
			continue
		}
		absolute, relative := v.Tolerance.Of(info.Element.Type)
		holder, verdict := v.Holders[i], unasked
		if errs == nil {
			verdict = s.ask(holder, expected[info.Name], absolute, relative)
		}
		if verdict == right {
			continue
		}
		out, err := s.read(holder, s.scratch)
		if err != nil {
			return nil, fail(tune.Runtime, "%v", err)
		}
		s.scratch = out.Bytes
		s.verifier.readBack++
		if err := v.Tolerance.Compare(info.Name, out, expected[info.Name]); err != nil {
			return nil, fail(tune.Correctness, "%v", err)
		}
		errs.add(info.Name, out, expected[info.Name])
		if verdict == doubted {
			s.falselyDoubted(holder)
		}
	}
	return errs.readings(), nil
}

// An errorMeter collects the errors of the outputs of a configuration. A nil one does nothing.
type errorMeter struct {
	worst   array.Deviation // over the outputs
	missing string
}

// add adds the error of an output, or of its reduction.
func (e *errorMeter) add(name string, out, expected *array.Array) {
	if e == nil {
		return
	}
	if out.Struct != nil {
		e.missing = fmt.Sprintf("the elements of %s are structs", name)
		return
	}
	d, err := array.DeviationOf(out, expected)
	if err != nil {
		e.missing = err.Error()
		return
	}
	e.worst.Max, e.worst.RMS = max(e.worst.Max, d.Max), max(e.worst.RMS, d.RMS)
}

// readings returns the errors as readings.
func (e *errorMeter) readings() []hardware.Reading {
	switch {
	case e == nil:
		return nil
	case e.missing != "":
		return []hardware.Reading{hardware.MissingReading(hardware.Error, e.missing), hardware.MissingReading(hardware.ErrorRMS, e.missing)}
	}
	return []hardware.Reading{{Quantity: hardware.Error, Value: e.worst.Max}, {Quantity: hardware.ErrorRMS, Value: e.worst.RMS}}
}

// compareReduced compares what a reduction makes of an output and of the expected output, on the host.
func (s *session) compareReduced(i int, r array.Reduction, v *problem.Variant, expected *array.Array, errs *errorMeter) error {
	name, rows := s.infos[i].Name, v.Rows[i]
	want, err := s.verifier.reducedExpected(i, r, rows, expected)
	if err != nil {
		return fail(tune.Correctness, "the reference of %s: %v", name, err)
	}
	out, err := s.read(v.Holders[i], s.scratch)
	if err != nil {
		return fail(tune.Runtime, "%v", err)
	}
	s.scratch = out.Bytes
	got, err := r.Apply(out, rows)
	if err != nil {
		return fail(tune.Correctness, "%s: %v", name, err)
	}
	absolute, relative := v.Tolerance.Of(got.Type)
	mismatch, err := array.Compare(got, want, absolute, relative)
	if err != nil {
		return fail(tune.Correctness, "%s: %v", name, err)
	}
	if mismatch != nil {
		return fail(tune.Correctness, "%s: %s", name, r.Explain(mismatch, rows))
	}
	errs.add(name, got, want)
	return nil
}

// A reducedArray is the last reduction of the expected content of an output.
type reducedArray struct {
	of     *array.Array
	rows   int
	result *array.Array
}

func (v *verifier) reducedExpected(argument int, r array.Reduction, rows int, expected *array.Array) (*array.Array, error) {
	if known := v.reduced[argument]; known.of == expected && known.rows == rows {
		return known.result, nil
	}
	result, err := r.Apply(expected, rows)
	if err != nil {
		return nil, err
	}
	if v.reduced == nil {
		v.reduced = map[int]reducedArray{}
	}
	v.reduced[argument] = reducedArray{expected, rows, result}
	return result, nil
}

// runCheck hands copies of the outputs to the problem's own judge.
func (s *session) runCheck(check func(space.Configuration, map[string]*array.Array) error, v *problem.Variant) error {
	outputs, err := s.outputs(s.infos, v)
	if err != nil {
		return fail(tune.Runtime, "%v", err)
	}
	if err := check(v.Configuration, outputs); err != nil {
		return fail(tune.Correctness, "%v", err)
	}
	return nil
}

// verifyOnDevice is the size in bytes of an output from which on the device compares it. On two
// cores with PoCL that saves 0.3 ms of 0.5 each time, and building the kernel costs 20 ms, or
// 130 ms once for each machine: for less, a run of some hundred configurations gains nothing.
const verifyOnDevice = 1 << 20

// maxFalseDoubts is how many times in a row the device may doubt an output that the host finds right.
// After that, the host compares this output.
const maxFalseDoubts = 3

// A verifier compares outputs with expected outputs on the device. [array.Compare] passes every
// output that the verifier passes. The host decides about all others: outputs in doubt, and all
// outputs after a call of the verifier failed. Reading an output back then shows whether the
// device still works.
type verifier struct {
	least       int  // bytes of an output from which on the device compares it
	off         bool // the device could not do it
	kernels     map[array.Type]*verifyKernel
	doubts      *cl.Buffer  // one uint, which the kernels count in
	falseDoubts map[int]int // by argument: doubts in a row about outputs that were right

	reduced map[int]reducedArray // by argument

	passed   int // outputs that the device passed
	readBack int // outputs that the host compared
}

func (v *verifier) release() {
	v.doubts.Release()
	clear(v.kernels)
	v.doubts = nil
}

// A verdict is the device's answer about an output.
type verdict int

const (
	unasked verdict = iota // it was not asked, or could not answer
	doubted                // something is not certainly right
	right
)

// ask compares an output with the expected output on the device, if that is worthwhile.
func (s *session) ask(argument int, expected *array.Array, absolute, relative float64) verdict {
	v, b := &s.verifier, s.buffers[argument]
	if v.off || b.working == nil || b.bytes == 0 || b.bytes < v.least || v.falseDoubts[argument] >= maxFalseDoubts ||
		expected == nil || expected.Struct != nil || expected.Type != s.infos[argument].Element.Type || len(expected.Bytes) != b.bytes ||
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
	delete(v.falseDoubts, argument)
	return right
}

// forDevice reports whether the kernel takes a tolerance. The host refuses negative tolerances and
// NaN, and has its own rules for infinite ones.
func forDevice(tolerance float64) bool { return tolerance >= 0 && tolerance <= math.MaxFloat64 }

// computes reports whether the device has arithmetic for a type, or needs none.
func (s *session) computes(t array.Type) bool {
	return t.Scalar() != array.Float64 || s.Info.DoubleFP != 0
}

// falselyDoubted notes that the host found an output right after all. The doubt may have come
// of the expected output on the device, where a kernel that writes far out of bounds can hit
// it: it is uploaded anew.
func (s *session) falselyDoubted(argument int) {
	s.buffers[argument].releaseExpected()
	s.verifier.falseDoubts[argument]++
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
		if s.verifier.doubts, err = s.Context.NewBufferFrom(cl.ReadWrite, make([]byte, 4)); err != nil {
			return false, err
		}
	}
	scalars := b.bytes / expected.Type.Scalar().Size()
	farthest, share := kernelTolerance(expected.Type, absolute), kernelTolerance(expected.Type, relative)
	if err := kernel.SetArgs(b.working, want, uint64(scalars), farthest, share, s.verifier.doubts); err != nil {
		return false, err
	}
	event, err := s.Enqueue(Launch{kernel.Kernel, kernel.items(scalars)})
	if err != nil {
		return false, err
	}
	defer event.Release()
	var doubts [4]byte
	if err := s.Queue.Read(s.verifier.doubts, 0, doubts[:]); err != nil || doubts == [4]byte{} {
		return err == nil, err
	}
	return false, s.Queue.Write(s.verifier.doubts, 0, make([]byte, 4)) // for the next output
}

// verifyKernel is the kernel for outputs of a type, built when it is first needed.
func (s *session) verifyKernel(t array.Type) (*verifyKernel, error) {
	t = verifiedAs(t)
	if k := s.verifier.kernels[t]; k != nil {
		return k, nil
	}
	k, err := newVerifyKernel(s.Launcher, t, s.Info.Type&cl.DeviceCPU != 0)
	if err == nil {
		s.verifier.kernels[t] = k
	}
	return k, err
}

// maxExpected bounds how many expected outputs are kept on the device for one buffer: one for
// each number of launches of the reference, mostly.
const maxExpected = 4

// An expectedCopy is an expected output on the device, of an array on the host that does not
// change.
type expectedCopy struct {
	of     *array.Array
	buffer *cl.Buffer
}

// errNoRoom says that the device's memory is needed for other things.
var errNoRoom = errors.New("no room for the expected output on the device")

// expectedOnDevice is the expected output of a buffer, uploaded when it is first needed. It
// lives as long as the buffer: where that is not trusted any more, or has another size, the
// expected output has no more to say.
func (s *session) expectedOnDevice(b *buffer, expected *array.Array) (*cl.Buffer, error) {
	for _, c := range b.expected {
		if c.of == expected {
			return c.buffer, nil
		}
	}
	if len(b.expected) == maxExpected {
		b.expected[0].buffer.Release()
		b.expected = slices.Delete(b.expected, 0, 1)
	}
	if !s.roomFor(len(expected.Bytes)) {
		return nil, errNoRoom
	}
	on, err := s.Context.NewBuffer(cl.ReadOnly, len(expected.Bytes))
	if err != nil {
		return nil, err
	}
	if err := s.Queue.Write(on, 0, expected.Bytes); err != nil {
		on.Release()
		return nil, err
	}
	b.expected = append(b.expected, expectedCopy{expected, on})
	return on, nil
}

// roomFor reports whether the device can spare so many bytes. Drivers that allocate lazily
// would take them in any case, and fail when a kernel is launched: a quarter of the memory is
// left to these, to kernels' private memory, and to whoever else uses the device.
func (s *session) roomFor(bytes int) bool {
	all := float64(bytes)
	for _, b := range s.buffers {
		all += b.held()
	}
	return s.Info.GlobalMemSize <= 0 || all <= 0.75*float64(s.Info.GlobalMemSize)
}

// releaseExpected makes room on the device. Expected outputs are uploaded again when needed.
func (s *session) releaseExpected() {
	for _, b := range s.buffers {
		b.releaseExpected()
	}
}

func (b *buffer) releaseExpected() {
	if b == nil {
		return
	}
	for _, c := range b.expected {
		c.buffer.Release()
	}
	b.expected = nil
}
