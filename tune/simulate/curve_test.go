package simulate

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
)

func TestMomentsAreThoseOfTheSample(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var sample []float64
	all := newMoments(1)
	for range 7 {
		part := newMoments(1)
		for range 1 + rng.IntN(5) {
			q := 1 - 1e-9*rng.Float64()
			sample = append(sample, q)
			part.add([]float64{q})
		}
		all.merge(part)
	}
	mean, e := stat.Mean(sample, nil), stat.StdErr(stat.StdDev(sample, nil), float64(len(sample)))
	if math.Abs(all.mean[0]-mean) > 1e-15 || math.Abs(all.standardErrors()[0]-e) > 1e-6*e {
		t.Errorf("%v ± %v, want %v ± %v", all.mean[0], all.standardErrors()[0], mean, e)
	}
}

func TestAverages(t *testing.T) {
	averages := Averages([]Curve{
		{Strategy: "x", Record: "a", Repeats: 50, Mean: []float64{0.5, 0.9}, StandardError: []float64{0.03, 0}},
		{Strategy: "x", Record: "b", Repeats: 50, Mean: []float64{0.7, 1}, StandardError: []float64{0.04, 0.02}},
		{Strategy: "y", Record: "a", Repeats: 50, Mean: []float64{0.1, 0.2}, StandardError: []float64{0.01, 0.01}},
	})
	if len(averages) != 2 || averages[0].Strategy != "x" || averages[0].Record != "all" || averages[1].Strategy != "y" || averages[0].Repeats != 50 {
		t.Fatalf("%+v", averages)
	}
	for n, want := range map[int][2]float64{1: {0.6, 0.025}, 2: {0.95, 0.01}} {
		if mean, e := averages[0].At(n); math.Abs(mean-want[0]) > 1e-12 || math.Abs(e-want[1]) > 1e-12 {
			t.Errorf("%v ± %v after %d, want %v", mean, e, n, want)
		}
	}
	if mean, e := averages[1].At(2); mean != 0.2 || e != 0.01 {
		t.Errorf("of one record: %v ± %v", mean, e)
	}
}

func TestEncodeCSV(t *testing.T) {
	var b bytes.Buffer
	err := EncodeCSV(&b, []Curve{
		{Strategy: "x", Record: "a, b", Repeats: 2, Mean: []float64{0.5, 1}, StandardError: []float64{0.25, 0}},
		{Strategy: "y", Record: "c", Repeats: 1, Mean: []float64{0.125}, StandardError: []float64{math.NaN()}},
	})
	want := "strategy,record,evaluations,mean,stderr\nx,\"a, b\",1,0.5,0.25\nx,\"a, b\",2,1,0\ny,c,1,0.125,\n"
	if err != nil || b.String() != want {
		t.Errorf("%v, %q, want %q", err, b.String(), want)
	}
}

func TestNamedStrategiesAreCalledAsTheyAreWritten(t *testing.T) {
	if got := Named("g", map[string]string{"popsize": "20", "maxiter": "5"}).Name; got != "g:maxiter=5,popsize=20" {
		t.Error(got)
	}
	if got := Named("g", nil).Name; got != "g" {
		t.Error(got)
	}
}
