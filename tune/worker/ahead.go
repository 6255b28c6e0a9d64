package worker

import "time"

const (
	// aheadTime is how much measuring may lie ready, built: enough to keep the measuring
	// worker busy, and no more than a run that ends can finish soon.
	aheadTime  = time.Second
	aheadLeast = 2
	aheadMost  = 8 // times the builders
	aheadFirst = 4 // times the builders, as long as nothing was measured
)

// A pace is how long the measuring workers take for a configuration.
type pace struct {
	mean  time.Duration // the later ones count more
	known bool
}

func (p *pace) add(d time.Duration) {
	if !p.known {
		p.mean, p.known = d, true
		return
	}
	p.mean += (d - p.mean) / 8
}

// ahead is how many configurations may lie built and wait to be measured.
func (p *Pool) ahead() int {
	if !p.pace.known {
		return aheadFirst * p.most
	}
	n := aheadTime / max(p.pace.mean, time.Millisecond) * time.Duration(len(p.devices))
	return int(min(max(n, aheadLeast), time.Duration(max(aheadLeast, aheadMost*p.most))))
}
