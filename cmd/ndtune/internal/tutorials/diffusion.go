package tutorials

import (
	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
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
   ndtune diffusion tune --kernel tiled --log tiled.jsonl --retry-failures`,
		Flags:  all,
		Action: flags.Action(o, DiffusionTutorial.tune),
	}
}
