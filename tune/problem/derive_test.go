package problem

// NDRangeOf is the launch of a step in an environment, as launches are derived.
func NDRangeOf(s Step, environment map[string]any) (NDRange, error) {
	return (&shape{s.ProblemSize, s.BlockSize, s.GridDiv, s.GlobalOffset}).ndrange(environment)
}

// LaunchesIn derives the launches of a problem in an environment, as [Problem.Variant] does.
func (p *Problem) LaunchesIn(environment map[string]any) (*Variant, error) {
	v := &Variant{}
	return v, p.fillLaunches(v, environment)
}
