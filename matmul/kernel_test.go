package matmul

import (
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
)

// float32Kernels are the bundled kernels that multiply in float32.
var float32Kernels = []string{"naive", "local", "tiled", "bounds_naive", "bounds_tiled", "fast", "reference"}

// someConfigurations are two of a kernel's that a device takes.
func someConfigurations(t *testing.T, path string, n int, l device.Listed) []string {
	t.Helper()
	s, err := loadKernel(path, n)
	if err != nil {
		t.Fatal(err)
	}
	described, err := device.Describe(l.Device)
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.Problem.Space(t.Context(), described)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, i := range []int{0, all.Len() / 2, all.Len() - 1} {
		c := all.At(i)
		if v, err := s.Problem.Variant(c, described); err == nil && v.Refusal(described) == "" && len(texts) < 2 {
			texts = append(texts, c.String())
		}
	}
	return texts
}

// TestKernels multiplies with every bundled kernel, at a size that no work-group divides.
func TestKernels(t *testing.T) {
	l := testDevice(t)
	for _, name := range float32Kernels {
		t.Run(name, func(t *testing.T) {
			const n = 50
			path := "matmul/matmul_" + name + ".yaml"
			e := Entrant{Name: path, Kind: Kernel, Spec: path, Device: l.Selector(), Iterations: 2}
			with, err := open(e)
			if err != nil {
				t.Fatal(err)
			}
			configurations := someConfigurations(t, path, n, l)
			if name == "fast" {
				configurations = configurations[:1] // each takes PoCL seconds
			}
			m, err := measure(e, with, n, configurations)
			if err != nil {
				t.Fatal(err)
			}
			if len(m.Alone) < 2 || len(m.RoundTrips) < 2 || m.Time() <= 0 || m.WithTransfers() <= 0 {
				t.Errorf("%+v", m)
			}
			if !strings.Contains(strings.Join(configurations, ";"), m.Configuration) || m.Configuration == "" {
				t.Errorf("measured in %q, of %q", m.Configuration, configurations)
			}
		})
	}
}

// TestKernelConfigurations: one that cannot run is passed over while another can; the error
// names each where none can.
func TestKernelConfigurations(t *testing.T) {
	const path, good = "matmul/matmul_naive.yaml", "block_size_x=16, block_size_y=4, coalesced=1"
	const wrong, strange = "block_size_x=17, block_size_y=4, coalesced=1", "tile=3"
	l := testDevice(t)
	e := Entrant{Name: "naive", Kind: Kernel, Spec: path, Device: l.Selector(), Iterations: 1}
	with, err := open(e)
	if err != nil {
		t.Fatal(err)
	}
	m, err := measure(e, with, 20, []string{wrong, good, strange})
	if err != nil || m.Configuration != good {
		t.Errorf("%+v, %v", m, err)
	}
	_, err = measure(e, with, 20, []string{wrong, strange})
	if err == nil || !strings.Contains(err.Error(), wrong+": ") || !strings.Contains(err.Error(), strange+": ") {
		t.Errorf("%v", err)
	}
}

// TestKernelThatIsNoMultiplication is refused.
func TestKernelThatIsNoMultiplication(t *testing.T) {
	l := testDevice(t)
	e := Entrant{Name: "copy", Kind: Kernel, Spec: "copy/copy.yaml", Device: l.Selector(), Iterations: 1}
	with, err := open(e)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := measure(e, with, 20, []string{"block_size_x=64"}); err == nil || !strings.Contains(err.Error(), "is no multiplication of matrices") {
		t.Errorf("%v", err)
	}
}

// TestKernelByTheHostsClock times a kernel as on a driver without timestamps.
func TestKernelByTheHostsClock(t *testing.T) {
	l := testDevice(t)
	e := Entrant{Name: "naive", Kind: Kernel, Spec: "matmul/matmul_naive.yaml", Device: l.Selector(), Iterations: 2}
	k, err := openKernel(e)
	if err != nil {
		t.Fatal(err)
	}
	k.Timer = hardware.TimerHost
	m, err := measure(e, k.multiplier(), 40, []string{"block_size_x=16, block_size_y=4, coalesced=1", "block_size_x=32, block_size_y=2, coalesced=1"})
	if err != nil || !m.HostTimer || len(m.Alone) < 2 || m.Time() <= 0 {
		t.Errorf("%+v, %v", m, err)
	}
}
