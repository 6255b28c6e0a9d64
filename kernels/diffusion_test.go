package kernels_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/kernels"
)

// diffusionLaunch is one build and launch of a diffusion kernel.
type diffusionLaunch struct {
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

// diffusionLaunches returns n launches, drawn by a fixed seed from all
// combinations of field sizes and configurations that fit the device; every
// other one has spare work-groups. Fields that are a pain come up often.
func diffusionLaunches(n int, tiled bool, info *cl.DeviceInfo) []diffusionLaunch {
	fields := [][2]int{
		{1, 1}, {1, 7}, {7, 1}, {2, 2}, {2, 9}, {3, 3}, {3, 1}, {4, 3}, {17, 5}, {5, 17}, {64, 64}, {66, 66},
		{100, 37}, {130, 67}, {66, 34}, {200, 150}, {513, 9}, {258, 258}, {9, 300},
	}
	// Sizes of the specs, and odd ones that only a user's own spec would have.
	blocksX := []int{16, 32, 48, 64, 128, 16, 32, 48, 64, 128, 1, 3, 7}
	blocksY := []int{2, 4, 8, 16, 32, 2, 4, 8, 16, 32, 1, 5}
	tiles := []int{1, 2, 4, 1, 2, 4, 3}

	r := rand.New(rand.NewPCG(225, 1))
	var launches []diffusionLaunch
	for len(launches) < n {
		field := fields[r.IntN(len(fields))]
		l := diffusionLaunch{
			nx: field[0], ny: field[1],
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

// TestDiffusion compares the kernels with a loop in double precision, and looks
// whether they write anything but the inner cells of u_new. NDTUNE_LONG=1 makes
// it ten times as long.
func TestDiffusion(t *testing.T) {
	device := testDevice(t)
	info, err := device.Info()
	if err != nil {
		t.Fatal(err)
	}
	for name, count := range map[string]int{"naive": 20, "tiled": 50} {
		if os.Getenv("NDTUNE_LONG") != "" {
			count *= 10
		}
		t.Run(name, func(t *testing.T) {
			bench := newBench(t, device, readKernel(t, name))
			for i, l := range diffusionLaunches(count, name == "tiled", info) {
				bench.check(l, uint64(i))
			}
		})
	}
}

func readKernel(t *testing.T, name string) string {
	t.Helper()
	source, err := fs.ReadFile(kernels.FS, "diffusion/diffuse_"+name+".cl")
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}

// guardFloats are 4096 bytes, so that a field behind them is aligned as any
// device wants it.
const guardFloats = 1024

// bench launches the diffusion kernel of one source.
type bench struct {
	t       *testing.T
	context *cl.Context
	queue   *cl.Queue
	source  string
	guard   int // floats before and behind each field
}

func newBench(t *testing.T, device *cl.Device, source string) *bench {
	context, err := cl.NewContext(device)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(context.Release)
	queue, err := context.NewQueue(device, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(queue.Release)
	return &bench{t, context, queue, source, guardFloats}
}

// check launches the kernel between guards and compares all that it may have touched.
func (b *bench) check(l diffusionLaunch, seed uint64) {
	b.t.Helper()
	r := rand.New(rand.NewPCG(seed, 2))
	cells := l.nx * l.ny
	guard := b.guard
	u, out := guarded(cells, guard), guarded(cells, guard)
	for i := range cells {
		u[guard+i] = r.Float32()
		out[guard+i] = -77 // what the edges must keep
	}
	want := diffuse(u[guard:guard+cells], out[guard:guard+cells], l.nx, l.ny)

	uAfter, got, err := b.launch(l, u, out)
	if err != nil {
		b.t.Fatalf("%v: %v", l, err)
	}
	if !bytes.Equal(asBytes(u), asBytes(uAfter)) {
		b.t.Errorf("%v: u has changed", l)
	}
	for i, v := range got {
		cell := i - guard
		switch {
		case cell < 0 || cell >= cells:
			if math.Float32bits(v) != math.Float32bits(out[i]) {
				b.t.Fatalf("%v: written %d cells from the start of a field of %d", l, cell, cells)
			}
		// Five roundings of sums up to 4, and a factor of 0.225.
		case !(math.Abs(float64(v)-want[cell]) <= 5e-7):
			b.t.Fatalf("%v: cell (%d, %d) is %v, want %v", l, cell%l.nx, cell/l.nx, v, want[cell])
		}
	}
}

// guarded returns a field between guards of NaN, which show in whatever is
// computed from them.
func guarded(cells, guard int) []float32 {
	s := make([]float32, cells+2*guard)
	for i := range s {
		s[i] = float32(math.NaN())
	}
	return s
}

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

// launch runs the kernel on the fields within the guards of u and out, and
// returns both with their guards as they are afterwards.
func (b *bench) launch(l diffusionLaunch, u, out []float32) (uAfter, outAfter []float32, err error) {
	program, err := b.context.NewProgram(b.source)
	if err != nil {
		return nil, nil, err
	}
	defer program.Release()
	if err := program.Build(l.options()); err != nil {
		return nil, nil, err
	}
	kernel, err := program.NewKernel("diffuse_kernel")
	if err != nil {
		return nil, nil, err
	}
	defer kernel.Release()

	var whole, field [2]*cl.Buffer
	for i, data := range [][]float32{out, u} {
		if whole[i], err = b.context.NewBufferFrom(cl.ReadWrite, asBytes(data)); err != nil {
			return nil, nil, err
		}
		defer whole[i].Release()
		if field[i], err = whole[i].Sub(cl.ReadWrite, 4*b.guard, 4*(len(data)-2*b.guard)); err != nil {
			return nil, nil, err
		}
		defer field[i].Release()
	}
	if err := kernel.SetArgs(field[0], field[1]); err != nil {
		return nil, nil, err
	}
	groups := func(size, patch int) int { return (size+patch-1)/patch + l.spare }
	global := []int{groups(l.nx, l.blockX*l.tileX) * l.blockX, groups(l.ny, l.blockY*l.tileY) * l.blockY}
	event, err := b.queue.EnqueueKernel(kernel, nil, global, []int{l.blockX, l.blockY})
	if err != nil {
		return nil, nil, err
	}
	defer event.Release()
	if err := event.Wait(); err != nil {
		return nil, nil, err
	}
	outAfter, uAfter = make([]float32, len(out)), make([]float32, len(u))
	if err := b.queue.Read(whole[0], 0, asBytes(outAfter)); err != nil {
		return nil, nil, err
	}
	return uAfter, outAfter, b.queue.Read(whole[1], 0, asBytes(uAfter))
}

// TestDiffusionRefusesHugeFields: cells are numbered with int.
func TestDiffusionRefusesHugeFields(t *testing.T) {
	device := testDevice(t)
	for _, name := range []string{"naive", "tiled"} {
		b := newBench(t, device, readKernel(t, name))
		for _, field := range [][2]int{{1 << 16, 1 << 15}, {0, 4}, {4, -1}, {1<<30 + 1, 1}} {
			program, err := b.context.NewProgram(b.source)
			if err != nil {
				t.Fatal(err)
			}
			defer program.Release()
			l := diffusionLaunch{nx: field[0], ny: field[1], blockX: 16, blockY: 2, tileX: 1, tileY: 1}
			if program.Build(l.options()) == nil {
				t.Errorf("%s builds for a field of %d × %d", name, l.nx, l.ny)
			}
		}
	}
}
