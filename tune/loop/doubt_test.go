package loop

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
)

// A weather is an evaluator whose environment breaks after a number of evaluations, probes
// included, and works again after some more.
type weather struct {
	fake
	probing
	broken  func(evaluation int) bool
	failure func(c space.Configuration) tune.Result // while it is broken
	right   func(c space.Configuration) tune.Result
	count   int
	order   []string
	probes  []string
}

func (w *weather) answerOne(c space.Configuration) tune.Result {
	w.count++
	w.order = append(w.order, c.Key())
	answer := w.right
	if w.broken(w.count) {
		answer = w.failure
	}
	r := answer(c)
	r.Configuration = c
	return r
}

// Evaluate answers one configuration at a time, each once.
func (w *weather) Evaluate(ctx context.Context, in <-chan space.Configuration, out chan<- tune.Result) error {
	return tune.EvaluateEach(ctx, in, out, func(c space.Configuration) (tune.Result, error) { return w.answerOne(c), nil })
}

func (w *weather) Probe(_ context.Context, c space.Configuration, _ tune.Retest) (tune.Result, error) {
	w.probes = append(w.probes, c.Key())
	return w.answerOne(c), nil
}

func from(n int) func(int) bool { return func(i int) bool { return i >= n } }

func between(a, b int) func(int) bool { return func(i int) bool { return i >= a && i < b } }

func noSpace(space.Configuration) tune.Result {
	const reason = "build k: No space left on device"
	return tune.Result{Status: tune.Compile, Reason: reason, Doubt: tune.DoubtOf(reason)}
}

func silent(c space.Configuration) tune.Result {
	return tune.Result{Status: tune.Compile, Reason: fmt.Sprintf("build k: CL_BUILD_PROGRAM_FAILURE in %d", c.Int("i"))}
}

func killed(space.Configuration) tune.Result {
	return tune.Result{Status: tune.Runtime, Reason: "the process ended by signal SIGKILL", Doubt: tune.Killed}
}

// TestAFailingEnvironmentLeavesNoFailures lets the environment break in the middle of a search,
// with every strategy, and then goes on in another one that works: the results are those of a
// search that never met the trouble.
func TestAFailingEnvironmentLeavesNoFailures(t *testing.T) {
	p := line(t, 40)
	right := func(c space.Configuration) tune.Result {
		if c.Int("i")%5 == 3 {
			return tune.Result{Status: tune.Correctness, Reason: "wrong"}
		}
		return timed(permuted...)(c)
	}
	for _, strategy := range search.Names() {
		options := func(log *memory) Options {
			return Options{Log: log, MaxEvaluations: 30, Strategy: func(s *space.Space) (search.Strategy, error) {
				return search.New(strategy, s, search.Options{Seed: 3})
			}}
		}
		want := &memory{}
		mustRun(t, p, &weather{right: right, broken: func(int) bool { return false }}, options(want))
		for name, failure := range map[string]func(space.Configuration) tune.Result{"no space": noSpace, "silent": silent, "killed": killed} {
			what := strategy + ", " + name
			log := &memory{}
			o := mustRun(t, p, &weather{right: right, failure: failure, broken: from(12)}, options(log))
			if o.Stop != tune.Environment || o.Withdrawn == 0 || o.Best == nil || len(o.Results) != len(log.results) || len(o.Results)+o.Withdrawn > 11+manyAlike {
				t.Errorf("%s: stop %s, %d results, %d logged, %d withdrawn", what, o.Stop, len(o.Results), len(log.results), o.Withdrawn)
			}
			for _, r := range log.results {
				if r.Status == failure(r.Configuration).Status {
					t.Errorf("%s: %s is kept as %s: %s", what, r.Configuration, r.Status, r.Reason)
				}
			}
			resumed := log.reopened()
			o = mustRun(t, p, &weather{right: right, broken: func(int) bool { return false }}, options(resumed))
			if o.Stop == tune.Environment || keysSorted(o.Results) != keysSorted(want.results) {
				t.Errorf("%s: stop %s\n%s, want\n%s", what, o.Stop, keysSorted(o.Results), keysSorted(want.results))
			}
		}
	}
}

// permuted are times without order.
var permuted = func() []float64 {
	times := make([]float64, 40)
	for i := range times {
		times[i] = float64(1 + (i*17)%40)
	}
	return times
}()

func keysSorted(results []tune.Result) string {
	var lines []string
	for _, r := range results {
		lines = append(lines, fmt.Sprintf("%s=%s", r.Configuration.Key(), r.Status))
	}
	slices.Sort(lines)
	return strings.Join(lines, " ")
}

func TestTheCauseOfAFailingEnvironment(t *testing.T) {
	for name, c := range map[string]struct {
		failure func(space.Configuration) tune.Result
		want    []string
	}{
		"no space": {noSpace, []string{string(tune.NoSpace), "at i=11", "No space left on device", "i=0, which was correct before"}},
		"silent":   {silent, []string{"8 configurations in a row failed alike (last i=18, compile: build k: CL_BUILD_PROGRAM_FAILURE in 18)", "i=0, which was correct before"}},
		"killed":   {killed, []string{string(tune.Killed), "by signal SIGKILL"}},
	} {
		o := mustRun(t, line(t, 40), &weather{right: correct, failure: c.failure, broken: from(12)}, Options{})
		for _, want := range c.want {
			if !strings.Contains(o.Cause, want) {
				t.Errorf("%s: the cause is %q, without %q", name, o.Cause, want)
			}
		}
		if keys(o.Results) != numbers(11) {
			t.Errorf("%s: kept %s", name, keys(o.Results))
		}
	}
}

// TestFailuresOfTheConfigurationsStand has an environment that works: whatever the failures say,
// they are the configurations' own, and each counts once in the budget.
func TestFailuresOfTheConfigurationsStand(t *testing.T) {
	for name, failure := range map[string]func(space.Configuration) tune.Result{"silent": silent, "killed": killed, "out of memory": always(tune.Runtime, "launch: CL_OUT_OF_HOST_MEMORY")} {
		right := func(c space.Configuration) tune.Result {
			if c.Int("i") < 2 || c.Int("i") >= 38 {
				return correct(c)
			}
			return failure(c)
		}
		w := &weather{right: right, broken: func(int) bool { return false }}
		log := &memory{}
		o := mustRun(t, line(t, 40), w, Options{Log: log, MaxEvaluations: 39})
		if o.Stop != tune.Budget || len(o.Results) != 39 || keys(log.results) != numbers(39) || o.Withdrawn != 0 || len(w.probes) == 0 {
			t.Errorf("%s: stop %s, %d results, %d withdrawn, logged %s, %d probes", name, o.Stop, len(o.Results), o.Withdrawn, keys(log.results), len(w.probes))
		}
		for _, r := range o.Results {
			if r.Doubt != "" {
				t.Errorf("%s: %s is still in doubt", name, r.Configuration)
			}
		}
		if name == "silent" && len(w.probes) > 3 {
			t.Errorf("%d probes for 36 failures alike", len(w.probes))
		}
	}
}

// TestATransientFaultIsNoResult: what failed while memory was short is evaluated again when it is
// there.
func TestATransientFaultIsNoResult(t *testing.T) {
	for _, failure := range []func(space.Configuration) tune.Result{noSpace, killed} {
		w := &weather{right: correct, failure: failure, broken: between(5, 6)}
		log := &memory{}
		o := mustRun(t, line(t, 10), w, Options{Log: log})
		if o.Stop != tune.Exhausted || keys(log.results) != numbers(10) || slices.ContainsFunc(o.Results, func(r tune.Result) bool { return r.Status != tune.Correct }) {
			t.Errorf("stop %s, %s", o.Stop, keysSorted(log.results))
		}
		if got := fmt.Sprint(w.probes); got != "[0 4]" {
			t.Errorf("evaluated again: %s, want the best and then what failed", got)
		}
	}
}

// TestNoSpaceIsNeverAResult: it comes back for one configuration only, which needs more room than
// the best; that is no fault of the configuration.
func TestNoSpaceIsNeverAResult(t *testing.T) {
	w := &weather{broken: func(int) bool { return false }, right: func(c space.Configuration) tune.Result {
		if c.Int("i") == 4 {
			return noSpace(c)
		}
		return correct(c)
	}}
	log := &memory{}
	if o := mustRun(t, line(t, 10), w, Options{Log: log}); o.Stop != tune.Environment || keys(log.results) != numbers(4) || o.Withdrawn != 1 {
		t.Errorf("stop %s, logged %s, %d withdrawn", o.Stop, keys(log.results), o.Withdrawn)
	}
}

// TestAFailingEnvironmentFromTheBeginning has nothing to probe with.
func TestAFailingEnvironmentFromTheBeginning(t *testing.T) {
	for name, c := range map[string]struct {
		failure func(space.Configuration) tune.Result
		stop    tune.StopReason
		kept    int
	}{
		"no space": {noSpace, tune.Environment, 0},
		"killed":   {killed, tune.Environment, 0},
		"silent":   {silent, tune.Hopeless, hopelessAfter},
	} {
		for _, strategy := range []string{"brute_force", "genetic_algorithm"} {
			log := &memory{}
			o := mustRun(t, line(t, 60), &weather{failure: c.failure, broken: from(1)}, Options{Log: log, Strategy: func(s *space.Space) (search.Strategy, error) {
				return search.New(strategy, s, search.Options{Seed: 1})
			}})
			if o.Stop != c.stop || len(log.results) != c.kept || len(o.Results) != c.kept || o.Cause == "" {
				t.Errorf("%s, %s: stop %s (%s), %d logged, %d results", name, strategy, o.Stop, o.Cause, len(log.results), len(o.Results))
			}
		}
	}
}

// TestTheStrategyLearnsNothingInDoubt tells of doubtful failures only once they are settled.
func TestTheStrategyLearnsNothingInDoubt(t *testing.T) {
	var told []search.Observation
	w := &weather{right: correct, failure: killed, broken: from(5)}
	mustRun(t, line(t, 20), w, Options{Strategy: func(s *space.Space) (search.Strategy, error) {
		inner, err := search.New("brute_force", s, search.Options{})
		return listening{inner, &told}, err
	}})
	if len(told) != 4 || slices.ContainsFunc(told, func(o search.Observation) bool { return !o.Valid }) {
		t.Errorf("told %+v", told)
	}
}

// TestAnEvaluatorWithoutProbes is asked for the best a second time.
func TestAnEvaluatorWithoutProbes(t *testing.T) {
	f := &fake{capacity: 4, answer: func(c space.Configuration) tune.Result {
		if c.Int("i") >= 6 {
			return silent(c)
		}
		return correct(c)
	}}
	o := mustRun(t, line(t, 30), f, Options{})
	if o.Stop != tune.Exhausted || len(o.Results) != 30 || f.times["0"] < 2 || f.most > 4 {
		t.Errorf("stop %s, %d results, the best evaluated %d times, held %d", o.Stop, len(o.Results), f.times["0"], f.most)
	}
}

// TestFailuresOfTheLogAreEvaluatedAgain takes those of some statuses, in the budget of the run.
func TestFailuresOfTheLogAreEvaluatedAgain(t *testing.T) {
	p := line(t, 30)
	bad := func(c space.Configuration) tune.Result {
		switch c.Int("i") % 5 {
		case 1:
			return tune.Result{Status: tune.Compile, Reason: "no room"}
		case 2:
			return tune.Result{Status: tune.Timeout, Reason: "slow"}
		case 3:
			return tune.Result{Status: tune.Constraints, Reason: "too large"}
		}
		return correct(c)
	}
	first := &memory{}
	mustRun(t, p, &fake{answer: bad}, Options{Log: first, MaxEvaluations: 20})
	for _, strategy := range []string{"brute_force", "random_sample", "greedy_ils"} {
		for _, budget := range []int{20, 25} {
			log := first.reopened()
			f := &fake{answer: correct, capacity: 3}
			o := mustRun(t, p, f, Options{Log: log, MaxEvaluations: budget, Retry: []tune.Status{tune.Compile}, Strategy: func(s *space.Space) (search.Strategy, error) {
				return search.New(strategy, s, search.Options{Seed: 2})
			}})
			f.checkStopped(t)
			again := 0
			for _, i := range []string{"1", "6", "11", "16"} {
				again += f.times[i]
			}
			if again != 4 || f.count() != 4+budget-20 || len(o.Results) != budget {
				t.Errorf("%s, budget %d: %d evaluated, %d of them again, %d results, stop %s", strategy, budget, f.count(), again, len(o.Results), o.Stop)
			}
			for _, r := range slices.Concat(log.previous, log.results) {
				if r.Status == tune.Compile {
					t.Errorf("%s: %s is %s still", strategy, r.Configuration, r.Status)
				}
			}
		}
	}
}

func TestARunIsHopelessWhenAllFailsForOneReason(t *testing.T) {
	f := &fake{answer: func(c space.Configuration) tune.Result {
		return tune.Result{Status: tune.Compile, Reason: fmt.Sprintf("build k: CL_BUILD_PROGRAM_FAILURE\nerror: /tmp/tempfile_%c%d.cl:4:%d: use of undeclared identifier 'a'", 'a'+rune(c.Int("i")%26), c.Int("i"), c.Int("i"))}
	}}
	o := mustRun(t, line(t, 100), f, Options{})
	f.checkStopped(t)
	if o.Stop != tune.Hopeless || len(o.Results) != hopelessAfter || o.Best != nil {
		t.Errorf("stop %s after %d", o.Stop, len(o.Results))
	}
	for _, want := range []string{"the first 24 configurations", "compile", "i=0", "undeclared identifier 'a'"} {
		if !strings.Contains(o.Cause, want) {
			t.Errorf("cause %q lacks %q", o.Cause, want)
		}
	}
}

func TestARunIsNotHopeless(t *testing.T) {
	except := func(place int, other tune.Result) func(space.Configuration) tune.Result {
		return func(c space.Configuration) tune.Result {
			if c.Int("i") == place {
				return other
			}
			return tune.Result{Status: tune.Runtime, Reason: "launch: CL_OUT_OF_RESOURCES"}
		}
	}
	for name, answer := range map[string]func(space.Configuration) tune.Result{
		"where all are skipped":      always(tune.Constraints, "local memory 65536 B > device limit 49152 B"),
		"where the first is correct": except(0, tune.Result{Status: tune.Correct, Times: []float64{1}}),
		"where the last is correct":  except(23, tune.Result{Status: tune.Correct, Times: []float64{1}}),
		"where a reason differs":     except(5, tune.Result{Status: tune.Runtime, Reason: "launch: CL_INVALID_WORK_GROUP_SIZE"}),
		"where a status differs":     except(23, tune.Result{Status: tune.Compile, Reason: "launch: CL_OUT_OF_RESOURCES"}),
	} {
		if o := mustRun(t, line(t, 60), &fake{answer: answer}, Options{}); o.Stop != tune.Exhausted || len(o.Results) != 60 || o.Cause != "" {
			t.Errorf("%s: stop %s after %d: %s", name, o.Stop, len(o.Results), o.Cause)
		}
	}
	// What is skipped is not counted.
	o := mustRun(t, line(t, 60), &fake{answer: func(c space.Configuration) tune.Result {
		if c.Int("i")%2 == 0 {
			return tune.Result{Status: tune.Constraints, Reason: "even"}
		}
		return tune.Result{Status: tune.Timeout, Reason: "more than 1 s"}
	}}, Options{})
	if o.Stop != tune.Hopeless || len(o.Results) != 2*hopelessAfter {
		t.Errorf("stop %s after %d", o.Stop, len(o.Results))
	}
}

func TestAResumedRunIsHopelessWhereAnUninterruptedOneIs(t *testing.T) {
	p, f := line(t, 100), &fake{answer: always(tune.Compile, "no")}
	log := &memory{}
	mustRun(t, p, f, Options{Log: log, MaxEvaluations: 20})
	o := mustRun(t, p, f, Options{Log: log.reopened()})
	f.checkStopped(t)
	if o.Stop != tune.Hopeless || len(o.Results) != hopelessAfter {
		t.Errorf("stop %s after %d", o.Stop, len(o.Results))
	}
}
