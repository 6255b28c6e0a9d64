package matmul

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/space"
)

// someConfigurations are some of a kernel's that the device takes for a shape, drawn at random.
func someConfigurations(t *testing.T, kernel string, shape Shape, l device.Listed, count int) []string {
	t.Helper()
	k, err := kernelNamed(kernel)
	if err != nil {
		t.Fatal(err)
	}
	s, err := k.load(shape)
	if err != nil {
		t.Fatal(err)
	}
	described, err := device.Describe(l.Device)
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.Space(t.Context(), described)
	var empty *space.EmptyError
	if errors.As(err, &empty) {
		t.Skipf("no configuration is for %s", described.Name)
	}
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	r := rand.New(rand.NewPCG(uint64(shape.M), uint64(shape.N)))
	for range 100 * count {
		c := all.At(r.IntN(all.Len()))
		if v, err := s.Problem.Variant(c, described); err == nil && v.ExceededLimit(described) == "" && len(texts) < count {
			texts = append(texts, c.String())
		}
	}
	return texts
}

// kernelEntrant is an entrant for a kernel on a device.
func kernelEntrant(t *testing.T, kernel string, l device.Listed) Entrant {
	t.Helper()
	k, err := kernelNamed(kernel)
	if err != nil {
		t.Fatal(err)
	}
	return Entrant{Name: kernel, Kind: OnDevice, Precision: k.Precision, Device: l.Selector(), Iterations: 2}
}

// TestKernels multiplies with every bundled kernel that the device can run, at shapes that no work-group divides. Large shapes, and
// several configurations, are for the kernels that only GPUs run, whose instructions no simulator executes.
func TestKernels(t *testing.T) {
	l := testDevice(t)
	for _, name := range KernelNames() {
		t.Run(name, func(t *testing.T) {
			shapes, count := []Shape{Square(50)}, 1
			switch {
			case strings.HasPrefix(name, "hopper") || name == "double":
				shapes, count = []Shape{
					{33, 65, 97}, {1, 1, 1}, {300, 200, 8}, {129, 258, 516}, {128, 257, 512}, {128, 256, 515}, {3, 130, 1},
					{1, 4096, 4096}, {1000, 996, 100}, {4096, 4096, 8}, {4095, 4097, 4099},
				}, 2
			case strings.HasPrefix(name, "fast") || name == "tf32" || name == "half":
				shapes = []Shape{{33, 65, 97}}
			}
			e := kernelEntrant(t, name, l)
			with, err := open(e)
			if err != nil {
				t.Fatal(err)
			}
			for _, shape := range shapes {
				for _, configuration := range someConfigurations(t, name, shape, l, count) {
					e.Errors = count > 1
					m, err := measure(e, with, shape, Candidates{Near: []string{configuration}})
					if err != nil {
						t.Errorf("%v, %s: %v", shape, configuration, err)
						continue
					}
					if len(m.Alone) < 2 || len(m.RoundTrips) < 2 || m.Time() <= 0 || m.WithTransfers() <= 0 || m.Configuration != configuration {
						t.Errorf("%v, %s: %+v", shape, configuration, m)
					}
					if count > 1 {
						t.Logf("%v, %s: %.1f GFLOP/s, %v", shape, configuration, shape.Rate(m.Time()), m.Errors)
					}
				}
			}
		})
	}
}

// TestTutorial runs a kernel of docs/matmul.md on PoCL.
func TestTutorial(t *testing.T) {
	if !standin.OnSystem() {
		standin.RunOnPoCL(t, "TestKernels/tiled")
	}
}

// TestInfinities: infinities and NaN come out as in the loop. An infinity times an infinity does not occur.
func TestInfinities(t *testing.T) {
	if !standin.OnSystem() {
		t.Skip("it is about compiled kernels: make test-kernels runs it")
	}
	l := testDevice(t)
	for _, name := range []string{"naive", "fast", "tf32", "half", "double", "hopper", "hopper-tf32", "hopper-half"} {
		t.Run(name, func(t *testing.T) {
			e := kernelEntrant(t, name, l)
			with, err := openKernel(e)
			if err != nil {
				t.Fatal(err)
			}
			if name == "hopper" {
				with.Set = map[string]string{"infinities": "1"}
			}
			for _, shape := range []Shape{Square(64), {70, 90, 131}, {40, 36, 68}} {
				if name == "naive" && !shape.IsSquare() {
					continue
				}
				m := NewMatrices(shape, e.Precision)
				for i, v := range []float64{math.Inf(1), math.Inf(-1), math.NaN(), math.Inf(1), math.Inf(-1)} {
					m.element.put(m.at(m.A, 5*i*m.K+7*i), v) // of rows 0 to 20, terms 0 to 28
					m.element.put(m.at(m.B, (30+5*i)*m.N+6*i), v)
				}
				m.element.put(m.at(m.A, 25*m.K+3), math.Inf(1)) // of both signs in one row
				m.element.put(m.at(m.A, 25*m.K+4), math.Inf(1))
				a, b := make([]float32, m.M*m.K), make([]float32, m.K*m.N)
				for i := range a {
					a[i] = float32(m.element.get(m.at(m.A, i)))
				}
				for i := range b {
					b[i] = float32(m.element.get(m.at(m.B, i)))
				}
				p, err := with.prepare(m, Candidates{Near: someConfigurations(t, name, shape, l, 1)})
				if err != nil {
					t.Fatal(err)
				}
				defer p.close()
				if _, err := p.run(1); err != nil {
					t.Fatal(err)
				}
				if err := p.fetch(); err != nil {
					t.Fatal(err)
				}
				want := make([]float32, m.M*m.N)
				Multiply(want, a, b, m.M, m.N, m.K)
				infinite := 0
				for i, v := range want {
					got, v := m.element.get(m.at(m.C, i)), float64(v)
					same := math.Abs(got-v) <= 0.2
					if math.IsNaN(v) || math.IsInf(v, 0) {
						same = got == v || math.IsNaN(got) && math.IsNaN(v)
						infinite++
					}
					if !same {
						t.Fatalf("%v: C[%d][%d] is %v, want %v", shape, i/m.N, i%m.N, got, v)
					}
				}
				if infinite < 5*(m.M+m.N)-25 {
					t.Errorf("only %d elements are infinite or NaN", infinite)
				}
			}
		})
	}
}

// TestKernelConfigurations: one that cannot run is passed over while another can; the error
// names each where none can. Others are only for sizes at which none of the near ones can.
func TestKernelConfigurations(t *testing.T) {
	const good, other = "block_size_x=16, block_size_y=4, coalesced=1", "block_size_x=32, block_size_y=4, coalesced=1"
	const wrong, strange = "block_size_x=17, block_size_y=4, coalesced=1", "tile=3"
	l := testDevice(t)
	e := kernelEntrant(t, "naive", l)
	with, err := open(e)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		near, others []string
		want         string
	}{
		{[]string{wrong, good, strange}, []string{other}, good},
		{[]string{wrong, strange}, []string{strange, other, good}, other},
	} {
		m, err := measure(e, with, Square(20), Candidates{test.near, test.others})
		if err != nil || m.Configuration != test.want {
			t.Errorf("%+v, %v", m, err)
		}
	}
	_, err = measure(e, with, Square(20), Candidates{Near: []string{wrong, strange}})
	if err == nil || !strings.Contains(err.Error(), wrong+": ") || !strings.Contains(err.Error(), strange+": ") {
		t.Errorf("%v", err)
	}
	_, err = measure(e, with, Shape{20, 21, 20}, Candidates{Near: []string{good}})
	if err == nil || !strings.Contains(err.Error(), "naive takes square matrices only") {
		t.Errorf("%v", err)
	}
}

// TestKernelByTheHostsClock times a kernel as on a driver without timestamps.
func TestKernelByTheHostsClock(t *testing.T) {
	l := testDevice(t)
	e := kernelEntrant(t, "naive", l)
	k, err := openKernel(e)
	if err != nil {
		t.Fatal(err)
	}
	k.Timer = hardware.TimerHost
	near := []string{"block_size_x=16, block_size_y=4, coalesced=1", "block_size_x=32, block_size_y=2, coalesced=1"}
	m, err := measure(e, k.multiplier(), Square(40), Candidates{Near: near})
	if err != nil || !m.HostTimer || len(m.Alone) < 2 || m.Time() <= 0 {
		t.Errorf("%+v, %v", m, err)
	}
}
