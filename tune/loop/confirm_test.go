package loop

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/space"
)

// A confirming fake answers a [tune.Retest] by the configuration.
type confirming struct {
	fake
	probing
	again func(c space.Configuration) tune.Result
	asked []string
}

func (f *confirming) Probe(_ context.Context, c space.Configuration, _ tune.Retest) (tune.Result, error) {
	f.asked = append(f.asked, c.Key())
	r := f.again(c)
	r.Configuration = c
	return r, nil
}

// TestTheBestIsConfirmed: only a wrong output, or a launch that fails, costs the best its place.
func TestTheBestIsConfirmed(t *testing.T) {
	verified := func(c space.Configuration) tune.Result {
		return tune.Result{Status: tune.Correct, Verified: true, Times: []float64{float64(c.Int("i") + 1)}, Timestamp: time.Now()}
	}
	for _, c := range []struct {
		first    tune.Result // of the retest of configuration 0
		best     string
		asked    string
		compared int
		notes    string
	}{
		{tune.Result{Status: tune.Correct, Compared: 60}, "0", "0", 60, ""},
		{tune.Result{Status: tune.Correct, Compared: 7}, "0", "0", 7, "and its output was right, 7 times: 60 launches take too long."},
		{tune.Result{Status: tune.Timeout, Reason: "a launch took longer than 1s"}, "0", "0", 0, "0 times: timeout: a launch took longer than 1s."},
		{tune.Result{Status: tune.Runtime, Reason: "killed", Doubt: tune.Killed}, "0", "0", 0, "0 times: runtime: killed."},
		{tune.Result{Status: tune.Correctness, Reason: "y is wrong"}, "1", "0 1", 60, "was among the best, and has left: correctness: y is wrong"},
		{tune.Result{Status: tune.Runtime, Reason: "it failed"}, "1", "0 1", 60, "has left: runtime: it failed"},
	} {
		log := &memory{}
		e := &confirming{fake: fake{answer: verified}, again: func(configuration space.Configuration) tune.Result {
			if configuration.Int("i") == 0 {
				return c.first
			}
			return tune.Result{Status: tune.Correct, Compared: 60}
		}}
		o := mustRun(t, line(t, 3), e, Options{Log: log})
		if bestKey(o) != c.best || strings.Join(e.asked, " ") != c.asked || o.Best.Compared != c.compared || !strings.Contains(strings.Join(o.Warnings, "\n"), c.notes) {
			t.Errorf("%s: best %s, compared %d times, asked %v, notes %q", c.first.Status, bestKey(o), o.Best.Compared, e.asked, o.Warnings)
		}
	}
}
