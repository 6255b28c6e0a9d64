package record

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// sameRun tells whether results under the header have and those under the header want can
// stand in one record, and if not, why.
func sameRun(have, want Header) error {
	if have.Digest != want.Digest && !have.InOtherSpace(want) {
		difference := headerDifference(have, want, "there", "here")
		return fmt.Errorf("it holds results of another problem: %s, not %s; %s", have.problem(), want.problem(), difference)
	}
	if have.Iterations != want.Iterations {
		return fmt.Errorf("it holds times of %d launches, and this run takes %d (--iterations): they cannot be ranked together",
			have.Iterations, want.Iterations)
	}
	if err := hardware.SameKind(have.Device, want.Device); err != nil {
		return fmt.Errorf("it holds results of another device, %q, and this run is on %q: %w", have.Device.Name, want.Device.Name, err)
	}
	err := sameParameters(have.Parameters, want.Parameters)
	if err == nil && have.Digest != want.Digest {
		err = errors.New("the restrictions differ")
	}
	if err != nil {
		return fmt.Errorf("it holds results of another search space: %w", err)
	}
	return nil
}

// problem names the problem for people.
func (h Header) problem() string {
	text := h.Kernel
	if h.Source != "" {
		text += " of " + h.Source
	}
	digest := h.Digest
	if len(digest) > 19 {
		digest = digest[:19] + "…" // enough to tell them apart
	}
	return fmt.Sprintf("%s (digest %s)", text, digest)
}

func sameParameters(have, want []space.Parameter) error {
	if len(have) != len(want) {
		return fmt.Errorf("%d parameters, not %d", len(have), len(want))
	}
	for i, p := range have {
		q := want[i]
		if p.Name != q.Name {
			return fmt.Errorf("parameter %d is %s, not %s", i+1, p.Name, q.Name)
		}
		if len(p.Values) != len(q.Values) {
			return fmt.Errorf("%s has %d values, not %d", p.Name, len(p.Values), len(q.Values))
		}
		for j, v := range p.Values {
			if !space.SameValue(v, q.Values[j]) {
				return fmt.Errorf("value %d of %s is %s, not %s", j+1, p.Name, space.FormatValue(v), space.FormatValue(q.Values[j]))
			}
		}
	}
	return nil
}

// headerDifference is the first thing that two headers differ in, for a person to see. It says where
// the one and the other stand. If both have a digest of the measurement, the values of parameters are no difference.
func headerDifference(have, want Header, there, here string) string {
	parameters := parametersText
	if have.MeasurementDigest != "" && want.MeasurementDigest != "" && have.MeasurementDigest != want.MeasurementDigest {
		parameters = func(all []space.Parameter) string { return strings.Join(sortedNames(Header{Parameters: all}), ", ") }
	}
	for _, d := range []struct {
		what       string
		have, want any
	}{
		{"the kernel", have.Kernel, want.Kernel},
		{"the constants", constantsText(have.Constants), constantsText(want.Constants)},
		{"the problem size", have.ProblemSize, want.ProblemSize},
		{"the parameters", parameters(have.Parameters), parameters(want.Parameters)},
		{"the objective", have.Objective, want.Objective},
		{"the metrics", have.Metrics, want.Metrics},
		{"the caches", cmp.Or(have.Cache, definition.CacheWarm), cmp.Or(want.Cache, definition.CacheWarm)},
	} {
		if a, b := fmt.Sprint(d.have), fmt.Sprint(d.want); a != b {
			return fmt.Sprintf("%s %s: %s, %s: %s", d.what, there, a, here, b)
		}
	}
	return "the source, the data or the verification differ"
}

func constantsText(constants []definition.Constant) string {
	texts := each.Of(constants, func(c definition.Constant) string { return fmt.Sprintf("%s=%v", c.Name, c.Value) })
	return strings.Join(texts, ", ")
}

func parametersText(parameters []space.Parameter) string {
	texts := each.Of(parameters, func(p space.Parameter) string {
		return p.Name + "=" + strings.Join(each.Of(p.Values, space.FormatValue), ",")
	})
	return strings.Join(texts, " ")
}

// SameProblem tells whether results under two headers can be compared, on whatever devices they
// were measured: they have one digest, of both languages if there are two, or, where one has none, the same parameters and the same
// objective, and the same kernel and problem size where both are known. Otherwise it says what
// differs.
func (h Header) SameProblem(other Header) error {
	if h.Digest != "" && other.Digest != "" {
		if cmp.Or(h.OpenCLDigest, h.Digest) != cmp.Or(other.OpenCLDigest, other.Digest) {
			return fmt.Errorf("%s, and %s; %s", h.problem(), other.problem(), headerDifference(h, other, "in the first", "in the second"))
		}
		return nil
	}
	a, b := sortedNames(h), sortedNames(other)
	switch {
	case !slices.Equal(a, b):
		return fmt.Errorf("the parameters are %v, and %v", a, b)
	case objectiveText(h) != objectiveText(other):
		return fmt.Errorf("the objective is %s, and %s", objectiveText(h), objectiveText(other))
	case h.Kernel != "" && other.Kernel != "" && h.Kernel != other.Kernel:
		return fmt.Errorf("the kernel is %s, and %s", h.Kernel, other.Kernel)
	case len(h.ProblemSize) > 0 && len(other.ProblemSize) > 0 && !slices.Equal(h.ProblemSize, other.ProblemSize):
		return fmt.Errorf("the problem size is %v, and %v", h.ProblemSize, other.ProblemSize)
	}
	return nil
}

func sortedNames(h Header) []string {
	names := each.Of(h.Parameters, func(p space.Parameter) string { return p.Name })
	slices.Sort(names)
	return names
}

func objectiveText(h Header) string {
	direction := map[bool]string{false: ", minimised", true: ", maximised"}
	return strings.Join(each.Of(h.Objective.All(), func(o score.Objective) string { return o.Name + direction[o.Maximize] }), "; ")
}

// SetObjective replaces the objectives by others that the results have: times, or metrics. It is an error if no correct
// result has one of them. The record then has no final measurement: its finalists were the best by the former objectives.
func (r *Record) SetObjective(o score.Objective) error {
	if _, err := o.Chooser(); err != nil {
		return err
	}
	if former := r.Header.Objective; slices.EqualFunc(o.All(), former.All(), func(a, b score.Objective) bool {
		return a.First().Name == b.First().Name && a.Maximize == b.Maximize
	}) {
		r.Header.Objective.Choose = o.Choose
		return nil
	}
	known := append(slices.Clone(score.TimeNames), r.MetricNames()...)
	for i, one := range o.All() {
		switch {
		case !slices.Contains(known, one.Name):
			return fmt.Errorf("it has no %s%s (there are %s)", one.Name, nearest.Hint(one.Name, known), strings.Join(known, ", "))
		case slices.ContainsFunc(o.All()[:i], func(other score.Objective) bool { return other.Name == one.Name }):
			return fmt.Errorf("the objective %s stands twice", one.Name)
		}
	}
	r.Header.Objective = o
	for i := range r.Results {
		result := &r.Results[i]
		if result.Status == tune.Correct {
			result.Objective = o.Value(result.Stats(), result.Metrics)
		}
	}
	tune.ForgetFinals(r.Results)
	return nil
}
