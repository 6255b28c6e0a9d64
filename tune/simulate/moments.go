package simulate

import "math"

// moments are the count, the mean and the sum of squared deviations of a sample of curves,
// after each evaluation. They are updated by Welford's method and merged by that of Chan,
// Golub and LeVeque (1979), which lose no digits where curves hardly differ.
type moments struct {
	count     int
	mean, sum []float64
}

func newMoments(length int) *moments {
	return &moments{mean: make([]float64, length), sum: make([]float64, length)}
}

func (m *moments) add(curve []float64) {
	m.count++
	weight := 1 / float64(m.count)
	for i, q := range curve {
		d := q - m.mean[i]
		m.mean[i] += d * weight
		m.sum[i] += d * (q - m.mean[i])
	}
}

// merge adds the sample of other.
func (m *moments) merge(other *moments) {
	total := float64(m.count + other.count)
	share := float64(other.count) / total
	for i := range m.mean {
		d := other.mean[i] - m.mean[i]
		m.mean[i] += d * share
		m.sum[i] += other.sum[i] + d*d*float64(m.count)*share
	}
	m.count += other.count
}

// standardErrors are those of the means; NaN for fewer than two curves.
func (m *moments) standardErrors() []float64 {
	e := make([]float64, len(m.sum))
	for i, s := range m.sum {
		e[i] = math.NaN()
		if m.count > 1 {
			e[i] = math.Sqrt(s / float64(m.count-1) / float64(m.count))
		}
	}
	return e
}
