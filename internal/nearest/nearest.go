// Package nearest finds the name that somebody probably meant.
package nearest

import (
	"strings"

	"github.com/xrash/smetrics"
)

// Name returns the candidate that is closest to name by edit distance, without
// regard to case, or "" where none is close enough to be a likely slip of the pen: at
// most a third of the longer name's bytes, and never all of them, may differ.
func Name(name string, candidates []string) string {
	best, bestDistance, longer := "", 0, 0
	lower := strings.ToLower(name)
	for _, candidate := range candidates {
		other := strings.ToLower(candidate)
		d := smetrics.WagnerFischer(lower, other, 1, 1, 1)
		if best == "" || d < bestDistance {
			best, bestDistance, longer = candidate, d, max(len(lower), len(other))
		}
	}
	if best == "" || bestDistance > max(1, longer/3) || bestDistance >= longer {
		return ""
	}
	return best
}

// Hint is «; did you mean "x"?» for the nearest candidate, or "" where there is none.
func Hint(name string, candidates []string) string {
	if n := Name(name, candidates); n != "" {
		return `; did you mean "` + n + `"?`
	}
	return ""
}
