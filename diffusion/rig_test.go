package diffusion

import (
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/kernels"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
)

const testDT = 0.225

// TestMain runs the tests on the stand-in, or with NDTUNE_TEST_OPENCL=system on the drivers of this system.
func TestMain(m *testing.M) { os.Exit(standin.Main(m)) }

// testDevice is the device that NDTUNE_TEST_DEVICE selects, else the first CPU, else any. Without a device a test is skipped, or
// fails where NDTUNE_REQUIRE_OPENCL is set.
func testDevice(t testing.TB) *cl.Device {
	t.Helper()
	all, err := device.List()
	if err != nil {
		if os.Getenv("NDTUNE_REQUIRE_OPENCL") != "" {
			t.Fatalf("no OpenCL device: %v", err)
		}
		t.Skipf("no OpenCL device: %v", err)
	}
	selector := os.Getenv("NDTUNE_TEST_DEVICE")
	if selector == "" {
		if l, err := device.Select(all, "cpu"); err == nil {
			return l.Device
		}
	}
	l, err := device.Select(all, selector)
	if err != nil {
		t.Fatal(err)
	}
	return l.Device
}

// kernelNames are the bundled diffusion kernels: naive, tiled and whatever comes.
func kernelNames(t testing.TB) []string {
	t.Helper()
	files, err := fs.Glob(kernels.FS, "diffusion/diffuse_*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no bundled diffusion kernels: %v", err)
	}
	var names []string
	for _, file := range files {
		names = append(names, strings.TrimSuffix(strings.TrimPrefix(path.Base(file), "diffuse_"), ".yaml"))
	}
	return names
}

// bundled is a bundled kernel for a field of nx × ny cells.
func bundled(t testing.TB, kernel string, nx, ny int, set map[string]string) *problem.Problem {
	t.Helper()
	all := map[string]string{"nx": strconv.Itoa(nx), "ny": strconv.Itoa(ny)}
	for name, value := range set {
		all[name] = value
	}
	s, err := spec.LoadFS(kernels.FS, "diffusion/diffuse_"+kernel+".yaml", spec.Options{Set: all})
	if err != nil {
		t.Fatal(err)
	}
	return s.Problem
}

// someConfigurations are the first configurations of a problem that a device takes, and more
// drawn from all of them.
func someConfigurations(t testing.TB, d *cl.Device, p *problem.Problem, n int) []space.Configuration {
	t.Helper()
	described, err := device.Describe(d)
	if err != nil {
		t.Fatal(err)
	}
	all, err := p.Space(t.Context(), described)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 7))
	order := append([]int{0}, r.Perm(all.Len())...)
	var taken []space.Configuration
	for _, i := range order {
		c := all.At(i)
		v, err := p.Variant(c, described)
		if err == nil && v.ExceededLimit(described) == "" {
			taken = append(taken, c)
		}
		if len(taken) == n {
			break
		}
	}
	if len(taken) == 0 {
		t.Fatal("the device takes no configuration")
	}
	return taken
}

// randomField is a field of temperatures in [low, high), edges included.
func randomField(nx, ny int, low, high float64, seed uint64) *Field {
	r := rand.New(rand.NewPCG(seed, 1))
	f := &Field{NX: nx, NY: ny, Values: make([]float32, nx*ny)}
	for i := range f.Values {
		f.Values[i] = float32(low + (high-low)*r.Float64())
	}
	return f
}

// A model is the scheme in float64, as plainly as it can be written.
type model struct {
	nx, ny int
	u      []float64
	bound  float64 // how far float32 can be from it by now; see doc.go for the operations
}

func modelOf(f *Field) *model {
	m := &model{nx: f.NX, ny: f.NY}
	for _, v := range f.Values {
		m.u = append(m.u, float64(v))
	}
	return m
}

func (m *model) step(dt float64) {
	next := append([]float64(nil), m.u...)
	largest := 0.0
	for y := range m.ny {
		for x := range m.nx {
			at := y*m.nx + x
			largest = max(largest, math.Abs(m.u[at]))
			if x == 0 || y == 0 || x == m.nx-1 || y == m.ny-1 {
				continue
			}
			next[at] = m.u[at] + dt*(m.u[at-1]+m.u[at+1]+m.u[at-m.nx]+m.u[at+m.nx]-4*m.u[at])
		}
	}
	m.u = next
	// A step is a mean, so that old errors do not grow; the new one is below 8 ε of the
	// largest value, and dt is off by ε itself.
	m.bound += (8 + 8*dt) * 0x1p-24 * largest
}

// largestError is how far a field is from the model.
func (m *model) largestError(f *Field) float64 {
	largest := 0.0
	for i, v := range f.Values {
		largest = max(largest, math.Abs(float64(v)-m.u[i]))
	}
	return largest
}

// sameBits finds the first cell in which two fields differ at all.
func sameBits(a, b *Field) (index int, same bool) {
	for i := range a.Values {
		if math.Float32bits(a.Values[i]) != math.Float32bits(b.Values[i]) {
			return i, false
		}
	}
	return 0, len(a.Values) == len(b.Values)
}
