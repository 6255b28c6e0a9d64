package problem

import (
	"fmt"
	"math"
	"slices"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/hardware"
)

// A Launch is one launch of a kernel with its arguments.
type Launch struct {
	Kernel  string
	NDRange NDRange

	// By place in the kernel: the index of the problem's argument, whose buffers may have changed places;
	// the bytes of a scalar; and the bytes of local memory.
	Arguments  []int
	Scalars    [][]byte
	LocalBytes []int
}

// CUDA has no driver that chooses block sizes, and limits of the blocks in x, y and z, which are the same for all cards.
const noBlockSize = "the block size is 0, which leaves it to the driver; CUDA C needs one"

var maxCUDAGrid = [3]int{math.MaxInt32, 65535, 65535}

func (l *Launch) exceededLimit(d hardware.Device) string {
	r := l.NDRange
	if n := r.WorkItems(); d.MaxWorkGroupSize > 0 && n > d.MaxWorkGroupSize {
		return fmt.Sprintf("work-group of %s = %d work-items > device limit %d", figure.Sizes(r.WorkGroup()), n, d.MaxWorkGroupSize)
	}
	if d.IsCUDA() && r.Local[0] == 0 {
		return noBlockSize
	}
	for i, n := range r.Grid {
		if d.IsCUDA() && n > maxCUDAGrid[i] {
			return fmt.Sprintf("%d blocks in dimension %s > CUDA's limit %d", n, definition.Dimensions[i], maxCUDAGrid[i])
		}
	}
	for i, n := range r.WorkGroup() {
		if i < len(d.MaxWorkItemSizes) && n > d.MaxWorkItemSizes[i] {
			return fmt.Sprintf("%d work-items in dimension %s > device limit %d", n, definition.Dimensions[i], d.MaxWorkItemSizes[i])
		}
	}
	local := 0.0 // cannot overflow, and is exact where it matters
	for _, n := range l.LocalBytes {
		local += float64(n)
	}
	if d.LocalMemory > 0 && local > float64(d.LocalMemory) {
		return fmt.Sprintf("local memory %.0f B > device limit %d B", local, d.LocalMemory)
	}
	return ""
}

// A Part is what one kernel of a pipeline does in one run of the pipeline.
type Part struct {
	Kernel   string  `json:"kernel"`
	Launches int     `json:"launches"`
	Global   []int   `json:"global,omitempty"` // of every launch, as Local and Offset; nil if the launches have different ones
	Local    []int   `json:"local,omitempty"`
	Offset   []int   `json:"offset,omitempty"`
	Time     float64 `json:"time,omitzero"` // of all its launches in milliseconds; in a result, the median of the timed runs
}

// String describes the part: «merge, 45 launches: global size 65536, local size 256, 1.210 ms».
func (p Part) String() string {
	text := fmt.Sprintf("%s, %d launches: ", p.Kernel, p.Launches)
	if p.Launches == 1 {
		text = p.Kernel + ": "
	}
	if p.Global == nil {
		text += "sizes that change, "
	} else {
		text += figure.Launch(p.Global, p.Local, p.Offset) + ", "
	}
	return text + figure.Milliseconds(p.Time) + " ms"
}

// Parts returns the parts of launches by kernel, in the order in which the kernels come first. Their times are 0.
func Parts(launches []Launch) []Part {
	var parts []Part
	for _, l := range launches {
		global, local, offset := l.NDRange.Global(), l.NDRange.WorkGroup(), l.NDRange.GlobalOffset()
		i := slices.IndexFunc(parts, func(p Part) bool { return p.Kernel == l.Kernel })
		if i < 0 {
			parts = append(parts, Part{Kernel: l.Kernel, Launches: 1, Global: global, Local: local, Offset: offset})
			continue
		}
		p := &parts[i]
		p.Launches++
		if !slices.Equal(p.Global, global) || !slices.Equal(p.Local, local) || !slices.Equal(p.Offset, offset) {
			p.Global, p.Local, p.Offset = nil, nil, nil
		}
	}
	return parts
}

// A Step is a compiled [definition.Stage], the launch of a kernel or a list of steps. A problem that is no pipeline has one, of its kernel with
// all arguments.
type Step struct {
	Kernel string  // "": Steps
	name   *Option // the kernel's in a configuration; nil: Kernel
	Shape
	Arguments []int // in the order of the kernel: indices of Problem.Arguments
	Repeated  bool  // every launch has the same sizes and scalars
	Steps     []Step

	Repeat *expression.Expression // a number or a condition; nil: once
	Index  string                 // the name of the number of the repetition, from 0; "": none
	Swap   [2]int                 // the buffers that change places between repetitions; equal: none
}

// Expressions returns the expressions of the sizes of a step and of those within it, without those of arguments.
func (s *Step) Expressions() []*expression.Expression {
	all := append(s.Shape.Expressions(), s.Repeat)
	if s.name != nil {
		all = append(all, s.name.Values...)
	}
	for _, inner := range s.Steps {
		all = append(all, inner.Expressions()...)
	}
	return slices.DeleteFunc(all, func(e *expression.Expression) bool { return e == nil })
}

// maxLaunches is the largest number of launches of one run.
const maxLaunches = 1 << 16

// repetitions returns the value of repeat. A condition is 0 or 1.
func repetitions(e *expression.Expression, env map[string]any) (int, error) {
	v, err := e.Eval(env)
	if holds, ok := v.(bool); err == nil && ok {
		if holds {
			return 1, nil
		}
		return 0, nil
	}
	return natural("repeat", e, env)
}

// derive derives the launches of steps in an environment. The holders are, by argument, those in whose buffers the contents are
// after the launches.
func derive(steps []Step, arguments []Argument, env map[string]any) (launches []Launch, holders []int, err error) {
	d := derivation{arguments: arguments, env: env, holders: make([]int, len(arguments)), launches: make([]Launch, 0, 1)}
	for i := range d.holders {
		d.holders[i] = i
	}
	if err := d.run(steps); err != nil {
		return nil, nil, err
	}
	if len(d.launches) == 0 {
		return nil, nil, fmt.Errorf("no kernel is launched: every repeat is 0")
	}
	return d.launches, d.holders, nil
}

// A derivation derives the launches of a configuration.
type derivation struct {
	arguments []Argument
	env       map[string]any
	launches  []Launch
	holders   []int             // by argument: the argument in whose buffer its content is
	swapped   bool              // holders were changed
	same      map[*Step]*Launch // the launches of steps that are always the same, but for their buffers; nil: no loop yet
}

func (d *derivation) run(steps []Step) error {
	for i := range steps {
		s, n := &steps[i], 1
		if s.Repeat != nil {
			var err error
			if n, err = repetitions(s.Repeat, d.env); err != nil {
				return err
			}
		}
		for k := range n {
			if k == 1 && d.same == nil {
				d.same = map[*Step]*Launch{}
			}
			if a, b := s.Swap[0], s.Swap[1]; k > 0 && a != b {
				d.holders[a], d.holders[b] = d.holders[b], d.holders[a]
				d.swapped = true
			}
			if s.Index != "" {
				d.env[s.Index] = k
			}
			if err := d.once(s); err != nil {
				return err
			}
		}
		if s.Index != "" {
			delete(d.env, s.Index)
		}
	}
	return nil
}

// once adds the launches of one repetition.
func (d *derivation) once(s *Step) error {
	if s.Kernel == "" {
		return d.run(s.Steps)
	}
	if len(d.launches) == maxLaunches {
		return fmt.Errorf("the pipeline has more than %d launches", maxLaunches)
	}
	l := d.same[s]
	if l == nil {
		var err error
		if l, err = d.launch(s); err != nil {
			return err
		}
		if s.Repeated && d.same != nil {
			d.same[s] = l
		}
	}
	next := *l
	next.Arguments = s.Arguments
	if d.swapped {
		next.Arguments = make([]int, len(s.Arguments))
		for place, i := range s.Arguments {
			next.Arguments[place] = d.holders[i]
		}
	}
	d.launches = append(d.launches, next)
	return nil
}

// launch derives a launch without its buffers.
func (d *derivation) launch(s *Step) (*Launch, error) {
	r, err := s.Shape.NDRange(d.env)
	if err != nil {
		return nil, err
	}
	kernel := s.Kernel
	if s.name != nil {
		if kernel, err = s.name.In(d.env); err != nil {
			return nil, fmt.Errorf("kernel.name: %w", err)
		}
	}
	l := &Launch{Kernel: kernel, NDRange: r, Scalars: make([][]byte, len(s.Arguments)), LocalBytes: make([]int, len(s.Arguments))}
	for place, i := range s.Arguments {
		a := &d.arguments[i]
		switch a.Kind {
		case definition.ScalarArgument:
			l.Scalars[place], err = a.ScalarBytes(d.env)
		case definition.LocalArgument:
			var elements int
			if elements, err = positive("local memory", a.Elements, d.env); err == nil {
				l.LocalBytes[place], err = multiply(elements, a.Element.Size())
			}
		}
		if err != nil {
			return nil, fmt.Errorf("argument %s: %w", a.Name, err)
		}
	}
	return l, nil
}
