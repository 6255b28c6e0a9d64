package search

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/space"
)

// slopes is a space of four parameters with 8 values each, and two objectives over it that have their best configurations
// at the same place, but neither scale nor shape in common.
func slopes(t *testing.T) (s *space.Space, here, there []float64) {
	t.Helper()
	var list []space.Parameter
	for _, name := range []string{"a", "b", "c", "d"} {
		p := space.Parameter{Name: name}
		for v := range 8 {
			p.Values = append(p.Values, 1<<v)
		}
		list = append(list, p)
	}
	p, err := space.NewParameters(list)
	if err != nil {
		t.Fatal(err)
	}
	if s, err = space.New(t.Context(), p, nil, nil); err != nil {
		t.Fatal(err)
	}
	for i := range s.Len() {
		x := s.Row(i, nil)
		far := math.Abs(float64(x[0]-6)) + math.Abs(float64(x[1]-1)) + 2*math.Abs(float64((x[2]+x[3])%8-5))
		rough := math.Abs(math.Sin(float64(i * i)))
		here = append(here, 1+far+rough)
		there = append(there, 100+math.Exp(far/3)+rough)
	}
	return s, here, there
}

// priorOf is a prior that has the objectives of a space.
func priorOf(s *space.Space, name string, objectives []float64) Prior {
	p := Prior{Name: name}
	for i, y := range objectives {
		p.Entries = append(p.Entries, PriorEntry{Configuration: s.At(i), Objective: y, Valid: !math.IsNaN(y)})
	}
	return p
}

// found returns the best objective that auto finds in so many evaluations, as the mean over searches, and what it finds its priors to
// be worth in the last one.
func found(t *testing.T, s *space.Space, objectives []float64, evaluations int, priors ...Prior) (mean float64, trusts []Trust) {
	t.Helper()
	const searches = 6
	for seed := range uint64(searches) {
		strategy, err := New(Auto, s, Options{Seed: seed, Budget: 60, Priors: priors})
		if err != nil {
			t.Fatal(err)
		}
		best := math.Inf(1)
		for range evaluations {
			i := strategy.Ask(1)[0]
			best = min(best, objectives[i])
			strategy.Tell([]Observation{{Index: i, Objective: objectives[i], Valid: true}})
		}
		mean += best / searches
		trusts = Trusts(strategy)
		strategy.Close()
	}
	return mean, trusts
}

func TestPriorsHelpAsFarAsTheyHold(t *testing.T) {
	s, here, there := slopes(t)
	reversed := make([]float64, len(there))
	for i, y := range there {
		reversed[i] = -y
	}
	good, bad := priorOf(s, "good", there), priorOf(s, "bad", reversed)
	without, _ := found(t, s, here, 12)
	with, trusts := found(t, s, here, 12, good)
	if with > without-1 || len(trusts) != 1 || !trusts[0].Scales || !trusts[0].Won || trusts[0].Agreement < 0.5 {
		t.Errorf("12 evaluations find %v with a prior and %v without; %+v", with, without, trusts)
	}
	without, _ = found(t, s, here, 60)
	with, trusts = found(t, s, here, 60, bad)
	if with > without+0.3 || len(trusts) != 1 || !trusts[0].Judged || trusts[0].Won || trusts[0].Agreement > 0 {
		t.Errorf("60 evaluations find %v with a prior that misleads and %v without; %+v", with, without, trusts)
	}
	shuffled := slices.Clone(there)
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	// The trial is decided by its last result, after which nothing more is asked for.
	for evaluations, judged := range map[int]bool{2*priorTrials - 1: false, 2 * priorTrials: true} {
		if _, trusts = found(t, s, here, evaluations, good); trusts[0].Judged != judged || trusts[0].Won != judged {
			t.Errorf("after %d evaluations: %+v", evaluations, trusts)
		}
	}
	if _, trusts = found(t, s, here, 20, good, priorOf(s, "shuffled", shuffled)); len(trusts) != 2 || !trusts[0].Scales || trusts[1].Scales {
		t.Errorf("of a prior that holds and one without order: %+v", trusts)
	}
}

// TestRankingsIgnoreTimes gives a prior other times in the same order.
func TestRankingsIgnoreTimes(t *testing.T) {
	s, here, _ := slopes(t)
	here[3] = math.NaN()
	other := make([]float64, len(here))
	for i, y := range here {
		other[i] = math.Exp(y) - 1e3
	}
	a, err := newRanking(s, priorOf(s, "a", here))
	b, err2 := newRanking(s, priorOf(s, "b", other))
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	if !slices.Equal(a.best, b.best) || a.best[len(a.best)-1] != 3 {
		t.Errorf("the last ones are %d and %d", a.best[len(a.best)-1], b.best[len(b.best)-1])
	}
	if !slices.Equal(a.score, b.score) {
		t.Errorf("the scores differ: %v and %v", a.score, b.score)
	}
}

// TestPriorWithOtherValues takes a prior that has every other value of the parameters and one text more.
func TestPriorWithOtherValues(t *testing.T) {
	configure := func(p *space.Parameters, tile int, how string) space.Configuration {
		c, err := p.Configure(map[string]space.Value{"tile": tile, "how": how, "switch": true})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	parameters := func(tiles ...space.Value) *space.Parameters {
		p, err := space.NewParameters([]space.Parameter{
			{Name: "tile", Values: tiles}, {Name: "how", Values: []space.Value{"row", "column", "both"}}, {Name: "switch", Values: []space.Value{false, true}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	own, other := parameters(8, 32, 128), parameters(16, 24, 128)
	s, err := space.New(t.Context(), own, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	prior := Prior{Name: "p"}
	for k, c := range []space.Configuration{configure(other, 24, "column"), configure(other, 128, "both"), configure(other, 16, "row")} {
		prior.Entries = append(prior.Entries, PriorEntry{Configuration: c, Objective: float64(k), Valid: true})
	}
	r, err := newRanking(s, prior)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, i := range r.best {
		got = append(got, s.At(i).String())
	}
	want := []string{"tile=32, how=column, switch=1", "tile=128, how=both, switch=1", "tile=8, how=row, switch=1"}
	if !slices.Equal(got, want) {
		t.Errorf("the prior names %q, want %q", got, want)
	}
	x, ok := newFeatures(s).describe(configure(other, 16, "column"))
	if want := []float64{0.25, 0, 1 / math.Sqrt2, 0, 1}; !ok || !slices.Equal(x, want) {
		t.Errorf("features %v, %v, want %v", x, ok, want)
	}
}

// TestSpread looks at the least distance between the configurations of samples of a restricted space.
func TestSpread(t *testing.T) {
	s := hotspot(t)
	f := newFeatures(s)
	random := rand.New(rand.NewPCG(1, 2))
	least := func(sample []int) float64 {
		d := math.Inf(1)
		for k, i := range sample {
			for _, j := range sample[:k] {
				d = min(d, apart(f.at(i), f.at(j)))
			}
		}
		return d
	}
	sample := s.Sample(spreadOf, random)
	spread := f.spread(sample, 8)
	if len(spread) != 8 || least(spread) < 2*least(sample[:8]) {
		t.Errorf("the least distances are %v in %v and %v in a random sample", least(spread), spread, least(sample[:8]))
	}
	if got := f.spread(sample[:3], 8); len(got) != 3 {
		t.Errorf("8 of 3: %v", got)
	}
	// Many evaluators ask before anything is known.
	strategy, err := New(Auto, s, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer strategy.Close()
	if first := strategy.Ask(32); len(first) != 32 || least(first) < 2*least(sample[:32]) {
		t.Errorf("the least distances are %v in the first %d proposals and %v in a random sample", least(first), len(first), least(sample[:32]))
	}
}

func TestPriorRanking(t *testing.T) {
	s, here, there := slopes(t)
	strategy, err := New("prior_ranking", s, Options{Priors: []Prior{priorOf(s, "x", there), priorOf(s, "y", here)}})
	if err != nil {
		t.Fatal(err)
	}
	x, _ := newRanking(s, priorOf(s, "x", there))
	y, _ := newRanking(s, priorOf(s, "y", here))
	var want []int
	for _, i := range []int{x.best[0], y.best[0], x.best[1], y.best[1], x.best[2], y.best[2]} {
		if !slices.Contains(want, i) {
			want = append(want, i)
		}
	}
	if got := strategy.Ask(len(want)); !slices.Equal(got, want) {
		t.Errorf("proposes %v, want %v", got, want)
	}
}

func TestPriorsThatCannotBe(t *testing.T) {
	s, here, _ := slopes(t)
	p, err := space.NewParameters([]space.Parameter{{Name: "a", Values: []space.Value{1, 2}}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := p.Configure(map[string]space.Value{"a": 1})
	if err != nil {
		t.Fatal(err)
	}
	good := priorOf(s, "p", here)
	for says, o := range map[string]Options{
		"the prior p has no correct configuration": {Priors: []Prior{{Name: "p", Entries: []PriorEntry{{Configuration: s.At(0)}}}}},
		"the prior q has no parameter b":           {Priors: []Prior{{Name: "q", Entries: []PriorEntry{{Configuration: c, Objective: 1, Valid: true}}}}},
		"there are 2":                              {Priors: []Prior{good}, Objectives: 2},
	} {
		if _, err := New(Auto, s, o); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %s", err, says)
		}
	}
	if _, err := New("pso", s, Options{Priors: []Prior{good}}); err == nil || err.Error() != "the strategy pso learns nothing from a prior: use auto, bayes_opt, prior_ranking" {
		t.Error(err)
	}
}
