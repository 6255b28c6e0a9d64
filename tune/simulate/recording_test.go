package simulate

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/score"
)

func TestMaximisedObjective(t *testing.T) {
	r := recorded(t, 50, failed, 200, -3, 100)
	r.Header.Objective = score.Objective{Name: "GFLOP/s", Maximize: true}
	n, err := NewRecording(t.Context(), "r", r)
	if err != nil {
		t.Fatal(err)
	}
	if want := []float64{0.25, 0, 1, 0, 0.5}; !slices.Equal(n.quality, want) || n.Best != 200 || n.Correct != 4 {
		t.Errorf("quality %v, want %v; best %v, correct %d", n.quality, want, n.Best, n.Correct)
	}
	if o := n.Observations[2]; o.Objective != -200 || !o.Valid {
		t.Errorf("the strategy is told %+v", o)
	}
}

// TestTimesThatCannotBe makes failures of what would win every search.
func TestTimesThatCannotBe(t *testing.T) {
	r := recorded(t, 5, 3, 4, 2)
	r.Results[1].Times, r.Results[1].Objective = []float64{0}, 0
	r.Results[3].Objective = math.NaN()
	n, err := NewRecording(t.Context(), "r", r)
	if err != nil {
		t.Fatal(err)
	}
	if want := []float64{0.8, 0, 1, 0}; !slices.Equal(n.quality, want) {
		t.Errorf("quality %v, want %v", n.quality, want)
	}
}

func TestBadRecords(t *testing.T) {
	for says, r := range map[string]*record.Record{
		"there is no result in it":                       {},
		"none of its 3 configurations is correct":        recorded(t, failed, failed, failed),
		"the best time in it is -1: it must be positive": recorded(t, 3, -1),
	} {
		if _, err := NewRecording(t.Context(), "r", r); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %s", err, says)
		}
	}
}
