package peak

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
)

func TestMain(m *testing.M) { os.Exit(standin.Main(m)) }

// onPoCL are the tests that check the kernels of kernels/peak, and one measurement of everything. TestOnPoCL runs them in one process.
var onPoCL = []string{"TestParts", "TestEveryVariantMovesItsSet", "TestWrongMovementsAreFoundOut", "TestWrongArithmeticIsFoundOut", "TestContentTotal"}

func TestOnPoCL(t *testing.T) {
	if standin.OnSystem() {
		t.Skip("all tests run on the system's drivers")
	}
	if left := standin.RunOnPoCL(t, onPoCL...); len(left) > 0 {
		t.Errorf("skipped on PoCL: %v", left)
	}
}

// testMeter opens the device that tests run on: the one that NDTUNE_TEST_DEVICE names, else a
// CPU, else the first. The stand-in has little memory, since it really moves the sets.
func testMeter(t *testing.T) *Meter {
	t.Helper()
	l, err := findTestDevice()
	if err != nil {
		if os.Getenv("NDTUNE_REQUIRE_OPENCL") != "" {
			t.Fatalf("no OpenCL device: %v", err)
		}
		t.Skipf("no OpenCL device: %v", err)
	}
	launcher, err := device.NewLauncher(l.Device, "")
	if err != nil {
		t.Fatal(err)
	}
	m := &Meter{Launcher: launcher}
	t.Cleanup(m.Release)
	if !standin.OnSystem() {
		info := *m.Info
		info.GlobalMemSize, info.MaxAllocSize = 16<<20, 4<<20
		m.Info = &info
	}
	return m
}

func findTestDevice() (device.Listed, error) {
	all, err := device.List()
	if err != nil {
		return device.Listed{}, err
	}
	if selector := os.Getenv("NDTUNE_TEST_DEVICE"); selector != "" {
		return device.Select(all, selector)
	}
	if l, err := device.Select(all, "cpu"); err == nil {
		return l, nil
	}
	return device.Select(all, "")
}

// Every part gives all of its figures, each with a value or a reason, and what the device must
// have it has. The rates of the stand-in are known; on other devices, most variants are left out without NDTUNE_LONG.
func TestParts(t *testing.T) {
	m := testMeter(t)
	within := time.Duration(0)
	rates := map[string]float64{hardware.PeakFloat32: 50, hardware.PeakFloat64: 50, hardware.PeakMemoryCopy: 20, hardware.PeakCacheCopy: 80, hardware.PeakMemoryRead: 20, hardware.PeakCacheRead: 80}
	if standin.OnSystem() {
		rates = nil
		if os.Getenv("NDTUNE_LONG") == "" {
			within = 1
		}
	}
	for _, p := range Parts() {
		measured, err := m.Measure(context.Background(), p, within)
		if err != nil {
			t.Fatalf("%s: %v", p.Name, err)
		}
		if len(measured.Figures) != len(p.Figures) || measured.Timer != m.Timer {
			t.Errorf("%s: %+v", p.Name, measured)
		}
		for _, name := range p.Figures {
			f := measured.Figures[name]
			t.Logf("%s: %+v", name, f)
			lacks := false
			switch name {
			case hardware.PeakFloat16:
				lacks = half.lacking(m.Info) != nil
			case hardware.PeakFloat64:
				lacks = double.lacking(m.Info) != nil
			case hardware.PeakMemoryCopy:
				lacks = nothingBeyond(m, copying)
			case hardware.PeakMemoryRead: // some servers have caches of hundreds of megabytes
				lacks = nothingBeyond(m, reading)
			}
			if (f.Value > 0) == lacks || (f.Missing != "") != lacks || f.Unit == "" {
				t.Errorf("%s: %+v", name, f)
			}
			if rate := rates[name]; rate > 0 && (f.Value > rate || f.Value < 0.9*rate) {
				t.Errorf("%s: %+v, want nearly %v", name, f, rate)
			}
		}
		for _, curve := range [][]hardware.Bandwidth{measured.Copy, measured.Read} {
			for i, b := range curve {
				if b.Rate <= 0 || within == 0 && i > 0 && b.Bytes != 2*curve[i-1].Bytes {
					t.Errorf("%s: %+v", p.Name, curve)
				}
			}
		}
	}
}

func nothingBeyond(m *Meter, what movement) bool {
	_, beyond := m.sets(what)
	return beyond == 0
}

// With the host's clock, launches are waited for and are long enough for that.
func TestTheHostsClock(t *testing.T) {
	m := testMeter(t)
	m.Timer = hardware.TimerHost
	for _, name := range []string{"arithmetic in float32"} {
		p := partOf(t, name)
		measured, err := m.Measure(context.Background(), p, 1)
		if err != nil || measured.Timer != hardware.TimerHost || measured.Value(p.Figures[0]) == 0 {
			t.Errorf("%s: %+v, %v", name, measured, err)
		}
	}
	s := openStream(t, m, copying)
	if rate, err := s.rate(context.Background(), m.movers(copying)[0], 1<<20, 0); err != nil || rate <= 0 {
		t.Errorf("%v GB/s, %v", rate, err)
	}
}

// partOf returns the part of a name.
func partOf(t *testing.T, name string) Part {
	t.Helper()
	i := slices.IndexFunc(Parts(), func(p Part) bool { return p.Name == name })
	if i < 0 {
		t.Fatalf("no part is named %s", name)
	}
	return Parts()[i]
}

func TestEveryFigureBelongsToAPart(t *testing.T) {
	owners := map[string]int{}
	for _, p := range Parts() {
		for _, name := range p.Figures {
			owners[name]++
		}
	}
	for _, f := range hardware.PeakFigures() {
		if owners[f.Name] != 1 {
			t.Errorf("%s belongs to %d parts", f.Name, owners[f.Name])
		}
	}
}

func TestMeasuringEndsWithItsContext(t *testing.T) {
	m := testMeter(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, p := range Parts() {
		if measured, err := m.Measure(ctx, p, 0); !errors.Is(err, context.Canceled) || measured != nil {
			t.Errorf("%s: %+v, %v", p.Name, measured, err)
		}
	}
}

// openStream is a stream of sets of up to 1 MiB.
func openStream(t *testing.T, m *Meter, what movement) *stream {
	t.Helper()
	s := &stream{meter: m, movement: what, sizes: []int64{256 << 10, 512 << 10, 1 << 20}}
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	return s
}

// Every variant moves all of its set, once and over and over. On other devices than the stand-in, and without NDTUNE_LONG, it is one
// variant of each vector, and one with non-temporal stores.
func TestEveryVariantMovesItsSet(t *testing.T) {
	m := testMeter(t)
	for _, what := range []movement{copying, reading} {
		s := openStream(t, m, what)
		seen := map[string]bool{}
		for _, v := range m.movers(what) {
			kind := fmt.Sprint(v.lanes, v.nontemporal)
			if seen[kind] && standin.OnSystem() && os.Getenv("NDTUNE_LONG") == "" {
				continue
			}
			seen[kind] = true
			for _, set := range s.sizes {
				rate, err := s.rate(context.Background(), v, set, 0)
				if err != nil && !v.nontemporal || err == nil && rate <= 0 {
					t.Errorf("%s, %s, %d B: %v GB/s, %v", what.kernel, v, set, rate, err)
				}
			}
		}
	}
}

// A copy that copies too little, and a read that reads something else, are found out.
func TestWrongMovementsAreFoundOut(t *testing.T) {
	m := testMeter(t)
	for _, what := range []movement{copying, reading} {
		s := openStream(t, m, what)
		v := m.movers(what)[0]
		if _, err := s.rate(context.Background(), v, 1<<20, 0); err != nil {
			t.Fatal(err)
		}
		// One number of what is moved is another than what was asked for.
		if err := m.Queue.Write(s.in, 4096, []byte{1, 2, 3, 4}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.rate(context.Background(), v, 1<<20, 0); err == nil || !strings.Contains(err.Error(), "the result is wrong") {
			t.Errorf("%s of something else: %v", what.kernel, err)
		}
		s.filled = 0
		k, err := s.kernel(v)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.fill(1 << 17); err != nil {
			t.Fatal(err)
		}
		// A kernel of another variant moves a half of each block.
		small := v
		small.items *= 2
		if err := s.check(k, small, 4); err == nil || !strings.Contains(err.Error(), "the result is wrong") {
			t.Errorf("%s of a half: %v", what.kernel, err)
		}
	}
}

// A device of small work-groups that takes none of the variants says so.
func TestADeviceOfSmallWorkGroups(t *testing.T) {
	m := testMeter(t)
	info := *m.Info
	info.MaxWorkGroupSize = 8
	m.Info = &info
	for _, name := range []string{"copying", "reading"} {
		p := partOf(t, name)
		measured, err := m.Measure(context.Background(), p, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, figure := range p.Figures {
			if why := measured.Figures[figure].Missing; why != "the device takes none of the variants" {
				t.Errorf("%s: %+v", figure, measured.Figures[figure])
			}
		}
	}
}

// What a device computes is checked: a kernel that does fewer steps than it is credited with
// is found out.
func TestWrongArithmeticIsFoundOut(t *testing.T) {
	if !standin.OnSystem() {
		t.Skip("TestOnPoCL runs it: the stand-in has one formula")
	}
	m := testMeter(t)
	s := &sums{meter: m, precision: float, steps: countSteps}
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	defer s.close()
	v := summing{scalar: "float", lanes: 4, chains: 4, local: 4, form: forms[0]}
	if rate, err := s.rate(context.Background(), v, 0); err != nil || rate <= 0 {
		t.Fatalf("%v GFLOP/s, %v", rate, err)
	}
	// (1 - a) for a chain: it is off by one in each step.
	v.form = "((x) * (a) + (b) + (b))"
	if rate, err := s.rate(context.Background(), v, 0); err == nil || !strings.Contains(err.Error(), "the result is wrong") {
		t.Errorf("%v GFLOP/s by another formula, %v", rate, err)
	}
}

// The sum of the content is that of its numbers.
func TestContentTotal(t *testing.T) {
	sum := uint32(0)
	for i := range 100_000 {
		if got := contentTotal(i); got != sum {
			t.Fatalf("%d numbers: %d, want %d", i, got, sum)
		}
		sum += uint32(i)*contentFactor + contentOffset
	}
	m := testMeter(t)
	c, err := m.openContent()
	if err != nil {
		t.Fatal(err)
	}
	defer c.release()
	for _, n := range []int{1, 63, 64, 1000, 100_001} {
		b, err := m.Context.NewBuffer(cl.ReadWrite, 4*n+4)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Release()
		if err := c.fill(b, n+1, 0, 7); err != nil {
			t.Fatal(err)
		}
		if err := c.fill(b, n, contentFactor, contentOffset); err != nil {
			t.Fatal(err)
		}
		err = c.check(b, n, contentFactor, contentOffset)
		total, also := c.total(b, n)
		if err != nil || also != nil || total != contentTotal(n) {
			t.Errorf("%d numbers: %v, total %d, %v, want %d", n, err, total, also, contentTotal(n))
		}
		if err := c.check(b, n+1, contentFactor, contentOffset); err == nil || err.Error() != fmt.Sprintf("the result is wrong: of %d numbers %d are right", n+1, n) {
			t.Errorf("%d of %d numbers are right, %v", n, n+1, err)
		}
	}
}

// The sets grow from the least to one that is beyond the caches, where the memory takes it.
func TestSets(t *testing.T) {
	gpu := cl.DeviceInfo{Type: cl.DeviceGPU}
	for name, c := range map[string]struct {
		memory, buffer, cache int64
		kind                  cl.DeviceType
		largest, beyond       int64
	}{
		"a large GPU":         {140 << 30, 35 << 30, 64 << 20, gpu.Type, 512 << 20, 512 << 20},
		"a small GPU":         {4 << 30, 1 << 30, 2 << 20, gpu.Type, 256 << 20, 256 << 20},
		"a CPU":               {64 << 30, 16 << 30, 32 << 20, cl.DeviceCPU, 256 << 20, 256 << 20},
		"a CPU's large cache": {64 << 30, 16 << 30, 96 << 20, cl.DeviceCPU, 1 << 30, 1 << 30},
		"little memory":       {256 << 20, 64 << 20, 1 << 20, gpu.Type, 128 << 20, 128 << 20},
		"less than its cache": {96 << 20, 64 << 20, 32 << 20, cl.DeviceCPU, 32 << 20, 0},
		"nothing known":       {0, 0, 0, gpu.Type, 256 << 20, 256 << 20},
	} {
		m := &Meter{Launcher: &device.Launcher{Info: &cl.DeviceInfo{Type: c.kind, GlobalMemSize: c.memory, MaxAllocSize: c.buffer, GlobalCacheSize: c.cache}}}
		sizes, beyond := m.sets(copying)
		if last := sizes[len(sizes)-1]; sizes[0] != leastSet || last != c.largest || beyond != c.beyond {
			t.Errorf("%s: %d … %d, beyond the caches from %d; want to %d, from %d", name, sizes[0], last, beyond, c.largest, c.beyond)
		}
	}
}

// If the time is up at once, the first variants still give all figures, and what was left out is said.
func TestTheTimeIsUp(t *testing.T) {
	m := testMeter(t)
	for _, p := range Parts(hardware.PeakFloat32, hardware.PeakMemoryCopy, hardware.PeakMemoryRead) {
		measured, err := m.Measure(context.Background(), p, time.Nanosecond)
		if err != nil || !strings.HasPrefix(measured.Partial, p.Name+": ") || !strings.HasSuffix(measured.Partial, " were left out") {
			t.Errorf("%s: %v, in part %q", p.Name, err, measured.Partial)
		}
		for _, name := range p.Figures {
			if f := measured.Figures[name]; f.Value <= 0 {
				t.Errorf("%s: %+v", name, f)
			}
		}
	}
}

func TestPartsOfFigures(t *testing.T) {
	for want, figures := range map[string][]string{
		"arithmetic in float32, arithmetic in float64, arithmetic in float16, copying, reading": nil,
		"arithmetic in float16": {hardware.PeakFloat16},
		"copying":               {hardware.PeakCacheCopy},
		"arithmetic in float64, copying, reading": {hardware.PeakMemoryRead, hardware.PeakMemoryCopy, hardware.PeakFloat64},
	} {
		var names []string
		for _, p := range Parts(figures...) {
			names = append(names, p.Name)
		}
		if got := strings.Join(names, ", "); got != want {
			t.Errorf("%v: %s, want %s", figures, got, want)
		}
	}
}
