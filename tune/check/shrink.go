package check

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/judge"
	"github.com/ndtune/ndtune/tune/launch"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/task"
)

// A Shrinker makes the problem of one configuration, at a size that a simulator can run.
type Shrinker struct {
	Definition task.Definition

	// Set are values of constants, which leave all others as they are; nil: the sizes shrink by rule.
	Set map[string]space.Value
}

// maxCells bounds the problem size of a configuration that shrinks by rule to more than one work-group in each dimension.
const maxCells = 50 * 50

// Problem returns the problem with one configuration. Shrunk describes the constants that have other values than in the definition.
//
// By rule, a constant shrinks that a problem size reads. It becomes the least number that is divisible by the same numbers as before,
// of all that the specification and the source contain and that the configuration has, and into which a work-group fits
// three times in each dimension. So a kernel that takes whole tiles for granted still gets them, and one that does not still has
// edges, and a group inside. A power of two stays one. If three groups in each dimension are too many for a simulator, there are two,
// or one.
func (s *Shrinker) Problem(ctx context.Context, c space.Configuration, d hardware.Device) (p *problem.Problem, shrunk string, err error) {
	narrow := narrowed(s.Definition, c)
	narrow.Verify = nil
	if s.Set != nil {
		return made(ctx, narrow, s.Set, d)
	}
	full, _, err := made(ctx, narrow, nil, d)
	if err != nil {
		return nil, "", err
	}
	sizes := s.sizes()
	v, err := full.Variant(c, d)
	if err != nil || len(sizes) == 0 {
		return full, "", err
	}
	divisors := s.divisors(v)
	for _, groups := range []int{3, 2, 1} {
		set := map[string]space.Value{}
		for name, n := range sizes {
			if small := smaller(n, groups*s.group(name, v), divisors); small < n {
				set[name] = small
			}
		}
		p, text, err := made(ctx, narrow, set, d)
		if err != nil {
			continue // a restriction, or a size that no longer fits
		}
		if groups == 1 || cells(p) <= maxCells {
			return p, text, nil
		}
	}
	return full, "", nil
}

// narrowed returns a definition with one configuration, without what only a search needs.
func narrowed(d task.Definition, c space.Configuration) task.Definition {
	d.Metrics, d.Roofline, d.BuildRestrictions, d.Baseline = nil, nil, nil, nil
	d.Objective, d.Measure = judge.Objective{}, task.Measure{}
	d.Parameters = slices.Clone(d.Parameters)
	for i := range d.Parameters {
		d.Parameters[i].Values = []space.Value{c.At(i)}
	}
	return d
}

// made returns the problem of a definition with other values of constants. It must have its configuration.
func made(ctx context.Context, d task.Definition, set map[string]space.Value, on hardware.Device) (*problem.Problem, string, error) {
	text := ""
	d.Constants = slices.Clone(d.Constants)
	for i, c := range d.Constants {
		if value, given := set[c.Name]; given && !space.SameValue(value, c.Value) {
			var err error
			if d.Constants[i], err = c.With(value); err != nil {
				return nil, "", err
			}
			text += fmt.Sprintf(", %s=%s", c.Name, space.FormatValue(value))
		}
	}
	p, err := problem.New(d)
	if err != nil {
		return nil, "", err
	}
	all, err := p.Space(ctx, on)
	if err != nil {
		return nil, "", err
	}
	if _, err := p.Variant(all.At(0), on); err != nil {
		return nil, "", err
	}
	if text != "" {
		text = text[2:]
	}
	return p, text, nil
}

// cells returns the product of the problem size, or 0 if it is not fixed.
func cells(p *problem.Problem) int {
	size := p.FixedProblemSize()
	if size == nil {
		return 0
	}
	n := 1
	for _, side := range size {
		n *= side
	}
	return n
}

var (
	word   = regexp.MustCompile(`[A-Za-z_]\w*`)
	number = regexp.MustCompile(`\b[0-9]+\b`)
)

// leastSize is the least constant that shrinks.
const leastSize = 32

// sizes returns the int constants that problem sizes read, and those that sizes of arguments read and no kernel.
func (s *Shrinker) sizes() map[string]int {
	var texts []task.Expr
	texts = append(texts, s.Definition.ProblemSize...)
	for _, stage := range allStages(s.Definition.Stages) {
		texts = append(texts, stage.ProblemSize...)
	}
	for _, a := range s.Definition.Arguments {
		texts = append(texts, a.Size)
	}
	for _, c := range s.Definition.Constants {
		if text, ok := c.Value.(string); ok && c.Host { // it is computed from others
			texts = append(texts, text)
		}
	}
	read := map[string]bool{}
	for _, text := range texts {
		for _, name := range word.FindAllString(text, -1) {
			read[name] = true
		}
	}
	sizes := map[string]int{}
	for _, c := range s.Definition.Constants {
		if n, ok := c.Number().(int); ok && read[c.Name] && n > leastSize {
			sizes[c.Name] = n
		}
	}
	return sizes
}

func allStages(stages []task.Stage) (all []task.Stage) {
	for _, s := range stages {
		all = append(append(all, s), allStages(s.Stages)...)
	}
	return all
}

// maxLiteral is the largest number of a text that can mean a tile or the width of a vector.
const maxLiteral = 64

// divisors returns the numbers by which a size must stay divisible, or stay not divisible: those of the configuration, of its
// launches, of the specification and of the source.
func (s *Shrinker) divisors(v *launch.Variant) []int {
	all := map[int]bool{}
	add := func(n int) {
		if n > 1 && n <= 1024 {
			all[n] = true
		}
	}
	for i := range v.Configuration.Len() {
		if n, ok := v.Configuration.At(i).(int); ok {
			add(n)
		}
	}
	for _, l := range v.Launches {
		for _, n := range l.NDRange.Local {
			add(n)
		}
	}
	texts := slices.Concat(s.Definition.ProblemSize, s.Definition.GridDiv[0], s.Definition.GridDiv[1], s.Definition.GridDiv[2])
	for _, a := range s.Definition.Arguments {
		texts = append(texts, a.Size, a.Fill.Expression)
	}
	for _, text := range append(texts, comments.ReplaceAllString(v.Source, "")) {
		for _, digits := range number.FindAllString(text, -1) {
			if n, err := strconv.Atoi(digits); err == nil && n <= maxLiteral {
				add(n)
			}
		}
	}
	for i := range 3 {
		add(gridDivisor(s.Definition, v, i))
	}
	return slices.Sorted(maps.Keys(all))
}

// comments matches what the numbers of a source do not count in: comments, and #line directives.
var comments = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/|(?m)^\s*#\s*line[^\n]*`)

// extent returns how much of a problem size one work-group takes in a dimension, if all work-groups but the last are full.
func extent(v *launch.Variant, dimension int) int {
	most := 0
	for _, l := range v.Launches {
		most = max(most, l.NDRange.Local[dimension])
	}
	return most
}

// group returns how much of a constant one work-group takes, in the largest of the dimensions whose problem size reads it; 1 if none does.
func (s *Shrinker) group(constant string, v *launch.Variant) int {
	most := 1
	shapes := [][]task.Expr{s.Definition.ProblemSize}
	for _, stage := range allStages(s.Definition.Stages) {
		shapes = append(shapes, stage.ProblemSize)
	}
	for _, shape := range shapes {
		for i, text := range shape {
			if !slices.Contains(word.FindAllString(text, -1), constant) {
				continue
			}
			n := extent(v, i)
			if product := gridDivisor(s.Definition, v, i); product > 0 {
				n = product
			}
			most = max(most, n)
		}
	}
	return most
}

// gridDivisor returns the product of the divisors of a dimension that are parameters or numbers, 0 if there are others.
func gridDivisor(d task.Definition, v *launch.Variant, dimension int) int {
	if d.GridDiv[dimension] == nil {
		return 0
	}
	product := 1
	for _, text := range d.GridDiv[dimension] {
		n, err := strconv.Atoi(text)
		if value, found := v.Configuration.Get(text); found {
			n, found = value.(int)
			if !found {
				return 0
			}
		} else if err != nil {
			return 0
		}
		product *= n
	}
	return product
}

// smaller returns the least number from a bound on that is divisible by the same divisors as n; n if there is none.
func smaller(n, least int, divisors []int) int {
	power := n&(n-1) == 0
candidates:
	for small := max(least, 2); small < n; small++ {
		if power && small&(small-1) != 0 {
			continue
		}
		for _, divisor := range divisors {
			if (n%divisor == 0) != (small%divisor == 0) {
				continue candidates
			}
		}
		return small
	}
	return n
}
