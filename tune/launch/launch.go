package launch

import (
	"fmt"
	"slices"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/task"
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

func (l *Launch) exceededLimit(d hardware.Device) string {
	r := l.NDRange
	if n := r.WorkItems(); d.MaxWorkGroupSize > 0 && n > d.MaxWorkGroupSize {
		return fmt.Sprintf("work-group of %s = %d work-items > device limit %d", product(r.WorkGroup()), n, d.MaxWorkGroupSize)
	}
	for i, n := range r.WorkGroup() {
		if i < len(d.MaxWorkItemSizes) && n > d.MaxWorkItemSizes[i] {
			return fmt.Sprintf("%d work-items in dimension %s > device limit %d", n, task.Dimensions[i], d.MaxWorkItemSizes[i])
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
