package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/diffusion"
	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/internal/picture"
	"github.com/ndtune/ndtune/kernels"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
)

func diffusionRunCommand() *cli.Command {
	return &cli.Command{
		Name:  "run",
		Usage: "let heat diffuse on the device and on the CPU, and compare",
		Description: `Heats ten points of a metal sheet, and follows the heat in three phases on the device, on
all cores of the CPU and on one of them. Prints the times, the speed-ups and the largest
difference. The kernel runs in the configuration that -p names, in the best one of a
record (--tuned), or in a common one.

   ndtune diffusion run
   ndtune diffusion run --plot diffusion.png
   ndtune diffusion run --tuned diffusion.jsonl --nx 2048 --ny 2048
   ndtune diffusion run --kernel temporal
   ndtune diffusion run --kernel naive -p block_size_x=32 -p block_size_y=8`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "kernel", Category: categorySpec, Usage: "which `KERNEL`: naive, local, tiled, stencil, temporal (default: the one of --tuned; else naive on a CPU where no -p is given, and tiled)"},
			&cli.IntFlag{Name: "nx", Value: 1024, Category: categorySpec, Usage: "columns of the field"},
			&cli.IntFlag{Name: "ny", Value: 1024, Category: categorySpec, Usage: "rows of the field"},
			&cli.StringFlag{Name: "steps", Value: "1000,2000,1000", Category: categorySpec, Usage: "steps of each phase, `N[,N…]`"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Category: categorySpec, Usage: "seed of the ten hot points"},
			&cli.StringFlag{Name: "tuned", Category: categorySpec, Usage: "take the best configuration of a `RECORD`: a run log or a T4 file"},
			deviceFlag(),
			&cli.StringFlag{Name: "plot", Category: categoryOutput, Usage: "draw the field after each phase into `FILE`: .png, .svg or .pdf"},
		}, specFlags()...),
		Action: runDiffusion,
	}
}

func runDiffusion(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	steps := positiveInts(c.String("steps"))
	if steps == nil {
		return wrong("--steps %s: want positive numbers, such as 1000,2000,1000", c.String("steps"))
	}
	if path := c.String("plot"); path != "" {
		if err := picture.Check(path); err != nil {
			return wrong("--plot: %w", err)
		}
		if err := checkFolder(path); err != nil {
			return wrong("--plot %s: %w", path, err)
		}
	}
	if _, _, err := diffusionConfiguration(c, hardware.Device{}); err != nil { // said before a device is looked for
		return err
	}
	listed, err := selectDevice(c)
	if err != nil {
		return err
	}
	described, err := device.Describe(listed.Device)
	if err != nil {
		return err
	}
	s, configuration, err := diffusionConfiguration(c, described)
	if err != nil {
		return err
	}
	experiment, err := newExperiment(c, s, configuration, listed)
	if err != nil {
		return err
	}
	defer experiment.close()
	for i, n := range steps {
		fmt.Fprintf(c.App.ErrWriter, "phase %d of %d: %s on %s, then on the CPU\n", i+1, len(steps), countNoun(n, "step"), listed.Name)
		if err := experiment.phase(c.Context, n); err != nil {
			if errors.Is(err, context.Canceled) {
				return errInterrupted
			}
			return err
		}
	}
	experiment.report(c.App.Writer)
	if path := c.String("plot"); path != "" {
		if err := diffusion.Plot(path, listed.Name, experiment.pictures); err != nil {
			return err
		}
		fmt.Fprintf(c.App.ErrWriter, "picture: %s\n", path)
	}
	return nil
}

// diffusionConfiguration is the problem to run on a device, and in which configuration.
func diffusionConfiguration(c *cli.Context, d hardware.Device) (*spec.Spec, space.Configuration, error) {
	none := space.Configuration{}
	var tuned *record.Record
	if path := c.String("tuned"); path != "" {
		var err error
		if tuned, err = record.Read(path); err != nil {
			return nil, none, wrong("--tuned: %w", err)
		}
	}
	path, err := diffusionSpecPath(c.String("kernel"), tuned, d.Type, c.IsSet("parameter"))
	if err != nil {
		return nil, none, &usageError{err}
	}
	options, err := specOptions(c)
	if err != nil {
		return nil, none, err
	}
	if err := setSizes(c, diffusionTutorial.sizes, func(string) bool { return true }, options.Set); err != nil {
		return nil, none, err
	}
	s, err := spec.LoadFS(kernels.FS, path, options)
	if err != nil {
		return nil, none, err
	}
	if err := s.CheckSpace(c.Context); err != nil {
		return nil, none, err
	}
	values := map[string]space.Value{}
	common := commonConfiguration(path, d)
	for _, name := range s.Problem.Parameters().Names() {
		values[name] = common[name]
	}
	if tuned != nil {
		best := tune.Best(tuned.Header.Objective, tuned.Results)
		if best == nil {
			return nil, none, wrong("--tuned %s: no configuration is correct in it", c.String("tuned"))
		}
		for _, name := range s.Problem.Parameters().Names() {
			v, ok := best.Configuration.Get(name)
			if !ok {
				return nil, none, wrong("--tuned %s: it is of another kernel: it has no %s", c.String("tuned"), name)
			}
			values[name] = v
		}
	}
	for name, given := range options.Parameters {
		if len(given) != 1 {
			return nil, none, wrong("-p %s: run takes one value of each parameter", name)
		}
		i, _ := s.Problem.Parameters().Index(name)
		values[name] = s.Problem.Parameters().At(i).Values[0]
	}
	configuration, err := s.Problem.Parameters().Configure(values)
	if err != nil {
		return nil, none, &usageError{err}
	}
	return s, configuration, nil
}

// diffusionSpecPath is the bundled specification of a kernel: of the one named, else of the
// one that a record was made with, else of the one that suits the type of device, unless
// parameters are given: these are those of the tiled one. To a CPU local memory is memory like any
// other, and a barrier is only in the way.
func diffusionSpecPath(kernel string, tuned *record.Record, deviceType string, parameters bool) (string, error) {
	if kernel == "" && tuned != nil {
		for _, k := range diffusionTutorial.kernels {
			if tuned.Header.Source == k.path {
				return k.path, nil
			}
		}
	}
	if kernel == "" {
		kernel = "tiled"
		if deviceType == "cpu" && !parameters {
			kernel = "naive"
		}
	}
	var names []string
	for _, k := range diffusionTutorial.kernels {
		if k.name == kernel {
			return k.path, nil
		}
		names = append(names, k.name)
	}
	return "", fmt.Errorf("--kernel %s: there are %s%s", kernel, strings.Join(names, ", "), nearest.Hint(kernel, names))
}

// An experiment is one field followed in three ways: on the device, on all cores of the
// CPU, and on one of them.
type experiment struct {
	kernel        string // name of the specification, such as diffuse_tiled
	configuration space.Configuration
	device        hardware.Device
	first         *diffusion.Field
	simulation    *diffusion.Simulation
	all, one      *diffusion.Field
	dt            float32
	phases        []phaseTimes
	pictures      []diffusion.Phase
	steps         int
	onDevice      *diffusion.Field // after the last phase
}

// phaseTimes are what a phase took in the three ways.
type phaseTimes struct {
	steps            int
	device, all, one diffusion.Timing
	difference       float64 // largest of any cell, device against CPU, after the phase
}

func newExperiment(c *cli.Context, s *spec.Spec, configuration space.Configuration, listed device.Listed) (*experiment, error) {
	p := s.Problem
	identity, err := device.Describe(listed.Device)
	if err != nil {
		return nil, err
	}
	size := p.FixedProblemSize()
	if len(size) != 2 {
		return nil, errors.New("the specification has no fixed size of two dimensions")
	}
	nx, ny := size[0], size[1]
	if limit := identity.MaxAllocation; limit > 0 && int64(ny) > limit/4/int64(nx) {
		return nil, wrong("--nx %d --ny %d: the field is larger than %s, the most that %s has in one buffer", nx, ny, formatBytes(limit), identity.Name)
	}
	first := diffusion.NewField(nx, ny, c.Uint64("seed"))
	simulation, err := diffusion.NewSimulation(listed.Device, p, configuration, first)
	if err != nil {
		return nil, err
	}
	dt, ok := diffusion.TimeStep(p)
	if !ok {
		simulation.Close()
		return nil, fmt.Errorf("%s: the constant dt is missing, or no number", s.Path)
	}
	return &experiment{
		kernel:        strings.TrimSuffix(path.Base(s.Path), ".yaml"),
		configuration: configuration, device: identity, first: first, simulation: simulation,
		all: first.Clone(), one: first.Clone(), dt: dt,
	}, nil
}

func (e *experiment) close() { e.simulation.Close() }

// phase takes all three fields n steps forward.
func (e *experiment) phase(ctx context.Context, n int) error {
	times := phaseTimes{steps: n}
	var err error
	if times.device, err = e.simulation.Advance(ctx, n); err != nil {
		return err
	}
	if times.all, err = diffusion.Advance(ctx, e.all, n, e.dt, 0); err != nil {
		return err
	}
	if times.one, err = diffusion.Advance(ctx, e.one, n, e.dt, 1); err != nil {
		return err
	}
	if e.onDevice, err = e.simulation.Field(); err != nil {
		return err
	}
	times.difference = e.onDevice.MaxDifference(e.all)
	e.phases = append(e.phases, times)
	e.steps += n
	e.pictures = append(e.pictures, diffusion.Phase{Name: fmt.Sprintf("after %d steps", e.steps), Device: e.onDevice, CPU: e.all.Clone()})
	return nil
}

// cpuThreads is how many threads «all cores» are.
func cpuThreads() int { return runtime.GOMAXPROCS(0) }

// report prints the times of all phases, the speed-ups, and how well device and CPU agree.
func (e *experiment) report(w io.Writer) {
	fmt.Fprintf(w, "Using: %s\n", e.device.Name)
	fmt.Fprintf(w, "field: %d × %d cells; %s: %s\n\n", e.first.NX, e.first.NY, e.kernel, e.configuration)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "steps\tdevice\tits kernels\tCPU, %s\tCPU, 1 thread\tover all threads\tover 1 thread\tlargest difference\t\n", countNoun(cpuThreads(), "thread"))
	total := phaseTimes{}
	for _, p := range e.phases {
		printPhase(table, p)
		total.steps += p.steps
		total.device, total.all, total.one = plus(total.device, p.device), plus(total.all, p.all), plus(total.one, p.one)
		total.difference = max(total.difference, p.difference)
	}
	printPhase(table, total)
	table.Flush()
	fmt.Fprintf(w, "\ncell updates a second: device %s, CPU %s on %s and %s on 1\n",
		formatRate(total.device), formatRate(total.all), countNoun(cpuThreads(), "thread"), formatRate(total.one))
	fmt.Fprintf(w, "on the device: %s a launch; with one step a launch, memory would have to move %s GB/s for it; %s\n",
		countNoun(e.simulation.StepsPerLaunch(), "step"), formatNumber(total.device.BytesPerSecond()/1e9), launchCost(total.device))
	fmt.Fprintf(w, "heat in the sheet: %s at first; %s on the device and %s on the CPU now (what is missing left through the fixed edges)\n",
		formatHeat(e.first), formatHeat(e.onDevice), formatHeat(e.all))
}

func printPhase(w io.Writer, p phaseTimes) {
	kernels := "–"
	if p.device.Device > 0 {
		kernels = formatDuration(p.device.Device)
	}
	fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", p.steps,
		formatDuration(p.device.Wall), kernels, formatDuration(p.all.Wall), formatDuration(p.one.Wall),
		formatGain(ratio(p.all.Wall, p.device.Wall)), formatGain(ratio(p.one.Wall, p.device.Wall)), formatNumber(p.difference))
}

func plus(a, b diffusion.Timing) diffusion.Timing {
	return diffusion.Timing{Steps: a.Steps + b.Steps, Cells: b.Cells, Wall: a.Wall + b.Wall, Device: a.Device + b.Device}
}

func ratio(a, b time.Duration) float64 {
	if b <= 0 {
		return 0
	}
	return float64(a) / float64(b)
}

func formatDuration(d time.Duration) string {
	return formatTime(float64(d) / float64(time.Millisecond))
}

func formatRate(t diffusion.Timing) string { return formatNumber(t.UpdatesPerSecond()/1e9) + " G" }

func formatHeat(f *diffusion.Field) string { return fmt.Sprintf("%.3f", f.Sum()) }

// launchCost says which part of the time went into launching.
func launchCost(t diffusion.Timing) string {
	share, ok := t.LaunchShare()
	if !ok {
		return "what launches cost is not known: the driver does not time kernels"
	}
	return fmt.Sprintf("launches cost %.0f %% of the time", 100*share)
}
