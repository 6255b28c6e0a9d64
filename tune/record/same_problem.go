package record

import (
	"fmt"
	"slices"
)

// SameProblem tells whether results under two headers can be compared, on whatever devices they
// were measured: they have one digest, or, where one has none, the same parameters and the same
// objective, and the same kernel and problem size where both are known. Otherwise it says what
// differs.
func (h Header) SameProblem(other Header) error {
	if h.Digest != "" && other.Digest != "" {
		if h.Digest != other.Digest {
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
	var names []string
	for _, p := range h.Parameters {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return names
}

func objectiveText(h Header) string {
	if h.Objective.Maximize {
		return objectiveName(h.Objective) + ", maximised"
	}
	return objectiveName(h.Objective) + ", minimised"
}
