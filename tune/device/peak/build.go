package peak

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/kernels"
)

// A built kernel. The meter owns its program.
type built struct{ *cl.Kernel }

// A define is a macro that a kernel is built with.
type define struct{ name, value string }

func number(name string, n int) define { return define{name, strconv.Itoa(n)} }

// build makes a kernel of kernels/peak. Kernels of one file and the same macros share a program,
// which is compiled once: on a CPU, that is most of what measuring costs.
func (m *Meter) build(file, name string, defines ...define) (*built, error) {
	source, err := fs.ReadFile(kernels.FS, "peak/"+file)
	if err != nil {
		return nil, err
	}
	var prologue strings.Builder
	for _, d := range defines {
		fmt.Fprintf(&prologue, "#define %s %s\n", d.name, d.value)
	}
	program, err := m.compiled(prologue.String() + string(source))
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", name, brief(err))
	}
	k, err := program.NewKernel(name)
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", name, err)
	}
	return &built{k}, nil
}

// compiled is the program of a source.
func (m *Meter) compiled(source string) (*cl.Program, error) {
	if p := m.programs[source]; p != nil {
		return p, nil
	}
	p, err := m.context.NewProgram(source)
	if err != nil {
		return nil, err
	}
	if err := p.Build("-cl-mad-enable", m.device); err != nil {
		p.Release()
		return nil, err
	}
	m.programs[source] = p
	return p, nil
}

// brief is the error of a build with as much of its log as says what is wrong.
func brief(err error) error {
	var failed *cl.BuildError
	if !errors.As(err, &failed) {
		return err
	}
	for line := range strings.Lines(failed.Log) {
		if strings.Contains(strings.ToLower(line), "error") {
			return fmt.Errorf("%w: %s", failed.Err, strings.TrimSpace(line))
		}
	}
	return failed.Err
}

func (b *built) release() { b.Kernel.Release() }

// vectorOf is a scalar type with lanes: float, float4.
func vectorOf(scalar string, lanes int) string {
	if lanes == 1 {
		return scalar
	}
	return scalar + strconv.Itoa(lanes)
}

// sumLanes is the macro sum_lanes: the sum of the lanes of v, each converted to a type.
func sumLanes(lanes int, as string) define {
	terms := make([]string, lanes)
	for i := range terms {
		terms[i] = fmt.Sprintf("(%s)(v).s%x", as, i)
	}
	if lanes == 1 {
		terms[0] = fmt.Sprintf("(%s)(v)", as)
	}
	return define{"sum_lanes(v)", "(" + strings.Join(terms, " + ") + ")"}
}

// ramp is the vector 0, 1, 2, … of a type.
func ramp(vector string, lanes int) define {
	numbers := make([]string, lanes)
	for i := range numbers {
		numbers[i] = strconv.Itoa(i)
	}
	return define{"ramp", "((" + vector + ")(" + strings.Join(numbers, ", ") + "))"}
}
