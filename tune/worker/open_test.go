package worker

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/loop"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
)

// TestPoolsThatCannotBe: a problem that cannot cross to workers, and a program that has none. It is not parallel: it makes the program
// forget that it called Main.
func TestPoolsThatCannotBe(t *testing.T) {
	l := []device.Listed{testDevice(t)}
	check := func(p *problem.Problem, want string) {
		t.Helper()
		pool, err := Open(context.Background(), l, p, Options{})
		if err == nil {
			pool.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "in this process (device.Open)") {
			t.Errorf("%v, want %s", err, want)
		}
	}
	check(doubling(t), "the problem holds Go functions (verify.reference), which cannot cross to another process: register it (worker.Register)")
	hasRun = false
	defer func() { hasRun = true }()
	check(faulty(t, survivable...), "the program does not call worker.Main")
	if _, err := NewReserve(nil).MeasurePeaks(context.Background(), l[0], PeakOptions{}); !errors.Is(err, errNoMain) {
		t.Errorf("peaks: %v", err)
	}
	r := NewReserve(nil)
	defer r.Close()
	if err := r.Prepare(source.OpenCL); !errors.Is(err, errNoMain) || r.host.Started > 0 {
		t.Errorf("a reserve: %v", err)
	}
}

func TestMakersThatCannotBe(t *testing.T) {
	t.Parallel()
	l := []device.Listed{testDevice(t)}
	for maker, want := range map[string]string{
		"nobody":       `no problem is registered as "nobody": call worker.Register before worker.Main`,
		"not the same": `the function registered as "not the same" makes another problem in a worker than in the program`,
		"broken":       "make the problem: it rains",
	} {
		pool, err := Open(context.Background(), l, doubling(t), Options{Maker: maker})
		if err == nil {
			pool.Close()
		}
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", maker, err, want)
		}
	}
	if _, err := Open(context.Background(), nil, doubling(t), Options{}); err == nil {
		t.Error("a pool without a device")
	}
}

func TestRegisterTwice(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("two makers have one name")
		}
	}()
	Register("doubling", makeDoubling)
}

func TestOpenIsCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Open(ctx, []device.Listed{testDevice(t)}, faulty(t), Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestWorkersThatDoNotStart has workers that die before they are ready, and such that say why
// they cannot go on.
func TestWorkersThatDoNotStart(t *testing.T) {
	t.Parallel()
	for how, want := range map[string]string{
		"exit":   "3 workers in a row did not become ready: worker 3 ended with exit status 3; it printed last: no licence found",
		"kill":   "3 workers in a row did not become ready: worker 3 ended ",
		"babble": ", after a message that makes no sense (",
	} {
		pool := newTestPool(t, whole, faulty(t), Options{})
		pool.host.Environment = append(pool.host.Environment, startVariable+"="+how)
		if err := pool.openFirst(context.Background()); err == nil || !strings.Contains(err.Error(), want) || pool.Started() != maxStartDeaths {
			t.Errorf("%s: %v after %d workers, want %q", how, err, pool.Started(), want)
		}
	}
	pool := newTestPool(t, whole, faulty(t), Options{})
	pool.identities[0].Name = "Voodoo 2"
	if err := pool.openFirst(context.Background()); err == nil || !strings.Contains(err.Error(), "in a worker, and Voodoo 2 in the program") || pool.Started() != 1 {
		t.Errorf("another device: %v after %d workers", err, pool.Started())
	}
}

// TestARunEndsWhenNoWorkerStartsAnyMore lets one worker start, which then dies.
func TestARunEndsWhenNoWorkerStartsAnyMore(t *testing.T) {
	t.Parallel()
	needPoCL(t)
	pool := openTestPool(t, whole, faulty(t, faultNone, faultDies, faultSlow), Options{Workers: 1})
	pool.host.Environment = append(pool.host.Environment, startVariable+"=exit")
	o, err := loop.Run(context.Background(), pool.problem, pool, loop.Options{})
	if err == nil || !strings.Contains(err.Error(), "3 workers in a row did not become ready: worker 4 ended with exit status 3") {
		t.Errorf("%v", err)
	}
	if len(o.Results) != 1 || o.Results[0].Status != tune.Correct {
		t.Errorf("%+v", o.Results)
	}
}

// TestGoingOnWithFewerWorkers has workers of which only those can start that start at once. All tasks wait
// before the first is handed to a worker, so that the pool asks for more workers; and the evaluation goes on
// until these have failed, however fast the first one is.
func TestGoingOnWithFewerWorkers(t *testing.T) {
	t.Parallel()
	for _, a := range arrangements {
		p := faulty(t, survivable...)
		pool := openTestPool(t, a, p, Options{Workers: startsAtOnce})
		pool.identities[0].Name = "Voodoo 2"
		for _, fault := range survivable {
			pool.take(configurationOf(t, p, map[string]space.Value{"fault": fault}))
		}
		in, out := make(chan space.Configuration), make(chan tune.Result, len(survivable))
		keep, end := pool.options.Note, sync.OnceFunc(func() { close(in) })
		pool.options.Note = func(text string) { keep(text); end() }
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute) // for a pool that notes nothing
		defer cancel()
		if err := pool.Evaluate(ctx, in, out); err != nil {
			t.Fatalf("%s: %v\n%s", a, err, pool.output)
		}
		close(out)
		want := "Going on with 1 workers; another could not start: "
		if a == builders {
			want = "Going on without workers that only build; another could not start: "
		}
		if len(pool.notes) != 1 || !strings.HasPrefix(pool.notes[0], want) {
			t.Errorf("%s: %q, want one %q", a, pool.notes, want)
		}
		results := map[string]tune.Status{}
		for r := range out {
			results[r.Configuration.Key()] = r.Status
		}
		if len(results) != len(survivable) || results[faultNone] != tune.Correct || results[faultOutput] != tune.Correctness {
			t.Errorf("%s: %v", a, results)
		}
	}
}
