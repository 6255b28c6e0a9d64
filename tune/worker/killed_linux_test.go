package worker

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/loop"
	"github.com/ndtune/ndtune/tune/space"
)

// killWhen kills workers as they begin a part of a task: deadly is told the task, and how many
// were finished before.
func killWhen(t *testing.T, pool *testPool, deadly func(i, finished int) bool) {
	trace := filepath.Join(t.TempDir(), "trace")
	pool.host.Environment = append(pool.host.Environment, traceVariable+"="+trace)
	finished := 0
	pool.heard = func(e event) {
		if r := e.Answer.Result; r != nil {
			finished++
		}
		if e.Answer.Stage == nil {
			return
		}
		text, err := os.ReadFile(trace)
		if err != nil {
			t.Error(err)
		}
		at := -1
		for line := range strings.Lines(string(text)) {
			var pid, i int
			var what string
			if _, err := fmt.Sscanf(line, "%d %s i=%d", &pid, &what, &i); err == nil && pid == e.Child.PID() {
				at = i
			}
		}
		if deadly(at, finished) {
			_ = syscall.Kill(e.Child.PID(), syscall.SIGKILL)
			pool.killed[e.Child] = true
		}
	}
}

// TestWorkersKilledFromOutside kills all workers from some time on, or some, or those of one
// configuration, as an out-of-memory killer does.
func TestWorkersKilledFromOutside(t *testing.T) {
	for _, a := range []arrangement{whole, builders} {
		t.Run(string(a), func(t *testing.T) {
			t.Parallel()
			t.Run("all", func(t *testing.T) {
				pool := newTestPool(t, a, tiny(t, 12, t.Name()), Options{Workers: 2})
				killWhen(t, pool, func(_, finished int) bool { return finished >= 4 })
				log := &kept{}
				o := pool.run(t, loop.Options{Log: log})
				if o.Stop != tune.Environment || o.Best == nil || o.Withdrawn == 0 || len(log.results) != 4 || !strings.Contains(o.Cause, string(tune.Killed)) {
					t.Errorf("stop %s (%s), %d results, %d withdrawn", o.Stop, o.Cause, len(log.results), o.Withdrawn)
				}
				for _, r := range log.results {
					wantStatus(t, r.Configuration.String(), r, tune.Correct, "")
				}
			})
			t.Run("some", func(t *testing.T) {
				pool := newTestPool(t, a, tiny(t, 12, t.Name()), Options{Workers: 2})
				kills := 0
				killWhen(t, pool, func(i, _ int) bool {
					if (i != 4 && i != 5) || kills == 4 {
						return false
					}
					kills++
					return true
				})
				o := pool.run(t, loop.Options{})
				if o.Stop != tune.Exhausted || len(o.Results) != 12 || kills != 4 {
					t.Errorf("stop %s (%s), %d results, %d killed", o.Stop, o.Cause, len(o.Results), kills)
				}
				for _, r := range o.Results {
					wantStatus(t, r.Configuration.String(), r, tune.Correct, "")
				}
			})
			t.Run("one configuration", func(t *testing.T) {
				pool := newTestPool(t, a, tiny(t, 12, t.Name()), Options{Workers: 2})
				kills := 0
				killWhen(t, pool, func(i, _ int) bool {
					if i == 5 {
						kills++
					}
					return i == 5
				})
				o := pool.run(t, loop.Options{})
				if o.Stop != tune.Exhausted || len(o.Results) != 12 || kills != 4 {
					t.Errorf("stop %s (%s), %d results, %d killed", o.Stop, o.Cause, len(o.Results), kills)
				}
				for _, r := range o.Results {
					if r.Configuration.Int("i") == 5 {
						wantStatus(t, "the one", r, tune.Runtime, "by signal SIGKILL (killed), twice, while it built the kernel")
					} else {
						wantStatus(t, r.Configuration.String(), r, tune.Correct, "")
					}
				}
			})
		})
	}
}

// TestAProbeBuildsAnew: a build that the driver has kept does not answer a probe.
func TestAProbeBuildsAnew(t *testing.T) {
	if os.Getenv("NDTUNE_LONG") == "" {
		t.Skip("TestAProbeIsFresh and TestProtocolOfABuilder have its parts: make test-long")
	}
	if !standin.OnPoCL(t) {
		return
	}
	needPoCL(t)
	for _, a := range []arrangement{whole, builders} {
		cache := t.TempDir()
		p := tiny(t, 2, t.Name()+string(a))
		pool := newTestPool(t, a, p, Options{Workers: 1})
		pool.host.Environment = append(pool.host.Environment, "POCL_CACHE_DIR="+cache)
		pool.run(t, loop.Options{Finalists: -1})
		files := func() int {
			n := 0
			err := filepath.WalkDir(cache, func(string, fs.DirEntry, error) error { n++; return nil })
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		before := files()
		r, err := pool.Probe(t.Context(), configurationOf(t, p, map[string]space.Value{"i": 1}), tune.Retest{})
		if err != nil || r.Status != tune.Correct {
			t.Errorf("%s: %v, %+v", a, err, r)
		}
		if files() <= before {
			t.Errorf("%s: the probe built nothing", a)
		}
		if pool.Evaluated() != 2 {
			t.Errorf("%s: evaluated %d", a, pool.Evaluated())
		}
	}
}

// kept is a log in memory.
type kept struct{ results []tune.Result }

func (k *kept) Previous() []tune.Result       { return nil }
func (k *kept) Append(r tune.Result) error    { k.results = append(k.results, r); return nil }
func (k *kept) AppendFinal(tune.Result) error { return nil }
func (k *kept) Withdraw(r tune.Result) error {
	k.results = slices.DeleteFunc(k.results, func(o tune.Result) bool { return o.Configuration.Key() == r.Configuration.Key() })
	return nil
}
