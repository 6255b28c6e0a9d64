package scaffold

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/loop"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
	"github.com/ndtune/ndtune/tune/worker"
)

// repetitions is how often a captured launch is made here: more often if its work-items may change the output by their order.
const repetitions, moreRepetitions = 2, 8

// verify repeats the launch, and chooses how its outputs are compared with those of the application.
func (p *captured) verify(ctx context.Context, c Compiler, out string) error {
	v := p.Definition.Verify
	p.Definition.Verify = nil // until it is known how
	p.written = append(p.written, out)
	if err := p.Write(out); err != nil {
		return err
	}
	o := spec.Options{Parameters: map[string][]string{}}
	for name, value := range p.Defaults {
		o.Parameters[name] = []string{space.FormatValue(value)}
	}
	s, err := spec.Load(out, o)
	if err != nil {
		return faultf("%s: the launch has no specification: %w", p.launch.Folder, err)
	}
	outputs := map[int]*comparison{}
	for i, a := range s.Problem.Arguments() {
		if a.Output {
			_, after, err := p.launch.Content(i)
			if err != nil {
				return err
			}
			outputs[i] = &comparison{want: &array.Array{Type: a.Element.Type, Struct: a.Element.Struct, Bytes: after}}
		}
	}
	if err := p.repeat(ctx, c, s.Problem, outputs); err != nil {
		return err
	}
	tolerance, exact := 0.0, false
	for i, o := range outputs {
		needed := p.conclude(i, o, v)
		tolerance, exact = max(tolerance, needed), exact || o.want.Struct != nil || isInteger(o.want.Type)
	}
	if len(v.Files) == 0 {
		p.Remark("verify", "DECIDE: the launch changed no buffer that can be compared.")
		return nil
	}
	p.Definition.Verify = v
	p.Remark("verify", "The reference is what the application had in its buffers after the launch. Without atol and rtol, floats may differ\n"+
		"by 1e-6 + 1e-4 of the reference, and integers not at all.")
	if tolerance > 0 {
		v.ATol, v.RTol = strconv.FormatFloat(tolerance, 'g', -1, 64), "1e-4"
		if exact { // the tolerance holds for integers, too
			v.RTol = "0"
		}
		p.Remark("verify", "DECIDE: is atol small enough? Repetitions of the launch need it.")
	}
	return nil
}

// repeat makes the launch some times, and compares its outputs.
func (p *captured) repeat(ctx context.Context, c Compiler, of *problem.Problem, outputs map[int]*comparison) error {
	workers := worker.NewReserve(nil)
	defer workers.Close()
	launches := repetitions
	for name := range p.reach {
		if strings.HasPrefix(name, "atom") {
			launches = moreRepetitions
			p.Remark("verify", "The kernel has atomic functions: if the order of work-items changes an output, compare: {NAME: {as: multiset}}\n"+
				"sorts it.")
			break
		}
	}
	folder, err := os.MkdirTemp("", "ndtune-capture-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	for range launches {
		r, err := launchOnce(ctx, c, of, workers, folder)
		if err != nil {
			return err
		}
		if r.Status != tune.Correct {
			p.Remark("verify", "DECIDE: the launch fails here (%s): %q.", r.Status, tune.Headline(r.Status, r.Reason))
			return nil
		}
		for i, o := range outputs {
			got, _, err := array.ReadNPY(r.Files[p.Definition.Arguments[i].Name])
			if err != nil {
				return err
			}
			o.add(got.Bytes)
		}
	}
	return nil
}

// launchOnce makes the launch in a worker, and keeps the outputs in a folder.
func launchOnce(ctx context.Context, c Compiler, of *problem.Problem, workers *worker.Reserve, folder string) (r tune.Result, err error) {
	pool, err := worker.Open(ctx, []device.Listed{c.Device}, of, worker.Options{
		Single: true, Iterations: device.Untimed, BuildTimeout: c.Timeout, Outputs: folder, Reserve: workers,
	})
	if err != nil {
		return r, err
	}
	defer pool.Close()
	outcome, err := loop.Run(ctx, of, pool, loop.Options{Finalists: -1, Untimed: true})
	if err == nil && len(outcome.Results) == 0 {
		err = cmp.Or(ctx.Err(), fmt.Errorf("the captured launch could not be repeated: %s", outcome.Cause))
	}
	if err != nil {
		return r, err
	}
	return outcome.Results[0], nil
}

// A comparison is that of an output of the application with those of repetitions of its launch.
type comparison struct {
	want    *array.Array
	differs bool
	far     bool    // by more than the default tolerance
	changed bool    // in more than the order of its elements
	worst   float64 // the largest difference
}

// add compares the output of a repetition.
func (c *comparison) add(content []byte) {
	if bytes.Equal(content, c.want.Bytes) {
		return
	}
	got := &array.Array{Type: c.want.Type, Struct: c.want.Struct, Bytes: content}
	c.differs = true
	c.far = c.far || score.Tolerance{Default: true}.Compare("", got, c.want) != nil
	c.changed = c.changed || !sameMultiset(got, c.want)
	if m, err := array.Compare(got, c.want, 0, 0); err != nil { // structs
		c.worst = math.Inf(1)
	} else if m != nil {
		c.worst = max(c.worst, m.MaxError)
	}
}

// conclude chooses how output i is compared: as a multiset if repetitions of the launch only change its order, else by its numbers. It
// returns the absolute tolerance that these need, 0 for the default.
func (p *captured) conclude(i int, c *comparison, v *definition.Verification) (atol float64) {
	argument, field := &p.Definition.Arguments[i], fmt.Sprintf("arguments[%d]", i)
	switch tolerance := math.Pow(10, math.Ceil(math.Log10(2*c.worst))); {
	case !c.differs:
	case c.far && c.changed && tolerance > 0.1*largest(c.want):
		argument.Output = false
		delete(v.Files, argument.Name)
		p.Remark(field, "DECIDE: %s is not compared: repetitions of the launch leave other content in it than the application had.",
			argument.Name)
	case !c.far:
		p.Remark(field, "Repetitions of the launch differ from the application in some bits, within the tolerance.")
	case !c.changed:
		v.Compare[argument.Name] = definition.Comparison{As: array.Multiset}
		p.Remark(field, "Repetitions of the launch have the same elements in another order, so they are sorted before they are compared.")
	default:
		p.Remark(field, "Repetitions of the launch differ from the application by up to %g, which atol allows for.", c.worst)
		return tolerance
	}
	return 0
}

// sameMultiset reports whether two arrays have the same elements in any order.
func sameMultiset(a, b *array.Array) bool {
	x, err1 := array.Multiset.Apply(a, 1)
	y, err2 := array.Multiset.Apply(b, 1)
	return err1 == nil && err2 == nil && bytes.Equal(x.Bytes, y.Bytes)
}

// largest returns the largest magnitude of the numbers of an array.
func largest(a *array.Array) (most float64) {
	for i := range len(a.Bytes) / a.Type.Scalar().Size() {
		most = max(most, math.Abs(a.Float(i)))
	}
	return most
}
