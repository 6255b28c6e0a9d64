package main

import "github.com/urfave/cli/v2"

// diffusionTutorial is the bundled kernels of diffusion: of one step, and of several.
var diffusionTutorial = tutorial{
	kernels: []tutorialKernel{
		{name: "naive", choice: "naive", path: "diffusion/diffuse_naive.yaml"},
		{name: "local", choice: "local", path: "diffusion/diffuse_local.yaml"},
		{name: "tiled", choice: "tiled", path: "diffusion/diffuse_tiled.yaml"},
		{name: "stencil", choice: "stencil", path: "diffusion/diffuse_stencil.yaml"},
		{name: "temporal", choice: "temporal", path: "diffusion/diffuse_temporal.yaml"},
	},
	sizes: []sizeFlag{
		{name: "nx", usage: "columns of the field", value: 4096},
		{name: "ny", usage: "rows of the field", value: 4096},
	},
	guess: map[string]int{"block_size_x": 16, "block_size_y": 16},
}

func diffusionCommand() *cli.Command {
	return &cli.Command{
		Name:  "diffusion",
		Usage: "the diffusion tutorial",
		Description: `Tunes the kernels of the tutorial on the diffusion of heat in a metal sheet.

   ndtune diffusion tune --kernel tiled`,
		Subcommands: []*cli.Command{diffusionRunCommand(), diffusionTuneCommand()},
	}
}

func diffusionTuneCommand() *cli.Command {
	return &cli.Command{
		Name:  "tune",
		Usage: "tune a kernel of diffusion",
		Description: `Tunes a bundled kernel that advances the temperature of a metal sheet by one time step:
naive (one cell a work-item), local (the same through local memory), tiled (several
cells a work-item, through local memory) or stencil (rows of vectors in registers); or by
several steps in a launch, which is judged by its time a step: temporal. With all, one after
the other, and a comparison at the end; the name of the kernel then goes into the names of
the files.

   ndtune diffusion tune --kernel naive
   ndtune diffusion tune --kernel tiled --nx 1024 --ny 1024 -o diffusion.json
   ndtune diffusion tune --kernel temporal --max-evals 200
   ndtune diffusion tune --kernel all --nx 1024 --ny 1024
   ndtune diffusion tune --kernel tiled --log tiled.jsonl --retry-failures

GB/s counts the bytes that must move: 8 a cell. With temporal that is for several steps; what a
kernel of one step a launch would have to move is its «equivalent GB/s».`,
		Flags:  diffusionTutorial.flags("tiled"),
		Action: diffusionTutorial.tune,
	}
}
