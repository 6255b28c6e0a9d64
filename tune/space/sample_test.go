package space

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestNeighbours compares with what follows from the definitions, by looking at all pairs.
func TestNeighbours(t *testing.T) {
	p, err := NewParameters([]Parameter{{"a", span(1, 6, 1)}, {"b", span(1, 5, 1)}, {"c", span(0, 3, 1)}, {"d", ints(1, 3, 9)}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(t.Context(), p, expressions("a * b % 3 != 1", "c <= a", "d * c < 20"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Len() {
		own := s.Row(i, nil)
		var hamming, strict []int
		for j := range s.Len() {
			other := s.Row(j, nil)
			differ, far := 0, 0
			for p := range own {
				if d := own[p] - other[p]; d != 0 {
					differ++
					far = max(far, d, -d)
				}
			}
			if differ == 1 {
				hamming = append(hamming, j)
			}
			if differ > 0 && far == 1 {
				strict = append(strict, j)
			}
		}
		same := func(what string, n Neighbourhood, want []int) {
			got := s.Neighbours(i, n)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s neighbours of %v: %v, want %v", what, own, got, want)
			}
		}
		same("Hamming", Hamming, hamming)
		same("strictly adjacent", StrictlyAdjacent, strict)
		for _, j := range s.Neighbours(i, Adjacent) {
			if !slices.Contains(hamming, j) || !slices.Contains(s.Neighbours(j, Adjacent), i) {
				t.Errorf("%v has the adjacent neighbour %v, which is none, or not the other way round", own, s.Row(j, nil))
			}
		}
	}
}

func TestSample(t *testing.T) {
	s := knownSpaces()[0].build(t)
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 50, s.Len(), s.Len() + 5} {
		sample := s.Sample(n, r)
		if len(sample) != min(n, s.Len()) {
			t.Errorf("%d: %d", n, len(sample))
		}
		slices.Sort(sample)
		if len(slices.Compact(sample)) != min(n, s.Len()) {
			t.Errorf("%d: an index twice", n)
		}
	}
	counts := make([]int, s.Len())
	const rounds = 200
	for range rounds {
		for _, i := range s.Sample(s.Len()/10, r) {
			counts[i]++
		}
	}
	// Each is drawn about 20 times of 200; 0 or 60 would be nine standard deviations off.
	if least, most := slices.Min(counts), slices.Max(counts); least == 0 || most > 60 {
		t.Errorf("drawn %d to %d times of %d", least, most, rounds)
	}
}

// TestNearest: a valid point is its own nearest, and no single step leads nearer.
func TestNearest(t *testing.T) {
	s := knownSpaces()[3].build(t)
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		row := s.Row(r.IntN(s.Len()), nil)
		point := make([]float64, len(row))
		for p, digit := range row {
			point[p] = float64(digit)
		}
		if i := s.Nearest(point); !slices.Equal(s.Row(i, nil), row) {
			t.Fatalf("nearest to %v is %v", row, s.Row(i, nil))
		}
		for p := range point {
			point[p] = r.NormFloat64()*10 + 5
		}
		near := s.Row(s.Nearest(point), nil)
		for p, own := range near {
			for digit := range s.Parameters().At(p).Values {
				near[p] = digit
				if _, ok := s.Find(near); ok && apart(point[p], digit) < apart(point[p], own) {
					t.Fatalf("of %v, parameter %d can be %d instead of %d", point, p, digit, own)
				}
			}
			near[p] = own
		}
	}
}
