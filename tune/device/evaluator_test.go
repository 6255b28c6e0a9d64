package device

import (
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/space"
)

func TestEveryFailureIsAResultWithAReason(t *testing.T) {
	modes := []space.Value{1, 3, 4, 5}
	if diesOfLocalMemory(t) {
		modes = modes[:3]
	}
	results := evaluateAll(t, scale(modes...))
	for mode, want := range map[string]struct {
		status tune.Status
		reason string
	}{
		"1": {tune.Correct, ""},
		"3": {tune.Correctness, "element 77"},
		"4": {tune.Compile, "no"},
		"5": {tune.Constraints, "local memory"},
	} {
		if len(modes) == 3 && mode == "5" {
			continue
		}
		for _, block := range []string{"32", "64"} {
			r, ok := results[block+","+mode]
			if !ok || r.Status != want.status || !strings.Contains(r.Reason, want.reason) {
				t.Errorf("mode %s: %s %q, want %s with %q", mode, r.Status, r.Reason, want.status, want.reason)
			}
			if want.status == tune.Correct && (!r.Verified || len(r.Times) != 7 || r.Time() <= 0) {
				t.Errorf("mode %s: verified %v, times %v", mode, r.Verified, r.Times)
			}
		}
	}
}
