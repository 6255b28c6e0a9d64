package loop

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
)

// A noted strategy keeps its proposals in order.
type noted struct {
	search.Strategy
	proposed []int
}

func (n *noted) Ask(most int) []int {
	proposed := n.Strategy.Ask(most)
	n.proposed = append(n.proposed, proposed...)
	return proposed
}

// TestProposalsDependOnTheWindowAlone lets searches of one seed run on evaluators that answer in random order, and of which one can use more
// configurations at once than another: they propose the same in the same order. So do searches that are killed, at twenty points, and go on
// elsewhere; each evaluates as many configurations as its budget has.
func TestProposalsDependOnTheWindowAlone(t *testing.T) {
	const budget = 60
	p := line(t, 200)
	run := func(underWay, capacity, cancelAfter int, seed uint64, log *memory) ([]int, string) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		f := &fake{capacity: capacity, rng: rand.New(rand.NewPCG(seed, 5)), answer: correct}
		f.taken = func(n int) {
			if n == cancelAfter {
				cancel()
			}
		}
		n := &noted{}
		o, err := Run(ctx, p, f, Options{
			MaxEvaluations: budget, Log: log, UnderWay: underWay,
			Strategy: func(s *space.Space) (_ search.Strategy, err error) {
				n.Strategy, err = search.New(search.Auto, s, search.Options{Seed: 7, Budget: budget})
				return n, err
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if cancelAfter == 0 && len(o.Results) != budget {
			t.Fatalf("%d results with a budget of %d", len(o.Results), budget)
		}
		return n.proposed, bestKey(o)
	}
	want, best := run(10, 10, 0, 0, &memory{})
	if other, _ := run(4, 10, 0, 0, &memory{}); slices.Equal(other, want) {
		t.Fatal("the window does not matter: this test shows nothing")
	}
	for seed := range uint64(10) {
		if got, _ := run(10, 1+int(seed)*3, 0, seed, &memory{}); !slices.Equal(got, want) {
			t.Fatalf("run %d proposes\n%v, the first\n%v", seed, got, want)
		}
	}
	for at := 1; at < budget; at += 3 {
		log := &memory{}
		begun, _ := run(10, 10, at, uint64(at), log)
		if !slices.Equal(begun, want[:len(begun)]) {
			t.Fatalf("killed after %d, it proposed\n%v, not\n%v", at, begun, want)
		}
		if got, found := run(10, 3, 0, uint64(at)+100, log.reopened()); !slices.Equal(got, want) || found != best {
			t.Fatalf("killed after %d and resumed, it proposes\n%v, not\n%v, and finds %s, not %s", at, got, want, found, best)
		}
	}
}

func TestUnderWay(t *testing.T) {
	for _, c := range []struct{ capacity, budget, want, earlier int }{
		{1, 0, 1, 1}, {0, 0, 1, 1}, {20, 0, 20, 20}, {1000, 0, 128, 32},
		{20, 400, 20, 20}, {300, 400, 100, 32}, {300, 40, 10, 5}, {300, 3, 2, 2}, {1, 3, 1, 1},
	} {
		if got, earlier := UnderWay(c.capacity, c.budget), EarlierUnderWay(c.capacity, c.budget); got != c.want || earlier != c.earlier {
			t.Errorf("capacity %d, budget %d: %d and %d, want %d and %d", c.capacity, c.budget, got, earlier, c.want, c.earlier)
		}
	}
}
