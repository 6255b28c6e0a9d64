package problem

// NDRangeOf is the launch of a step in an environment, as launches are derived.
func NDRangeOf(s Step, environment map[string]any) (NDRange, error) {
	return (&shape{s.ProblemSize, s.BlockSize, s.GridDiv, s.GlobalOffset}).ndrange(environment)
}
