package judge

// A Judgement is the value of the times of a configuration.
type Judgement struct {
	Metrics   []MetricValue // in the order of problem.Problem.MetricNames
	Objective float64       // NaN if it cannot be computed or ranked
}

// Metric returns the value of the named metric.
func (j Judgement) Metric(name string) (float64, bool) { return Named(j.Metrics, name) }

// A MetricValue is a metric of a result.
type MetricValue struct {
	Name  string
	Value float64
}

// Named returns the value of the named metric.
func Named(metrics []MetricValue, name string) (float64, bool) {
	for _, m := range metrics {
		if m.Name == name {
			return m.Value, true
		}
	}
	return 0, false
}
