package worker

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/space"
)

// The growth that is allowed to a process between 2,000 configurations and 10,000. They are of
// flatPrograms programs only, all of which have been built by then: a process keeps some 17 KB
// of every kernel that PoCL 3.1 compiles in it, for good, and that is not what is tested.
const (
	flatPrograms  = 500
	flatMegabytes = 24
	flatFiles     = 3 // what a build opens for a moment
	flatThreads   = 4
)

// TestTenThousandConfigurations lets ten thousand configurations go through a pool, and
// compares the memory and the open files of the parent and of the workers at two thousand and at
// the end.
func TestTenThousandConfigurations(t *testing.T) {
	if os.Getenv("NDTUNE_LONG") == "" {
		t.Skip("takes minutes: make test-long")
	}
	if !standin.OnPoCL(t) {
		return
	}
	for _, a := range []arrangement{whole, builders} {
		t.Run(string(a), func(t *testing.T) { staysFlat(t, a) })
	}
}

func staysFlat(t *testing.T, a arrangement) {
	p := tiny(t, flatPrograms, "flat "+string(a))
	pool := openTestPool(t, a, p, Options{Workers: 2, Iterations: 1})
	var all []space.Configuration
	for i := range flatPrograms {
		all = append(all, configurationOf(t, p, map[string]space.Value{"i": i}))
	}
	in, out, done := make(chan space.Configuration), make(chan tune.Result), make(chan error, 1)
	go func() { done <- pool.Evaluate(t.Context(), in, out) }()
	go func() {
		defer close(in)
		for i := range 10_000 {
			select {
			case in <- all[i%flatPrograms]:
			case <-t.Context().Done():
				return
			}
		}
	}()
	at := map[int]map[int]figures{} // by configurations, by process
	for i := range 10_000 {
		select {
		case r := <-out:
			if r.Status != tune.Correct {
				t.Fatalf("%s: %s %s", r.Configuration, r.Status, r.Reason)
			}
		case err := <-done:
			t.Fatal(err)
		}
		if n := i + 1; n == 100 || n%2000 == 0 {
			at[n] = figuresOf(t, pool.mark)
			t.Logf("after %5d: %v", n, at[n])
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	early, late := at[2000], at[10_000]
	compared := 0
	for pid, e := range early {
		l, ok := late[pid]
		if !ok {
			continue // a compiler that a worker had started
		}
		compared++
		if l.megabytes > e.megabytes+flatMegabytes || l.files > e.files+flatFiles || l.threads > e.threads+flatThreads {
			t.Errorf("process %d has grown from %v to %v", pid, e, l)
		}
	}
	want := 1 + 2 // the parent and the workers
	if a == builders {
		want++
	}
	if compared != want || pool.Started() != want-1 {
		t.Errorf("%d processes were compared, %d workers started; want %d and %d", compared, pool.Started(), want, want-1)
	}
}

// figures are what a process holds.
type figures struct{ megabytes, files, threads int }

func (f figures) String() string {
	return fmt.Sprintf("%d MB, %d files, %d threads", f.megabytes, f.files, f.threads)
}

// figuresOf are those of this process and of all that are marked, by process.
func figuresOf(t testing.TB, mark string) map[int]figures {
	t.Helper()
	all := map[int]figures{}
	for _, pid := range append(marked(mark), os.Getpid()) {
		folder := "/proc/" + strconv.Itoa(pid)
		memory, err := os.ReadFile(folder + "/statm")
		files, filesErr := os.ReadDir(folder + "/fd")
		threads, threadsErr := os.ReadDir(folder + "/task")
		if err != nil || filesErr != nil || threadsErr != nil {
			continue // it was started by a worker, and is gone again
		}
		pages, err := strconv.Atoi(strings.Fields(string(memory))[1])
		if err != nil {
			t.Fatal(err)
		}
		all[pid] = figures{pages * os.Getpagesize() >> 20, len(files), len(threads)}
	}
	return all
}
