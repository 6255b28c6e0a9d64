package worker

import (
	"context"
	"testing"
	"time"

	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/judge"
	"github.com/ndtune/ndtune/tune/loop"
	"github.com/ndtune/ndtune/tune/problem"
)

// TestPeaksMeanwhile searches on a GPU whose evaluating worker measures peaks while it has nothing else to do. What goes wrong
// there costs the search nothing, and the peaks are measured afterwards.
func TestPeaksMeanwhile(t *testing.T) {
	t.Parallel()
	if standin.OnSystem() {
		t.Skip("needs the stand-in's GPU")
	}
	for _, c := range []struct {
		name, fault string
		started     int // processes
	}{
		{"measured", "", 1},
		{"crash", "peak_arithmetic crashes first 1", 2},
		{"hang", "peak_arithmetic hangs first 1", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := tiny(t, 4, t.Name())
			r := NewReserve(nil)
			defer r.Close()
			r.host.Environment = []string{standin.FaultsVariable + "=peak_arithmetic takes 20000000;" + c.fault, "STANDIN_STATE=" + t.TempDir()}
			gpu := selectDevice(t, "gpu")
			needs := judge.Needs{Precision: hardware.PeakFloat32}
			pool := openProbing(t, gpu, p, Options{Workers: 1, Reserve: r, Needs: &needs, BuildTimeout: time.Second})
			o, err := loop.Run(t.Context(), p, pool, loop.Options{})
			if err != nil || len(o.Results) != 4 {
				t.Fatalf("%v, %+v", err, o)
			}
			for _, result := range o.Results {
				wantCorrect(t, result.Configuration.Key(), result)
			}
			if n := pool.host.Started; n != c.started {
				t.Errorf("%d processes, want %d", n, c.started)
			}
			pool.Close()
			peaks, err := MeasurePeaks(t.Context(), gpu, PeakOptions{Needs: &needs, Reserve: r})
			if err != nil || !peaks.Quick || peaks.Value(hardware.PeakFloat32) == 0 || peaks.Partial != "" {
				t.Errorf("%v, %+v", err, peaks)
			}
			if _, confirmed := hardware.Confirmed(peaks.Figures[hardware.PeakFloat32].Repeats); !confirmed {
				t.Errorf("%+v", peaks.Figures)
			}
		})
	}
}

// openProbing opens a pool, and waits until its worker has begun to measure peaks.
func openProbing(t *testing.T, on device.Listed, p *problem.Problem, o Options) *Pool {
	t.Helper()
	pool := newPool([]device.Listed{on}, p, o)
	if err := pool.prepare(); err != nil {
		t.Fatal(err)
	}
	if err := pool.openFirst(context.Background()); err != nil {
		t.Fatal(err)
	}
	pool.most = 0                  // no process only builds, however slow the machine is
	for probes := 0; probes < 2; { // the first only says which part begins
		e := <-pool.events
		if err := pool.handle(e, time.Now()); err != nil {
			t.Fatal(err)
		}
		if a := e.Answer; e.End == nil && a.Probing != nil && a.Probing.Now {
			probes++
		}
	}
	return pool
}

// TestPeaksWhoseTimeIsUp: what the probes of a search have not measured is missing if there is no time for it afterwards. The worker stays.
func TestPeaksWhoseTimeIsUp(t *testing.T) {
	t.Parallel()
	if standin.OnSystem() {
		t.Skip("needs the stand-in's GPU")
	}
	r := NewReserve(nil)
	defer r.Close()
	gpu := selectDevice(t, "gpu")
	needs := judge.Needs{Precision: hardware.PeakFloat32, Sets: []int64{1 << 20}}
	openProbing(t, gpu, tiny(t, 4, t.Name()), Options{Workers: 1, Reserve: r, Needs: &needs}).Close()
	s := newSurvey(gpu.Selector(), *gpu.Identity, PeakOptions{Needs: &needs, Reserve: r})
	s.hello.Task.Within = 1
	_, _ = s.run(t.Context()) // with an error if there is not a single figure
	f := s.peaks.Figures[hardware.PeakMemoryCopy]
	early := f.Value > 0 // the worker has come to it before the pool was closed
	if !early && f.Missing != "not tried: the time was up" || r.host.Started != 1 || len(r.spares) != 1 {
		t.Errorf("%+v; %d workers, %d of them kept", s.peaks, r.host.Started, len(r.spares))
	}
}
