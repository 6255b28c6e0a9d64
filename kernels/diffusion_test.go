package kernels_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune/space"
)

// diffusionKernels are the bundled ones.
var diffusionKernels = []string{"naive", "local", "tiled"}

// diffusionLaunch is one build and launch of a diffusion kernel.
type diffusionLaunch struct {
	source         string
	nx, ny         int
	blockX, blockY int
	tileX, tileY   int
	spare          int // work-groups launched in each dimension beyond those that cover the field
}

func (l diffusionLaunch) String() string {
	return fmt.Sprintf("%d × %d cells, block %d × %d, tile %d × %d, %d spare groups",
		l.nx, l.ny, l.blockX, l.blockY, l.tileX, l.tileY, l.spare)
}

func (l diffusionLaunch) options() string {
	return fmt.Sprintf("-D nx=%d -D ny=%d -D dt=0.225f -D block_size_x=%d -D block_size_y=%d -D tile_size_x=%d -D tile_size_y=%d",
		l.nx, l.ny, l.blockX, l.blockY, l.tileX, l.tileY)
}

// fits says whether a device takes the launch, as far as its limits tell.
func (l diffusionLaunch) fits(info *cl.DeviceInfo) bool {
	local := 4 * (l.blockX*l.tileX + 2) * (l.blockY*l.tileY + 2)
	return l.blockX*l.blockY <= info.MaxWorkGroupSize && int64(local) <= info.LocalMemSize
}

// diffusionLaunches returns n launches of configurations that fit the device, drawn by a
// fixed seed; fields take turns, and every other launch has spare work-groups. The fifth field is a multiple of its block.
func diffusionLaunches(n int, source string, tiled bool, info *cl.DeviceInfo) []trial {
	fields := [][2]int{
		{200, 150}, {1, 1}, {130, 67}, {17, 5}, {96, 64}, {3, 3}, {66, 66}, {2, 9}, {513, 9}, {258, 258}, {1, 7}, {7, 1}, {2, 2},
		{3, 1}, {4, 3}, {5, 17}, {100, 37}, {66, 34}, {9, 300},
	}
	// Sizes of the specs, and odd ones that only a user's own spec would have.
	blocksX := []int{16, 32, 48, 64, 128, 16, 32, 48, 64, 128, 1, 3, 7}
	blocksY := []int{2, 4, 8, 16, 32, 2, 4, 8, 16, 32, 1, 5}
	tiles := []int{1, 2, 4, 1, 2, 4, 3}

	r := rand.New(rand.NewPCG(225, 1))
	var launches []trial
	for len(launches) < n {
		field := fields[len(launches)%len(fields)]
		l := diffusionLaunch{
			source: source, nx: field[0], ny: field[1],
			blockX: blocksX[r.IntN(len(blocksX))], blockY: blocksY[r.IntN(len(blocksY))],
			tileX: 1, tileY: 1, spare: len(launches) % 2,
		}
		if tiled {
			l.tileX, l.tileY = tiles[r.IntN(len(tiles))], tiles[r.IntN(len(tiles))]
		}
		if l.fits(info) {
			launches = append(launches, l)
		}
	}
	return launches
}

// diffusionOf is the launch of a configuration of a spec on a field.
func diffusionOf(source string, c space.Configuration, nx, ny int) diffusionLaunch {
	return diffusionLaunch{
		source: source, nx: nx, ny: ny,
		blockX: c.Int("block_size_x"), blockY: c.Int("block_size_y"),
		tileX: max(1, c.Int("tile_size_x")), tileY: max(1, c.Int("tile_size_y")),
	}
}

// TestDiffusion compares the kernels with a loop in double precision, and checks that they write only the
// inner cells of u_new. NDTUNE_LONG=1 makes it thirty times as long. One of them is always run.
func TestDiffusion(t *testing.T) {
	r := newRig(t)
	for name, count := range map[string]int{"naive": 5, "local": 5, "tiled": 8} {
		if long {
			count *= 30
		}
		t.Run(name, func(t *testing.T) {
			if name != "local" {
				needKernels(t)
			}
			r.run(t, diffusionLaunches(count, readKernel(t, diffusionPath(name)), name == "tiled", r.info))
		})
	}
}

func diffusionPath(name string) string { return "diffusion/diffuse_" + name + ".cl" }

// check starts with -77 in u_new, which its edges must keep.
func (l diffusionLaunch) check(r *rig, seed uint64) error {
	random := rand.New(rand.NewPCG(seed, 2))
	u, out := r.guarded(l.nx*l.ny), r.guarded(l.nx*l.ny)
	for i := range l.nx * l.ny {
		r.inner(u)[i] = random.Float32()
		r.inner(out)[i] = -77
	}
	want := diffuse(r.inner(u), r.inner(out), l.nx, l.ny)

	after, err := l.run(r, out, u)
	if err != nil {
		return err
	}
	if !slices.EqualFunc(u, after[1], sameBits) {
		return errors.New("u has changed")
	}
	if err := r.strayed(out, after[0]); err != nil {
		return fmt.Errorf("u_new: %w", err)
	}
	for cell, v := range r.inner(after[0]) {
		// Five roundings of sums up to 4, and a factor of 0.225.
		if !(math.Abs(float64(v)-want[cell]) <= 5e-7) {
			return fmt.Errorf("cell (%d, %d) is %v, want %v", cell%l.nx, cell/l.nx, v, want[cell])
		}
	}
	return nil
}

func sameBits(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }

// diffuse returns what u_new must hold afterwards: one step of u in double
// precision, and on the edges what is there.
func diffuse(u, uNew []float32, nx, ny int) []float64 {
	want := make([]float64, nx*ny)
	for y := range ny {
		for x := range nx {
			c := y*nx + x
			if x == 0 || x == nx-1 || y == 0 || y == ny-1 {
				want[c] = float64(uNew[c])
				continue
			}
			sum := float64(u[c-1]) + float64(u[c+1]) + float64(u[c-nx]) + float64(u[c+nx])
			want[c] = float64(u[c]) + float64(float32(0.225))*(sum-4*float64(u[c]))
		}
	}
	return want
}

// run launches the kernel on u_new and u.
func (l diffusionLaunch) run(r *rig, buffers ...[]float32) (after [][]float32, err error) {
	groups := func(size, patch int) int { return (size+patch-1)/patch + l.spare }
	return launch{
		source: l.source, kernel: "diffuse_kernel", options: l.options(),
		global: []int{groups(l.nx, l.blockX*l.tileX) * l.blockX, groups(l.ny, l.blockY*l.tileY) * l.blockY},
		local:  []int{l.blockX, l.blockY},
	}.run(r, buffers...)
}

// TestDiffusionRefusesHugeFields: cells are numbered with int.
func TestDiffusionRefusesHugeFields(t *testing.T) {
	needKernels(t)
	r := newRig(t)
	for _, name := range diffusionKernels {
		source := readKernel(t, diffusionPath(name))
		for _, field := range [][2]int{{1 << 16, 1 << 15}, {0, 4}, {4, -1}, {1<<30 + 1, 1}} {
			l := diffusionLaunch{nx: field[0], ny: field[1], blockX: 16, blockY: 2, tileX: 1, tileY: 1}
			if r.builds(t, source, l.options()) {
				t.Errorf("%s builds for a field of %d × %d", name, l.nx, l.ny)
			}
		}
	}
}
