package kernels_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/ndtune/ndtune/tune/space"
)

// A copying is one launch of the copy kernel.
type copying struct {
	launch
	count         int // vectors of four floats
	configuration space.Configuration
}

func (c copying) String() string { return fmt.Sprintf("%d vectors, %v", c.count, c.configuration) }

// check starts with NaN in the copy, of which none may be left.
func (c copying) check(r *rig, seed uint64) error {
	random := rand.New(rand.NewPCG(seed, 5))
	in, out := r.guarded(4*c.count), r.guarded(4*c.count)
	for i := range r.inner(in) {
		r.inner(in)[i] = random.Float32()
	}
	after, err := c.run(r, out, in)
	if err != nil {
		return err
	}
	if !slices.EqualFunc(in, after[1], sameBits) {
		return fmt.Errorf("in has changed")
	}
	if err := r.strayed(out, after[0]); err != nil {
		return fmt.Errorf("out: %w", err)
	}
	if !slices.Equal(r.inner(after[0]), r.inner(in)) {
		return fmt.Errorf("out is no copy of in")
	}
	return nil
}

// TestCopy takes two configurations for each size, all of them with NDTUNE_LONG=1.
func TestCopy(t *testing.T) {
	needKernels(t)
	r := newRig(t)
	var trials []trial
	for _, count := range []int{1, 100, 5000} {
		p := load(t, "copy/copy.yaml", map[string]string{"count": strconv.Itoa(count)}, nil)
		for i, c := range configurations(t, p, uint64(count)) {
			if i < 2 || long {
				trials = append(trials, copying{launchOf(t, p, c, i%2), count, c})
			}
		}
	}
	r.run(t, trials)
}
