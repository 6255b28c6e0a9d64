package matmul

// How often something is repeated, in milliseconds of what was timed.
const (
	enough   = 100.0  // after which the least number is enough
	tooLong  = 2000.0 // after which any number is
	atOnce   = 20.0   // of launches that are enqueued without waiting
	mostRuns = 200    // unless more are wanted
)

// repeat times something until it was done at least so often, and then for 100 ms in all or 200
// times, or until it took 2 s. What takes no longer than 20 ms is first done for nothing: caches and
// clock rates are then what they are in use.
func repeat(least int, run func(times int) ([]float64, error)) ([]float64, error) {
	times, err := run(1)
	if err != nil {
		return nil, err
	}
	each := times[0]
	if each <= atOnce {
		if _, err := run(batchOf(each, least)); err != nil {
			return nil, err
		}
		times = nil
	}
	sum := 0.0
	for _, t := range times {
		sum += t
	}
	most := max(mostRuns, least)
	for sum < tooLong && (len(times) < least || len(times) < mostRuns && sum < enough) {
		more, err := run(batchOf(each, min(least, most-len(times))))
		if err != nil {
			return nil, err
		}
		for _, t := range more {
			sum, each = sum+t, t
		}
		times = append(times, more...)
	}
	return times, nil
}

// batchOf is how often what takes so long is done at once, at most.
func batchOf(each float64, most int) int {
	if each <= 0 {
		return 1
	}
	return max(1, min(most, int(atOnce/each)))
}
