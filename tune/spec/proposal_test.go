package spec

import (
	"slices"
	"testing"

	"github.com/ndtune/ndtune/tune/space"
)

func TestRoles(t *testing.T) {
	for name, want := range map[string]struct {
		role role
		axis int
	}{
		"BLOCK_SIZE": {blockRole, -1}, "block_size_x": {blockRole, 0}, "blockDimY": {blockRole, 1}, "WGS": {blockRole, -1}, "LOCAL_SIZE": {blockRole, -1},
		"TILE_WIDTH": {blockRole, 0}, "THREADS_PER_BLOCK": {blockRole, -1}, "NUM_BLOCKS": {sizeRole, -1}, "USE_LOCAL": {otherRole, -1}, "LOCAL_MEMORY": {otherRole, -1},
		"per_item": {perItemRole, -1}, "WORK_PER_THREAD": {perItemRole, -1}, "WPT": {perItemRole, -1}, "LOOP_UNROLL": {unrollRole, -1},
		"n": {sizeRole, -1}, "numElements": {sizeRole, -1}, "width": {sizeRole, 0}, "image_height": {sizeRole, 1}, "nz": {sizeRole, 2}, "iter": {otherRole, -1},
		"lda": {strideRole, -1}, "pitch": {strideRole, -1}, "alpha": {otherRole, -1}, "filter_width": {otherRole, 0}, "PI": {otherRole, -1},
	} {
		if r, axis := roleOf(name); r != want.role || axis != want.axis {
			t.Errorf("%s has the role %d and the dimension %d, want %+v", name, r, axis, want)
		}
	}
}

func TestAround(t *testing.T) {
	for _, c := range []struct {
		n, most int
		want    []space.Value
	}{
		{16, 1024, []space.Value{8, 16, 32, 64}}, {16, 32, []space.Value{8, 16, 32}}, {1, 64, []space.Value{1, 2, 4}}, {48, 1024, []space.Value{24, 48, 96, 192}},
		{512, 256, []space.Value{256, 512}}, {3, 64, []space.Value{1, 2, 3, 4, 8}},
	} {
		if got := around(c.n, c.most); !slices.Equal(got, c.want) {
			t.Errorf("around %d, at most %d: %v, want %v", c.n, c.most, got, c.want)
		}
	}
}
