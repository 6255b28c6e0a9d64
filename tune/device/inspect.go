package device

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// An Inspector launches one configuration as often as its owner wants, to find faults of the kernel. It measures
// nothing. Each launch has buffers of its own, so that no launch sees anything of another. Release it when done.
type Inspector struct {
	Variant *problem.Variant

	evaluator *Evaluator
	programs  map[bool]*Built // by whether the work-groups are reversed
	contents  []*array.Array  // initial content by argument; nil: not made yet
}

// A Rehearsal says how the launches of a configuration are made.
type Rehearsal struct {
	// Guard is the size in bytes of the zones before and behind each buffer, a multiple of [GuardUnit]; 0: none. A buffer
	// that the device cannot make so large has smaller zones, or none.
	Guard int

	// Poison fills the outputs for which the problem has no fill; if it is 0, they are zeros. The zones and the local memory of the
	// device are filled with the next bytes, so that an output that was not written differs from one that was copied from there.
	Poison byte

	// Bare leaves the outputs for which the problem has no fill as the device gives their memory, without zones: a tool that knows what
	// was written finds reads of them.
	Bare bool

	// Reversed gives each work-group the id of the one at the other end. A kernel sees it by get_group_id and get_global_id.
	Reversed bool

	// ReadOnly makes buffers read-only if the kernel declares their elements constant. Only a simulator heeds that.
	ReadOnly bool

	// Ready is called before the first launch with the first address of each buffer on the device, by argument, if
	// Addresses is set. Other arguments have 0.
	Addresses bool
	Ready     func(addresses []uint64)
}

// Rehearsed is the state after the launches of a configuration.
type Rehearsed struct {
	Contents [][]byte // of the buffers and images by argument; nil for other arguments
	Strays   []Stray

	// Verified reports whether the outputs were compared with the reference, and Wrong how they differ from it; "" if they do not.
	Verified bool
	Wrong    string
}

// Inspect builds a configuration. Its error is a [Failure] if the device cannot build or launch the configuration.
func (e *Evaluator) Inspect(ctx context.Context, c space.Configuration) (*Inspector, error) {
	if e.session == nil {
		return nil, errClosed
	}
	v, err := Derive(e.problem, c, e.identity)
	if err != nil {
		return nil, fail(tune.Constraints, "%v", err)
	}
	i := &Inspector{Variant: v, evaluator: e, programs: map[bool]*Built{}, contents: make([]*array.Array, len(v.Elements))}
	if _, err := i.built(ctx, false); err != nil {
		return nil, err
	}
	return i, nil
}

// Release releases the programs.
func (i *Inspector) Release() {
	for _, b := range i.programs {
		b.Release()
	}
	i.programs = nil
}

// What stands before a source whose work-groups are reversed.
const (
	reversedGroups = `size_t ndtune_group_id(uint d) { return get_num_groups(d) - 1 - get_group_id(d); }
size_t ndtune_global_id(uint d) { return get_global_offset(d) + ndtune_group_id(d) * get_local_size(d) + get_local_id(d); }
#define get_group_id ndtune_group_id
#define get_global_id ndtune_global_id
#line 1
`
	reversedBlocks = `static __device__ uint3 ndtune_block() {
    return make_uint3(gridDim.x - 1 - blockIdx.x, gridDim.y - 1 - blockIdx.y, gridDim.z - 1 - blockIdx.z);
}
#define blockIdx ndtune_block()
#line 1
`
)

// CanReverse reports whether the order of the work-groups can be reversed: the source is no module, and asks for ids in no other way.
func (i *Inspector) CanReverse() bool {
	text := i.Variant.Source
	return !i.Variant.SPIRV() && !strings.Contains(text, "get_global_linear_id") && !strings.Contains(text, "cooperative_groups")
}

// built returns the program, which it builds once.
func (i *Inspector) built(ctx context.Context, reversed bool) (b *Built, err error) {
	if b := i.programs[reversed]; b != nil {
		return b, nil
	}
	s := i.evaluator.session
	if reversed {
		v := *i.Variant
		if v.Source = reversedGroups + v.Source; s.isCUDA() {
			v.Source = reversedBlocks + i.Variant.Source
		}
		b, err = s.compile(&v)
	} else {
		b, err = s.build(ctx, i.Variant, nil)
	}
	if err != nil {
		return nil, err
	}
	if err := b.check(i.evaluator.identity); err != nil {
		b.Release()
		return nil, err
	}
	i.programs[reversed] = b
	return b, nil
}

// Constant reports for each argument whether it is a buffer whose elements all kernels declare constant.
func (i *Inspector) Constant() []bool {
	infos := i.evaluator.problem.Arguments()
	constant := make([]bool, len(infos)) // in all kernels up to here
	used := make([]bool, len(infos))     // by a kernel up to here
	for _, k := range i.programs[false].kernels {
		told := k.argInfos(i.Variant)
		for index, a := range k.launch.Arguments {
			info := told[index]
			if infos[a].Kind == definition.AliasArgument {
				a = infos[a].Buffer
			}
			isBuffer := infos[a].Kind == definition.BufferArgument
			constantHere := isBuffer && (info.Qualifier&cl.TypeConst != 0 || info.Address == cl.AddressConstant)
			constantBefore := constant[a] || !used[a]
			constant[a] = constantHere && constantBefore
			used[a] = true
		}
	}
	return constant
}

// Content returns the initial content of an argument.
func (i *Inspector) Content(argument int) (*array.Array, error) {
	var err error
	if i.contents[argument] == nil {
		i.contents[argument], err = i.evaluator.problem.Content(argument, i.Variant.Elements[argument])
	}
	return i.contents[argument], err
}

// Rehearse makes the launches of the configuration once, on new buffers. Its error is a [Failure] if the launches failed.
func (i *Inspector) Rehearse(ctx context.Context, how Rehearsal) (*Rehearsed, error) {
	b, err := i.built(ctx, how.Reversed)
	if err != nil {
		return nil, err
	}
	r := &rehearsal{Rehearsal: how, inspector: i, session: i.evaluator.session.session(i.evaluator.problem)}
	r.verifier.off = true
	r.once = true
	r.content, r.bare = r.poisoned, how.Bare
	r.zones = zones{how.Guard, how.Guard, bytes.Repeat([]byte{guardBehind.pattern[0]}, how.Guard)}
	if how.Poison != 0 {
		r.zones.pattern = bytes.Repeat([]byte{how.Poison + 1}, how.Guard)
	}
	if how.ReadOnly {
		r.readOnly = i.Constant()
	}
	defer r.releaseBuffers()
	return r.run(ctx, b)
}

// A rehearsal is the state of one call of Rehearse.
type rehearsal struct {
	Rehearsal
	*session
	inspector *Inspector
}

// poisoned returns the initial content of an argument.
func (r *rehearsal) poisoned(i, _ int) (*array.Array, error) {
	content, err := r.inspector.Content(i)
	if err == nil && r.Poison != 0 && r.unset(i) {
		content = &array.Array{Type: content.Type, Struct: content.Struct, Bytes: bytes.Repeat([]byte{r.Poison}, len(content.Bytes))}
	}
	return content, err
}

// unset reports whether argument i is an output for which the problem has no fill.
func (s *session) unset(i int) bool {
	given := s.problem.Definition().Arguments[i]
	return s.infos[i].Output && given.Data == nil && given.Fill.IsZero()
}

func (r *rehearsal) run(ctx context.Context, built *Built) (*Rehearsed, error) {
	e, v := r.inspector.evaluator, r.inspector.Variant
	var expected map[string]*array.Array
	judged := r.Poison == 0 && e.problem.Verified() && e.problem.VerifyCommand() == nil
	if judged {
		var err error
		if expected, err = e.references.of(ctx, e.session, v); err != nil {
			return nil, err
		}
	}
	if err := r.prepare(v); err != nil {
		return nil, err
	}
	if r.Addresses {
		addresses, err := r.addresses()
		if err != nil {
			return nil, err
		}
		r.Ready(addresses)
	}
	if r.Poison != 0 {
		if err := r.poisonLocal(r.Poison + 2); err != nil {
			return nil, err
		}
	}
	if err := r.setArguments(built); err != nil {
		return nil, err
	}
	b, err := r.EnqueueAll(built.Launches)
	defer b.Release()
	if err == nil {
		err = b.Wait()
	}
	if err != nil {
		return nil, r.launchFailure(err)
	}
	out := &Rehearsed{Verified: judged}
	if out.Strays, err = r.strays(); err != nil {
		return nil, err
	}
	if out.Contents, err = r.contents(); err != nil {
		return nil, err
	}
	if judged {
		_, err := r.compare(e.problem, v, expected)
		if failed, ok := err.(*Failure); ok && failed.Status == tune.Correctness {
			out.Wrong, err = failed.Reason, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// addressSource has a kernel that says where a buffer is.
const addressSource = `
__kernel void ndtune_address(__global ulong *at, __global void *buffer) { *at = (ulong)buffer; }
`

// addresses returns the addresses of the buffers on the device, by argument.
func (r *rehearsal) addresses() ([]uint64, error) {
	kernel, err := r.Kernel(addressSource, "", "ndtune_address")
	if err != nil {
		return nil, err
	}
	at, err := r.Context.NewBuffer(cl.ReadWrite, 8)
	if err != nil {
		return nil, err
	}
	defer at.Release()
	all := make([]uint64, len(r.infos))
	for i, b := range r.buffers {
		if b == nil || b.working == nil {
			continue
		}
		if err := kernel.SetArgs(at, b.working); err != nil {
			return nil, err
		}
		if _, err := r.Times([]Launch{{kernel, Line(1, 1)}}, 1); err != nil {
			return nil, err
		}
		if err := r.Queue.Read(at, 0, cl.Bytes(all[i:i+1])); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// poisonSource has a kernel that fills local memory. It reads it again, so that no compiler leaves the writes out. For CUDA, local memory
// is the last argument.
const poisonSource = `
__kernel void ndtune_poison(uint words, uint poison, __global uint *out, __local uint *memory) {
    for (uint i = get_local_id(0); i < words; i += get_local_size(0)) memory[i] = poison;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (memory[(get_local_id(0) * 7919 + 1) % words] != poison) *out = 1;
}
`

// poisonLocal fills the local memory of all compute units. Nothing says where the driver places that of the next launch: in most
// cases it is the same memory.
func (l *Launcher) poisonLocal(poison byte) error {
	kernel, err := l.Kernel(poisonSource, "", "ndtune_poison")
	if err != nil {
		return err
	}
	info, err := kernel.WorkGroupInfo()
	if err != nil {
		return err
	}
	words := int(l.Info.LocalMemSize-info.LocalMem) / 4 // a driver may keep some for itself: 1 KiB on an H200
	if words <= 0 {
		return nil
	}
	out, err := l.Context.NewBufferFrom(cl.ReadWrite, make([]byte, 4))
	if err != nil {
		return err
	}
	defer out.Release()
	if err := kernel.SetArgs(uint32(words), uint32(poison)*0x01010101, out, cl.LocalBytes(4*words)); err != nil {
		return err
	}
	groups, local := 8*max(1, l.Info.ComputeUnits), min(32, max(1, l.Info.MaxWorkGroupSize))
	if _, err := l.Times([]Launch{{kernel, Line(groups, local)}}, 1); err != nil {
		return fmt.Errorf("fill the local memory: %w", err)
	}
	return nil
}

// contents reads the buffers and images.
func (r *rehearsal) contents() ([][]byte, error) {
	all := make([][]byte, len(r.infos))
	for i, b := range r.buffers {
		if b == nil {
			continue
		}
		a, err := r.read(i, nil)
		if err != nil {
			return nil, fail(tune.Runtime, "%v", err)
		}
		all[i] = a.Bytes
	}
	return all, nil
}
