package device

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/process"
)

// A session holds the resources of a problem on a device: a launcher, and a buffer for every buffer
// argument. A driver error may make it unusable; then it is released and another is made.
type session struct {
	*Launcher
	problem  *problem.Problem
	infos    []problem.Argument
	samplers []*cl.Sampler // by argument; nil for other arguments
	buffers  []*buffer     // by argument; nil for other arguments and until the buffer is made
	zones    zones         // of new buffers
	readOnly []bool        // by argument: buffers are made so; nil: none
	once     bool          // buffers get their initial content only once: no copy of it is kept
	bare     bool          // outputs without a fill do not get any

	// content returns the initial content of an argument with some elements; nil: as the problem defines it.
	content func(i, elements int) (*array.Array, error)

	generator *process.Program // that makes sources; nil: there is none

	caches   int64    // in bytes, to be overwritten before each timed launch; 0: they are not
	evictor  *evictor // nil: none is needed, or it is not made yet
	scratch  []byte   // for outputs on the host
	verifier verifier
}

// session is a session of a problem on a launcher.
func (l *Launcher) session(p *problem.Problem) *session {
	infos := p.Arguments()
	return &session{
		Launcher: l, problem: p, infos: infos, zones: guardBehind, generator: p.Generator(),
		buffers:  make([]*buffer, len(infos)),
		samplers: make([]*cl.Sampler, len(infos)),
		verifier: verifier{least: verifyOnDevice, kernels: map[array.Type]*verifyKernel{}, falseDoubts: map[int]int{}},
	}
}

func (s *session) releaseBuffers() {
	for i, b := range s.buffers {
		b.release()
		s.buffers[i] = nil
		s.samplers[i].Release()
		s.samplers[i] = nil
	}
}

func (s *session) release() { s.detach().Release() }

// detach releases everything but the launcher.
func (s *session) detach() *Launcher {
	s.releaseBuffers()
	s.verifier.release()
	s.evictor.release()
	s.generator.Close(false)
	return s.Launcher
}

// alive checks that the queue still works.
func (s *session) alive() error {
	sent, back := []byte{1, 2, 3, 4}, make([]byte, 4)
	b, err := s.Context.NewBufferFrom(cl.ReadWrite, sent)
	if err != nil {
		return err
	}
	defer b.Release()
	if err := s.Queue.Read(b, 0, back); err != nil {
		return err
	}
	if string(back) != string(sent) {
		return fmt.Errorf("wrote %v to the device and read %v back", sent, back)
	}
	return nil
}

// A buffer is a buffer argument on the device. Its initial content is restored from a copy on
// the device, or from the host if the buffer is used once or the device has no memory for two.
// Images have zones only if they lie in a buffer.
type buffer struct {
	zones
	whole    *cl.Buffer // the content and its zones; nil for an image that does not lie in a buffer
	working  *cl.Buffer // the content: whole, or a part of it
	image    *cl.Image  // nil for a buffer
	region   [3]int     // the whole image
	pixels   []int      // of an image in each dimension
	pristine *cl.Buffer
	shared   *cl.Buffer   // the content in the memory of another process; nil: it is on the host
	content  *array.Array // only where pristine is nil
	elements int
	bytes    int // of the content

	expected []expectedCopy // expected outputs on the device, oldest first
}

// newBuffer allocates the buffer or the image of argument i with its initial content.
func (s *session) newBuffer(i int, v *problem.Variant, content *array.Array) (*buffer, error) {
	b := &buffer{elements: v.Elements[i], pixels: v.Pixels[i], bytes: len(content.Bytes)}
	if s.infos[i].Fill.Shared != "" {
		b.bytes = b.elements * s.infos[i].Element.Size()
	}
	given := s.infos[i].Image
	var err error
	if given == nil || given.Shape == "1d_buffer" {
		b.zones = s.zones.fit(b.bytes, s.Info.MaxAllocSize)
		flags := cl.ReadWrite
		if s.readOnly != nil && s.readOnly[i] {
			flags = cl.ReadOnly
		}
		if given != nil { // an image begins where its buffer begins
			b.before = 0
		}
		err = b.allocate(s.Context, flags)
	}
	if err == nil && s.infos[i].Fill.Shared != "" {
		handle, offset, _ := s.infos[i].Fill.SharedAt() // the problem has checked it
		if b.shared, err = s.Context.OpenShared(handle, offset, b.bytes); err != nil {
			err = fmt.Errorf("memory of another process cannot be shared: %w", err)
		}
	}
	if err == nil && given != nil {
		err = s.newImage(given, b.pixels, b)
	}
	if err != nil {
		b.release()
		return nil, err
	}
	// NVIDIA's driver 580 refuses to copy a buffer to an array of 1-D images (CL_INVALID_VALUE).
	if s.once || given != nil && given.Shape == "1d_array" {
		if b.content = content; s.bare && s.unset(i) {
			b.content = &array.Array{}
		}
		return b, nil
	}
	if b.pristine, err = s.Context.NewBuffer(cl.ReadWrite, b.size()); err == nil {
		if err = b.write(s.Queue, b.pristine, content); err == nil {
			return b, nil
		}
		b.pristine.Release()
	}
	b.pristine, b.content = nil, content
	return b, nil
}

// write fills one of the two buffers with the content and the zones. They are not given with the content when a buffer is made:
// NVIDIA's driver 580 then copies what belongs to a part of it to the device, but not the zones.
func (b *buffer) write(q *cl.Queue, to *cl.Buffer, content *array.Array) error {
	if to == nil {
		return q.WriteImage(b.image, [3]int{}, b.region, content.Bytes)
	}
	if b.shared != nil {
		if err := copyBuffer(q, b.shared, to, 0, b.before, b.bytes); err != nil {
			return err
		}
	}
	offsets := []int{0, b.before, b.before + b.bytes}
	for i, part := range [][]byte{b.pattern[:b.before], content.Bytes, b.pattern[:b.behind]} {
		if len(part) > 0 {
			if err := q.Write(to, offsets[i], part); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyBuffer enqueues a copy within the device.
func copyBuffer(q *cl.Queue, from, to *cl.Buffer, fromOffset, toOffset, size int) error {
	event, err := q.EnqueueCopy(from, to, fromOffset, toOffset, size)
	event.Release()
	return err
}

// closeShared ends the use of memory of other processes, and of the buffers that are restored from it.
func (s *session) closeShared() {
	for i, b := range s.buffers {
		if b != nil && b.shared != nil {
			b.release()
			s.buffers[i] = nil
		}
	}
}

func (b *buffer) release() {
	if b == nil {
		return
	}
	b.releaseExpected()
	b.image.Release()
	if b.working != b.whole {
		b.working.Release()
	}
	b.whole.Release()
	b.pristine.Release()
	b.shared.Release()
}

// held returns the device memory of the buffer and its copies, in bytes.
func (b *buffer) held() float64 {
	if b == nil {
		return 0
	}
	each := float64(b.size())
	held := each + float64(len(b.expected)*b.bytes)
	if b.pristine != nil {
		held += each
	}
	return held
}

// restore gives the working buffer its initial content. The queue is in order, so that the
// next launch sees it.
func (b *buffer) restore(q *cl.Queue) error {
	if b.pristine == nil {
		return b.write(q, b.whole, b.content)
	}
	if b.working != nil {
		return copyBuffer(q, b.pristine, b.whole, 0, 0, b.size())
	}
	event, err := q.EnqueueCopyBufferToImage(b.pristine, b.image, 0, [3]int{}, b.region)
	event.Release()
	return err
}

// prepare makes the buffers of a variant and restores all of them, so that no configuration
// sees the output of another.
func (s *session) prepare(v *problem.Variant) error {
	if err := s.checkMemory(v); err != nil {
		return err
	}
	for i, info := range s.infos {
		if info.Kind == definition.SamplerArgument && s.samplers[i] == nil {
			var err error
			if s.samplers[i], err = s.newSampler(info.Sampler); err != nil {
				return fail(tune.Constraints, "sampler %s: %v", info.Name, err)
			}
		}
		if !s.lacks(i, v) {
			continue
		}
		s.releaseExpected() // these copies only save time, and a buffer is needed
		s.buffers[i].release()
		s.buffers[i] = nil
		content, err := &array.Array{}, error(nil)
		if info.Fill.Shared == "" {
			content, err = s.initial(i, v.Elements[i])
		}
		if err != nil {
			return fail(tune.Constraints, "%v", err)
		}
		if s.buffers[i], err = s.newBuffer(i, v, content); err != nil {
			return fail(tune.Runtime, "allocate %s %s of %d B: %v", info.Kind, info.Name, v.Elements[i]*info.Element.Size(), err)
		}
	}
	if err := s.openEvictor(); err != nil {
		return err
	}
	return s.restoreAll()
}

// spoiled reports whether anything has written into a copy from which buffers are restored.
func (s *session) spoiled(v *problem.Variant) (bool, error) {
	for i, b := range s.buffers {
		if b == nil || b.pristine == nil {
			continue
		}
		content, err := s.initial(i, v.Elements[i])
		if err != nil {
			return false, err
		}
		s.scratch = slices.Grow(s.scratch[:0], b.bytes)[:b.bytes]
		if err := s.Queue.Read(b.pristine, b.before, s.scratch); err != nil {
			return false, fail(tune.Runtime, "read the copy of %s: %v", s.infos[i].Name, err)
		}
		if !bytes.Equal(s.scratch, content.Bytes) {
			return true, nil
		}
	}
	return false, nil
}

// initial returns the initial content of an argument.
func (s *session) initial(i, elements int) (*array.Array, error) {
	if s.content != nil {
		return s.content(i, elements)
	}
	return s.problem.Content(i, elements)
}

// prepareAgain prepares the buffers if another variant has replaced any, and reports whether it did. Otherwise
// it restores only the buffers that every launch must find in their initial state.
func (s *session) prepareAgain(v *problem.Variant) (replaced bool, err error) {
	if s.lacksAny(v) {
		return true, s.prepare(v)
	}
	return false, s.restore(true)
}

// lacks reports whether argument i is a buffer or an image that is not there in the size of a variant.
func (s *session) lacks(i int, v *problem.Variant) bool {
	b := s.buffers[i]
	return s.infos[i].Kind.HasContent() && !s.infos[i].Symbol && (b == nil || b.elements != v.Elements[i] || !slices.Equal(b.pixels, v.Pixels[i]))
}

// lacksAny reports whether any buffer or image must be made for a variant.
func (s *session) lacksAny(v *problem.Variant) bool {
	for i := range s.buffers {
		if s.lacks(i, v) {
			return true
		}
	}
	return false
}

// setArguments hands the kernels their buffers, images and samplers, and the program the content of its symbols.
func (s *session) setArguments(b *Built) error {
	arguments := make([]any, len(s.infos))
	for i, info := range s.infos {
		switch info.Kind {
		case definition.BufferArgument:
			arguments[i] = s.buffers[i].working
		case definition.ImageArgument:
			arguments[i] = s.buffers[i].image
		case definition.SamplerArgument:
			arguments[i] = s.samplers[i]
		case definition.SymbolArgument:
			if err := s.fillSymbol(b, i); err != nil {
				return err
			}
		}
	}
	if err := b.Bind(arguments...); err != nil {
		return fail(tune.Compile, "%v", err)
	}
	return nil
}

// fillSymbol writes the content of argument i, a symbol, into the variable of a program.
func (s *session) fillSymbol(b *Built, i int) error {
	name := s.infos[i].Name
	content, err := s.initial(i, b.Variant.Elements[i])
	if err != nil {
		return fail(tune.Constraints, "%v", err)
	}
	symbol, err := b.program.Symbol(name)
	if err != nil && !errors.Is(err, cl.InvalidKernelName) { // such as machine code for another architecture
		return fail(tune.Runtime, "%v", err)
	} else if err != nil {
		return fail(tune.Compile, "the source has no variable %s such as __constant__ float %s[9]: %v", name, name, err)
	}
	defer symbol.Release()
	if has, gets := symbol.Size(), len(content.Bytes); gets > has {
		return fail(tune.Constraints, "symbol %s: the variable has %d B, the specification gives %d B", name, has, gets)
	}
	if err := s.Queue.Write(symbol, 0, content.Bytes); err != nil {
		return fail(tune.Runtime, "write symbol %s: %v", name, err)
	}
	return nil
}

// restoreAll restores all buffers and waits for it, so that the next launch is timed alone.
func (s *session) restoreAll() error {
	if err := s.restore(false); err != nil {
		return err
	}
	if err := s.Queue.Finish(); err != nil {
		return fail(tune.Runtime, "restore the buffers: %v", err)
	}
	return nil
}

// checkMemory refuses buffers that the device has no memory for. Drivers that allocate
// lazily would take them, and fail or bring the process down later.
func (s *session) checkMemory(v *problem.Variant) error {
	limits, all := s.Info, 0.0 // which cannot overflow
	for i, info := range s.infos {
		bytes := float64(v.Elements[i]) * float64(info.Element.Size())
		if !info.Kind.HasContent() {
			continue
		}
		if info.Image != nil {
			if err := s.checkImage(info, v.Pixels[i]); err != nil {
				return err
			}
		}
		if limits.MaxAllocSize > 0 && bytes > float64(limits.MaxAllocSize) {
			return fail(tune.Constraints, "%s %s of %.0f B > device limit %d B for one buffer", info.Kind, info.Name, bytes, limits.MaxAllocSize)
		}
		all += bytes
	}
	if limits.GlobalMemSize > 0 && all > float64(limits.GlobalMemSize) {
		return fail(tune.Constraints, "buffers of %.0f B > device memory %d B", all, limits.GlobalMemSize)
	}
	return nil
}

// restore gives the buffers their initial content: all of them, or only those that every
// launch must find so.
func (s *session) restore(eachLaunch bool) error {
	for i, b := range s.buffers {
		if b == nil || (eachLaunch && !s.infos[i].RestoreEachLaunch) {
			continue
		}
		if err := b.restore(s.Queue); err != nil {
			return fail(tune.Runtime, "restore %s %s: %v", s.infos[i].Kind, s.infos[i].Name, err)
		}
	}
	return nil
}

// begin readies the buffers and the caches for a timed launch.
func (s *session) begin() error {
	if err := s.restore(true); err != nil {
		return err
	}
	return s.evict()
}

// batches reports whether launches can be enqueued together: if they are timed by events, and nothing must be done
// before every launch.
func (s *session) batches() bool {
	return s.caches == 0 && s.Timer != hardware.TimerHost && !s.restoresEachLaunch()
}

// restoresEachLaunch reports whether a buffer must be restored before every launch.
func (s *session) restoresEachLaunch() bool {
	return slices.ContainsFunc(s.infos, func(a problem.Argument) bool { return a.RestoreEachLaunch })
}

// read copies a buffer argument to the host, into memory if that is large enough.
func (s *session) read(i int, memory []byte) (*array.Array, error) {
	n := s.buffers[i].bytes
	a := &array.Array{Type: s.infos[i].Element.Type, Struct: s.infos[i].Element.Struct, Bytes: slices.Grow(memory[:0], n)[:n]}
	var err error
	if b := s.buffers[i]; b.working == nil {
		err = s.Queue.ReadImage(b.image, [3]int{}, b.region, a.Bytes)
	} else {
		err = s.Queue.Read(b.working, 0, a.Bytes)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s %s back: %w", s.infos[i].Kind, s.infos[i].Name, err)
	}
	return a, nil
}

// outputs returns copies of the buffers that hold the content of output arguments after the launches of a variant.
func (s *session) outputs(of []problem.Argument, v *problem.Variant) (map[string]*array.Array, error) {
	outputs := map[string]*array.Array{}
	for i, info := range s.infos {
		if !slices.ContainsFunc(of, func(a problem.Argument) bool { return a.Output && a.Name == info.Name }) {
			continue
		}
		var err error
		if outputs[info.Name], err = s.read(v.Holders[i], nil); err != nil {
			return nil, err
		}
	}
	return outputs, nil
}
