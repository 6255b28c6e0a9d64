package tune

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/score"
)

// finalTimes returns results with these final times, in the order of their names.
func finalTimes(t *testing.T, times ...[]float64) []Result {
	t.Helper()
	s, err := line(t, len(times)).Space(context.Background(), hardware.Device{})
	if err != nil {
		t.Fatal(err)
	}
	var results []Result
	for i, final := range times {
		results = append(results, Result{
			Configuration: s.At(i), Status: Correct, Times: []float64{1}, Objective: 1,
			Final: final, AtFinal: &score.Judgement{Objective: score.StatsOf(final).Median},
		})
	}
	return results
}

// rounds returns n times, by round.
func rounds(n int, time func(round int) float64) []float64 {
	times := make([]float64, n)
	for i := range times {
		times[i] = time(i)
	}
	return times
}

func TestStandings(t *testing.T) {
	drift := func(i int) float64 { return 1 + 0.1*float64(i%7) } // more than the differences
	winner := func(n int) []float64 { return rounds(n, drift) }
	for _, c := range []struct {
		name          string
		winner, other []float64
		want          Standing
	}{
		{"slower in each round", winner(9), rounds(9, func(i int) float64 { return drift(i) * 1.001 }), Different},
		{"slower in all rounds but one of nine", winner(9), rounds(9, func(i int) float64 { return drift(i) + 0.01 - 0.02*float64(i/8) }), Different},
		{"slower in all rounds but two of nine", winner(9), rounds(9, func(i int) float64 { return drift(i) + 0.01 - 0.02*float64(i/7) }), Indistinguishable},
		{"equal", winner(9), winner(9), Indistinguishable},
		{"six rounds can tell", winner(6), rounds(6, func(i int) float64 { return 2 * drift(i) }), Different},
		{"five rounds cannot", winner(5), rounds(5, func(i int) float64 { return 2 * drift(i) }), TooFewRounds},
		{"other rounds", winner(9), rounds(8, func(i int) float64 { return 2 * drift(i) }), ""},
	} {
		finalists := Finalists(score.Objective{Name: "time"}, finalTimes(t, c.winner, c.other))
		if len(finalists) != 2 || finalists[0].Standing != "" || finalists[1].Standing != c.want {
			t.Errorf("%s: %+v, want %q", c.name, finalists, c.want)
		}
	}
	// More finalists need more agreement: 10 of them 11 rounds.
	times := [][]float64{winner(10)}
	for i := range 9 {
		times = append(times, rounds(10, func(j int) float64 { return drift(j) * float64(i+2) }))
	}
	if f := Finalists(score.Objective{Name: "time"}, finalTimes(t, times...)); len(f) != 10 || f[9].Standing != TooFewRounds {
		t.Errorf("10 rounds of 10 finalists: %+v", f)
	}
	if f := Finalists(score.Objective{Name: "time"}, finalTimes(t, winner(9))); len(f) != 1 || f[0].Standing != "" {
		t.Errorf("one alone: %+v", f)
	}
}

// TestEqualFinalistsAreSeldomTold measures ten equal configurations with noise, often.
func TestEqualFinalistsAreSeldomTold(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const trials = 1000
	told := 0
	for range trials {
		var times [][]float64
		for range 10 {
			times = append(times, rounds(51, func(int) float64 { return 1 + 0.05*rng.ExpFloat64() }))
		}
		for _, f := range Finalists(score.Objective{Name: "time"}, finalTimes(t, times...)) {
			if f.Standing == Different {
				told++
				break
			}
		}
	}
	if told > significance*trials {
		t.Errorf("in %d of %d measurements of equal configurations some differ", told, trials)
	}
}

func TestScatter(t *testing.T) {
	f := Finalists(score.Objective{Name: "time"}, finalTimes(t, []float64{10, 11, 9, 50, 10}, []float64{20, 20, 20, 20, 20}))
	if f[0].Scatter != 0.1 || f[1].Scatter != 0 {
		t.Errorf("scatter %v and %v, want 0.1 and 0", f[0].Scatter, f[1].Scatter)
	}
}
