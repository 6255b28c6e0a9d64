package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/space"
)

// diffusionTutorial has the bundled kernels of diffusion.
var diffusionTutorial = tutorial{
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

func diffusionCommand(run runner[diffusionRunOptions]) *cli.Command {
	return &cli.Command{
		Name:  "diffusion",
		Usage: "the diffusion tutorial",
		Description: `Tunes the kernels of the tutorial on the diffusion of heat in a metal sheet.

   ndtune diffusion tune --kernel tiled`,
		Subcommands: []*cli.Command{diffusionRunCommand(run), diffusionTuneCommand()},
	}
}

func diffusionTuneCommand() *cli.Command {
	o, flags := diffusionTutorial.newOptions("tiled")
	return &cli.Command{
		Name:  "tune",
		Usage: "tune a kernel of diffusion",
		Description: `Tunes a bundled kernel that computes the temperature of a metal sheet. Four kernels make one
time step per launch: naive (one cell per work-item), local (the same through local memory),
tiled (several cells per work-item, through local memory) and stencil (rows of vectors in
registers). The kernel temporal makes several steps per launch, and is ranked by its time per
step. With all, the kernels are tuned one after the other and compared at the end; the names of
the files then contain the name of the kernel.

   ndtune diffusion tune --kernel naive
   ndtune diffusion tune --kernel tiled --nx 1024 --ny 1024 -o diffusion.json
   ndtune diffusion tune --kernel temporal --max-evals 200
   ndtune diffusion tune --kernel all --nx 1024 --ny 1024
   ndtune diffusion tune --kernel tiled --log tiled.jsonl --retry-failures

GB/s counts the bytes that a launch must move: 8 per cell. A launch of temporal makes several
steps; its «equivalent GB/s» counts the bytes that a kernel of one step per launch would move.`,
		Flags:  flags,
		Action: action(o, diffusionTutorial.tune),
	}
}

// commonConfiguration returns the configuration of a bundled diffusion kernel that was not tuned: one
// that is likely to be good on devices of this kind.
func commonConfiguration(path string, d hardware.Device) map[string]space.Value {
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
