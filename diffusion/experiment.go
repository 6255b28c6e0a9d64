package diffusion

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// An Experiment is one field that is advanced in three ways: on the device, on all cores of the CPU, and on one of them. The caller must
// close it.
type Experiment struct {
	First, OnDevice, OnCPU *Field // at the beginning, and after the last phase
	Phases                 []PhaseTimes
	Pictures               []Phase

	simulation *Simulation
	one        *Field // on one core
	dt         float32
}

// PhaseTimes are the times of a phase in the three ways.
type PhaseTimes struct {
	Steps            int
	Device, All, One Timing
	Difference       float64 // largest of any cell, device against CPU, after the phase
}

// NewExperiment returns an experiment that begins with a field.
func NewExperiment(d *cl.Device, p *problem.Problem, c space.Configuration, first *Field) (*Experiment, error) {
	simulation, err := NewSimulation(d, p, c, first)
	if err != nil {
		return nil, err
	}
	dt, _ := TimeStep(p)
	return &Experiment{First: first, OnCPU: first.Clone(), one: first.Clone(), simulation: simulation, dt: dt}, nil
}

// Close releases what the experiment has on the device.
func (e *Experiment) Close() { e.simulation.Close() }

// StepsPerLaunch is [Simulation.StepsPerLaunch].
func (e *Experiment) StepsPerLaunch() int { return e.simulation.StepsPerLaunch() }

// Advance advances all three fields by n steps, a phase.
func (e *Experiment) Advance(ctx context.Context, n int) (err error) {
	times := PhaseTimes{Steps: n}
	if times.Device, err = e.simulation.Advance(ctx, n); err != nil {
		return err
	}
	if times.All, err = Advance(ctx, e.OnCPU, n, e.dt, 0); err != nil {
		return err
	}
	if times.One, err = Advance(ctx, e.one, n, e.dt, 1); err != nil {
		return err
	}
	if e.OnDevice, err = e.simulation.Field(); err != nil {
		return err
	}
	times.Difference = e.OnDevice.MaxDifference(e.OnCPU)
	e.Phases = append(e.Phases, times)
	name := fmt.Sprintf("after %d steps", e.Total().Steps)
	e.Pictures = append(e.Pictures, Phase{Name: name, Device: e.OnDevice, CPU: e.OnCPU.Clone()})
	return nil
}

// Total returns the sums of all phases, and the largest difference.
func (e *Experiment) Total() (total PhaseTimes) {
	for _, p := range e.Phases {
		total = PhaseTimes{
			total.Steps + p.Steps, total.Device.plus(p.Device), total.All.plus(p.All), total.One.plus(p.One), max(total.Difference, p.Difference),
		}
	}
	return total
}

func (t Timing) plus(u Timing) Timing {
	return Timing{Steps: t.Steps + u.Steps, Cells: u.Cells, Wall: t.Wall + u.Wall, Device: t.Device + u.Device}
}

// Write writes the times of all phases, the speed-ups, and how well device and CPU agree.
func (e *Experiment) Write(w io.Writer) {
	threads, total := figure.Count(runtime.GOMAXPROCS(0), "thread"), e.Total()
	rows := [][]string{{
		"steps", "device", "its kernels", "CPU, " + threads, "CPU, 1 thread", "over all threads", "over 1 thread", "largest difference",
	}}
	for _, p := range append(e.Phases, total) {
		kernels := "–"
		if p.Device.Device > 0 {
			kernels = formatDuration(p.Device.Device)
		}
		rows = append(rows, []string{
			strconv.Itoa(p.Steps), formatDuration(p.Device.Wall), kernels, formatDuration(p.All.Wall), formatDuration(p.One.Wall),
			gain(p.All.Wall, p.Device.Wall), gain(p.One.Wall, p.Device.Wall), figure.Number(p.Difference),
		})
	}
	figure.Columns(w, "  ", func(int) bool { return true }, rows...)
	fmt.Fprintf(w, "\ncell updates a second: device %s, CPU %s on %s and %s on 1\n",
		formatRate(total.Device), formatRate(total.All), threads, formatRate(total.One))
	launches := "the cost of launches is unknown: the driver does not time kernels"
	if share, ok := total.Device.LaunchShare(); ok {
		launches = fmt.Sprintf("launches cost %.0f %% of the time", 100*share)
	}
	fmt.Fprintf(w, "on the device: %s a launch; with one step a launch, memory would have to move %s GB/s for it; %s\n",
		figure.Count(e.StepsPerLaunch(), "step"), figure.Number(total.Device.BytesPerSecond()/1e9), launches)
	fmt.Fprintf(w, "heat in the sheet: %.3f at first; %.3f on the device and %.3f on the CPU now (the rest left through the edges)\n",
		e.First.Sum(), e.OnDevice.Sum(), e.OnCPU.Sum())
}

// gain is how many times faster b is than a.
func gain(a, b time.Duration) string {
	if b <= 0 {
		return figure.Number(0) + "×"
	}
	return figure.Number(float64(a)/float64(b)) + "×"
}

func formatDuration(d time.Duration) string {
	return figure.Milliseconds(float64(d)/float64(time.Millisecond)) + "ms"
}

func formatRate(t Timing) string { return figure.Number(t.UpdatesPerSecond()/1e9) + " G" }

// CommonConfiguration returns the configuration of a bundled diffusion kernel that was not tuned: one
// that is likely to be good on devices of this kind.
func CommonConfiguration(path string, d hardware.Device) map[string]space.Value {
	switch path {
	case "diffusion/diffuse_stencil.yaml":
		return commonStencil(d)
	case "diffusion/diffuse_temporal.yaml":
		return commonTemporal(d)
	}
	// 256 work-items, in rows of 64, and a few cells for each.
	return map[string]space.Value{"block_size_x": 64, "block_size_y": 4, "tile_size_x": 1, "tile_size_y": 4}
}

// commonStencil has vectors of the widest access of a GPU, or of the registers of a CPU.
func commonStencil(d hardware.Device) map[string]space.Value {
	common := map[string]space.Value{
		"block_size_x": 64, "block_size_y": 4, "vector_width": 4, "rows": 2, "walk": "streaming", "unroll_rows": 2,
		"skip_checks": "item", "neighbours": "cached",
	}
	if d.Type == "cpu" {
		common["block_size_x"], common["vector_width"], common["rows"], common["unroll_rows"] = 8, 16, 1, 1
	}
	return common
}

// commonTemporal makes eight steps a launch: on a CPU in strips of 512 columns, which its second
// cache holds; on NVIDIA in strips of a warp; elsewhere of 64 work-items, a wavefront of AMD's, or
// two.
func commonTemporal(d hardware.Device) map[string]space.Value {
	common := map[string]space.Value{
		"time_steps": 8, "rows_kept_in": "registers", "block_size_x": 64, "block_size_y": 1, "vector_width": 4, "vectors": 1,
		"rows": 64, "ahead": 1, "arithmetic": "diagonal", "unroll_rows": 2, "skip_checks": "group", "neighbours": "local_memory",
		"staging": "registers",
	}
	switch {
	case d.Type == "cpu":
		common["rows_kept_in"], common["arithmetic"], common["neighbours"] = "cache", "plain", "shifted"
		common["block_size_x"], common["vector_width"], common["vectors"] = 1, 16, 32
		common["rows"], common["unroll_rows"] = 256, 1
	case strings.Contains(d.Vendor, "NVIDIA"):
		common["block_size_x"], common["block_size_y"], common["neighbours"] = 32, 4, "shuffle_nv"
		common["rows"], common["ahead"], common["unroll_rows"] = 32, 4, 4
	}
	return common
}
