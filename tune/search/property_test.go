package search

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/ndtune/ndtune/tune/space"
)

// A drive is one search as a test drives it: some small space, objectives, starts, sizes of
// batches, and observations that come late and in any order, all decided by a seed.
type drive struct {
	rng       *rand.Rand
	space     *space.Space
	start     []int
	values    map[string]string // of options
	objective func(i int) Observation
}

func newDrive(t testing.TB, seed uint64) *drive {
	t.Helper()
	d := &drive{rng: rand.New(rand.NewPCG(seed, 17))}
	d.space = smallSpace(t, d.rng)
	for range d.rng.IntN(4) {
		d.start = append(d.start, d.rng.IntN(d.space.Len()))
	}
	noise := d.rng.Uint64()
	landscapes := []func(i int) Observation{
		func(i int) Observation {
			r := rand.New(rand.NewPCG(noise, uint64(i)))
			return Observation{Index: i, Objective: r.NormFloat64(), Valid: r.IntN(5) > 0}
		},
		func(i int) Observation {
			return Observation{Index: i, Objective: math.Abs(float64(i - 7)), Valid: true}
		},
		func(i int) Observation { return Observation{Index: i, Objective: 1, Valid: true} },
		func(i int) Observation { return Observation{Index: i, Objective: math.NaN(), Valid: false} },
		func(i int) Observation { return Observation{Index: i, Objective: 0, Valid: i%2 == 0} },
		func(i int) Observation {
			return Observation{Index: i, Objective: []float64{math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64}[i%4], Valid: true}
		},
	}
	d.objective = landscapes[d.rng.IntN(len(landscapes))]
	return d
}

// smallSpace has 1 to some hundred configurations.
func smallSpace(t testing.TB, r *rand.Rand) *space.Space {
	t.Helper()
	for {
		var list []space.Parameter
		for p := range r.IntN(5) {
			q := space.Parameter{Name: fmt.Sprintf("p%d", p)}
			for v := range 1 + r.IntN(5) {
				q.Values = append(q.Values, v)
			}
			list = append(list, q)
		}
		parameters, err := space.NewParameters(list)
		if err != nil {
			t.Fatal(err)
		}
		var restrictions []space.Restriction
		if len(list) > 1 && r.IntN(3) > 0 {
			restrictions = append(restrictions, space.Restriction{Expression: fmt.Sprintf("(p0 + 2*p%d) %% 3 != %d", r.IntN(len(list)), r.IntN(3))})
		}
		if len(list) > 2 && r.IntN(3) == 0 {
			restrictions = append(restrictions, space.Restriction{Expression: "p1 == p2"})
		}
		if s, err := space.New(t.Context(), parameters, restrictions, nil); err == nil && s.Len() <= 400 {
			return s
		}
	}
}

// search drives a strategy until it is exhausted, and is what it proposed in order.
func (d *drive) search(t testing.TB, name string, seed uint64) []int {
	t.Helper()
	strategy, err := New(name, d.space, Options{Seed: seed, Start: d.start, Values: d.values})
	if err != nil {
		t.Fatal(err)
	}
	defer strategy.Close()
	var all, due []int
	seen := make([]bool, d.space.Len())
	for {
		n := 1 + d.rng.IntN(12)
		batch := strategy.Ask(n)
		if len(batch) > n {
			t.Fatalf("%s: asked for %d, proposed %d", name, n, len(batch))
		}
		for _, i := range batch {
			if i < 0 || i >= d.space.Len() {
				t.Fatalf("%s: proposed %d of %d", name, i, d.space.Len())
			}
			if seen[i] {
				t.Fatalf("%s: proposed %d again", name, i)
			}
			seen[i] = true
		}
		all, due = append(all, batch...), append(due, batch...)
		if len(batch) == 0 && len(due) == 0 {
			break
		}
		d.rng.Shuffle(len(due), func(a, b int) { due[a], due[b] = due[b], due[a] })
		answered := d.rng.IntN(len(due) + 1)
		if len(batch) == 0 {
			answered = max(answered, 1)
		}
		var told []Observation
		for _, i := range due[:answered] {
			told = append(told, d.objective(i))
		}
		due = due[answered:]
		strategy.Tell(told)
	}
	if len(all) != d.space.Len() {
		t.Fatalf("%s ended after %d of %d configurations", name, len(all), d.space.Len())
	}
	if more := strategy.Ask(3); len(more) > 0 {
		t.Fatalf("%s goes on after its end: %v", name, more)
	}
	return all
}

// startsFirst makes sure that the first proposals are the starts, each once.
func (d *drive) startsFirst(t testing.TB, name string, all []int) {
	t.Helper()
	var want []int
	for _, i := range d.start {
		if !slices.Contains(want, i) {
			want = append(want, i)
		}
	}
	if !slices.Equal(all[:len(want)], want) {
		t.Fatalf("%s began with %v, not with the starts %v", name, all[:len(want)], want)
	}
}

// checkStrategy holds a strategy to what all promise.
func checkStrategy(t testing.TB, name string, seed uint64) {
	t.Helper()
	d := newDrive(t, seed)
	first := d.search(t, name, seed)
	d.startsFirst(t, name, first)
	if again := newDrive(t, seed).search(t, name, seed); !slices.Equal(first, again) {
		t.Fatalf("%s differs between two searches with one seed", name)
	}
}

func TestStrategiesKeepTheirPromises(t *testing.T) {
	seeds := uint64(120)
	if testing.Short() {
		seeds = 30
	}
	for seed := range seeds {
		for _, name := range Names() {
			checkStrategy(t, name, seed)
		}
	}
}

func FuzzStrategies(f *testing.F) {
	for i := range Names() {
		f.Add(uint64(1000), byte(i))
	}
	f.Fuzz(func(t *testing.T, seed uint64, strategy byte) {
		checkStrategy(t, Names()[int(strategy)%len(Names())], seed)
	})
}

// TestCloseLeavesNothingBehind makes many strategies, in the middle of their work.
func TestCloseLeavesNothingBehind(t *testing.T) {
	s := testSpace(t)
	before := runtime.NumGoroutine()
	for seed := range uint64(200) {
		for _, name := range Names() {
			strategy, err := New(name, s, Options{Seed: seed})
			if err != nil {
				t.Fatal(err)
			}
			if batch := strategy.Ask(3); seed%2 == 0 {
				strategy.Tell([]Observation{{Index: batch[0], Objective: 1, Valid: true}})
				strategy.Ask(2)
			}
			strategy.Close()
			strategy.Close()
			if more := strategy.Ask(1); len(more) > 0 {
				t.Fatalf("%s proposes %v when it is closed", name, more)
			}
			strategy.Tell([]Observation{{Index: 0, Objective: 1, Valid: true}})
		}
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
}
