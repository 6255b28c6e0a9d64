package tutorials

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/job"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/diffusion"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/internal/picture"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
)

// DiffusionTutorial has the bundled kernels of diffusion.
var DiffusionTutorial = tutorial{
	kernels: []tutorialKernel{
		{name: "naive", path: "diffusion/diffuse_naive.yaml"},
		{name: "local", path: "diffusion/diffuse_local.yaml"},
		{name: "tiled", path: "diffusion/diffuse_tiled.yaml"},
		{name: "stencil", path: "diffusion/diffuse_stencil.yaml"},
		{name: "temporal", path: "diffusion/diffuse_temporal.yaml"},
	},
	sizes: []sizeFlag{
		{name: "nx", usage: "columns of the field", value: 4096},
		{name: "ny", usage: "rows of the field", value: 4096},
	},
	guess: map[string]int{"block_size_x": 16, "block_size_y": 16},
}

func diffusionCommand(run flags.Runner[diffusionRunOptions]) *cli.Command {
	return &cli.Command{
		Name:  "diffusion",
		Usage: "the diffusion tutorial",
		Description: `Tunes the kernels of the tutorial on the diffusion of heat in a metal sheet.

   ndtune diffusion tune --kernel tiled`,
		Subcommands: []*cli.Command{diffusionRunCommand(run), diffusionTuneCommand()},
	}
}

func diffusionTuneCommand() *cli.Command {
	o, all := DiffusionTutorial.newOptions("tiled")
	return &cli.Command{
		Name:  "tune",
		Usage: "tune a kernel of diffusion",
		Description: `Tunes a bundled kernel that computes the temperature of a metal sheet (docs/diffusion.md): naive,
local (through local memory), tiled (several cells for each work-item), stencil (rows of vectors in
registers), or temporal (several time steps a launch, ranked by the time of one). With all, the
files have the name of the kernel in theirs.

   ndtune diffusion tune --kernel naive
   ndtune diffusion tune --kernel tiled --nx 1024 --ny 1024 -o diffusion.json
   ndtune diffusion tune --kernel temporal --max-evals 200
   ndtune diffusion tune --kernel all --nx 1024 --ny 1024
   ndtune diffusion tune --kernel tiled --device cuda
   ndtune diffusion tune --kernel tiled --log tiled.jsonl --retry-failures`,
		Flags:  all,
		Action: flags.Action(o, DiffusionTutorial.tune),
	}
}

type diffusionRunOptions struct {
	spec         job.Spec
	sizes        tutorialSizes
	kernel       string // "": that of the record, or of the device
	phases       string // as they are written
	seed         uint64
	tuned        string // "": no record
	device, plot string

	steps []int // of each phase
}

func diffusionRunCommand(run flags.Runner[diffusionRunOptions]) *cli.Command {
	o := &diffusionRunOptions{phases: "1000,2000,1000", sizes: tutorialSizes{flags: slices.Clone(DiffusionTutorial.sizes)}}
	for i := range o.sizes.flags {
		o.sizes.flags[i].value = 1024
	}
	return &cli.Command{
		Name:  "run",
		Usage: "simulate diffusion on the device and on the CPU, and compare them",
		Description: `Heats ten points of a metal sheet, and simulates the diffusion in three phases on the device,
on all cores of the CPU and on one core. Prints the times, the speed-ups and the largest
difference. The kernel runs in the configuration of -p, in the best configuration of a
record (--tuned), or in a default one for the kind of device.

   ndtune diffusion run
   ndtune diffusion run --plot diffusion.png
   ndtune diffusion run --tuned diffusion.jsonl --nx 2048 --ny 2048
   ndtune diffusion run --kernel temporal
   ndtune diffusion run --kernel naive -p block_size_x=32 -p block_size_y=8`,
		Flags: slices.Concat([]cli.Flag{
			flags.Text(&o.kernel, "kernel", flags.CategorySpec,
				"simulate with `KERNEL`: naive, local, tiled, stencil, temporal "+
					"(default: that of --tuned; else naive on a CPU without -p, and tiled otherwise)"),
		}, o.sizes.cliFlags(), []cli.Flag{
			flags.Text(&o.phases, "steps", flags.CategorySpec, "steps of each phase, `N[,N…]`"),
			flags.Seed(&o.seed, flags.CategorySpec, "seed of the ten hot points"),
			flags.Text(&o.tuned, "tuned", flags.CategorySpec, "use the best configuration of a `RECORD`: a run log or a T4 file"),
			flags.Device(&o.device, ""),
			flags.Text(&o.plot, "plot", flags.CategoryOutput, "draw the field after each phase into `FILE`: .png, .svg or .pdf"),
		}, o.spec.Flags()),
		Action: flags.Action(o, run),
	}
}

func (o *diffusionRunOptions) Read(c *cli.Context) error {
	o.sizes.Read(c)
	if o.steps = flags.PositiveInts(o.phases); o.steps == nil {
		return ui.Wrong("--steps %s: want positive numbers, such as 1000,2000,1000", o.phases)
	}
	if o.plot != "" {
		if err := ui.CheckOutputs("plot", []string{o.plot}, picture.Check); err != nil {
			return err
		}
	}
	return cmp.Or(flags.NoArguments(c), o.spec.Read())
}

func runDiffusion(ctx context.Context, t *ui.Console, o *diffusionRunOptions) error {
	s, _, err := o.configuration(ctx, hardware.Device{}) // before a device is looked for
	if err != nil {
		return err
	}
	listed, _, err := job.SelectFor(o.device, s)
	if err != nil {
		return err
	}
	described, err := device.Describe(listed.Device)
	if err != nil {
		return err
	}
	s, configuration, err := o.configuration(ctx, described)
	if err != nil {
		return err
	}
	e, title, err := newExperiment(o, s, configuration, listed, described)
	if err != nil {
		return err
	}
	defer e.Close()
	for i, n := range o.steps {
		fmt.Fprintf(t.Notes, "phase %d of %d: %s on %s, then on the CPU\n", i+1, len(o.steps), figure.Count(n, "step"), listed.Name)
		if err := e.Advance(ctx, n); err != nil {
			return err
		}
	}
	fmt.Fprintf(t.Out, "%s\n\n", title)
	e.Write(t.Out)
	if o.plot == "" {
		return nil
	}
	if err := diffusion.Plot(o.plot, listed.Name, e.Pictures); err != nil {
		return err
	}
	fmt.Fprintf(t.Notes, "picture: %s\n", o.plot)
	return nil
}

// configuration returns the problem to run on a device, and its configuration.
func (o *diffusionRunOptions) configuration(ctx context.Context, d hardware.Device) (*spec.Spec, space.Configuration, error) {
	refused := func(err error) (*spec.Spec, space.Configuration, error) { return nil, space.Configuration{}, err }
	var tuned *record.Record
	if o.tuned != "" {
		var err error
		if tuned, err = ui.ReadRecord(ctx, o.tuned); err != nil {
			return refused(ui.Wrong("--tuned: %w", err))
		}
	}
	path, err := diffusionSpecPath(o.kernel, tuned, d.Type, len(o.spec.Changes.Parameters) > 0)
	if err != nil {
		return refused(err)
	}
	s, err := loadBundled(ctx, path, &o.spec, &o.sizes, nil)
	if err == nil {
		s, err = s.In(device.LanguageOf(d))
	}
	if err != nil {
		return refused(err)
	}
	parameters := s.Problem.Parameters()
	values, common := map[string]space.Value{}, diffusion.CommonConfiguration(path, d)
	for _, name := range parameters.Names() {
		values[name] = common[name]
	}
	if tuned != nil {
		best := tune.Best(tuned.Header.Objective, tuned.Results)
		if best == nil {
			return refused(ui.Wrong("--tuned %s: no configuration is correct in it", o.tuned))
		}
		for _, name := range parameters.Names() {
			var ok bool
			if values[name], ok = best.Configuration.Get(name); !ok {
				return refused(ui.Wrong("--tuned %s: it is of another kernel: it has no %s", o.tuned, name))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.spec.Changes.Parameters)) {
		if len(o.spec.Changes.Parameters[name]) != 1 {
			return refused(ui.Wrong("-p %s: run takes one value of each parameter", name))
		}
		i, _ := parameters.Index(name)
		values[name] = parameters.At(i).Values[0]
	}
	configuration, err := parameters.Configure(values)
	if err != nil {
		return refused(ui.Usage(err))
	}
	return s, configuration, nil
}

// diffusionSpecPath returns the path of the bundled specification of a kernel. Without a name, that is the
// kernel of the record, else the tiled one. On a CPU, where local memory is memory like any other and
// barriers only cost time, it is the naive one, unless parameters are given, which are of the tiled one.
func diffusionSpecPath(kernel string, tuned *record.Record, deviceType string, parameters bool) (string, error) {
	if kernel == "" {
		kernel = "tiled"
		if deviceType == "cpu" && !parameters {
			kernel = "naive"
		}
		for _, k := range DiffusionTutorial.kernels {
			if tuned != nil && tuned.Header.Source == k.path {
				kernel = k.name
			}
		}
	}
	var names []string
	for _, k := range DiffusionTutorial.kernels {
		if k.name == kernel {
			return k.path, nil
		}
		names = append(names, k.name)
	}
	return "", ui.Wrong("--kernel %s: there are %s%s", kernel, strings.Join(names, ", "), nearest.Hint(kernel, names))
}

// newExperiment returns the experiment in a configuration, and its title: the device, the field, the kernel and the configuration.
func newExperiment(
	o *diffusionRunOptions, s *spec.Spec, configuration space.Configuration, listed device.Listed, identity hardware.Device,
) (*diffusion.Experiment, string, error) {
	size := s.Problem.FixedProblemSize()
	if len(size) != 2 {
		return nil, "", errors.New("the specification has no fixed size of two dimensions")
	}
	nx, ny := size[0], size[1]
	if limit := identity.MaxAllocation; limit > 0 && int64(ny) > limit/4/int64(nx) {
		return nil, "", ui.Wrong("--nx %d --ny %d: the field is larger than %s, the most that %s has in one buffer",
			nx, ny, figure.Bytes(limit), identity.Name)
	}
	if _, ok := diffusion.TimeStep(s.Problem); !ok {
		return nil, "", fmt.Errorf("%s: the constant dt is missing, or no number", s.Path)
	}
	e, err := diffusion.NewExperiment(listed.Device, s.Problem, configuration, diffusion.NewField(nx, ny, o.seed))
	kernel := strings.TrimSuffix(path.Base(s.Path), ".yaml")
	return e, fmt.Sprintf("Using: %s\nfield: %d × %d cells; %s: %s", identity.Name, nx, ny, kernel, configuration), err
}
