package main

import "github.com/urfave/cli/v2"

// matmulTutorial is the bundled kernels of C = A·B: three of square matrices, and two that
// take any M×N×K.
var matmulTutorial = tutorial{
	kernels: []tutorialKernel{
		{"naive", "naive", "matmul/matmul_naive.yaml"},
		{"local", "local", "matmul/matmul_local.yaml"},
		{"tiled", "tiled", "matmul/matmul_tiled.yaml"},
		{"bounds naive", "bounds", "matmul/matmul_bounds_naive.yaml"},
		{"bounds tiled", "bounds", "matmul/matmul_bounds_tiled.yaml"},
	},
	sizes: []sizeFlag{
		{name: "size", usage: "rows and columns of all matrices", value: 4096},
		{name: "m", usage: "rows of A and C, for bounds", follows: "size"},
		{name: "n", usage: "columns of B and C, for bounds", follows: "size"},
		{name: "k", usage: "columns of A and rows of B, for bounds", follows: "size"},
	},
	guess: map[string]int{"block_size_x": 16, "block_size_y": 16},
}

func matmulCommand() *cli.Command {
	return &cli.Command{
		Name:  "matmul",
		Usage: "the matrix multiplication tutorials",
		Description: `Tunes the kernels of the tutorials on the multiplication of matrices, C = A·B, and compares
them with a CPU and with vendors' libraries over the size.

   ndtune matmul tune --kernel tiled --size 1024
   ndtune matmul bench`,
		Subcommands: []*cli.Command{matmulTuneCommand(), matmulBenchCommand()},
	}
}

func matmulTuneCommand() *cli.Command {
	return &cli.Command{
		Name:  "tune",
		Usage: "tune a kernel of matrix multiplication",
		Description: `Tunes a bundled kernel of C = A·B in float32: naive (one element a work-item), local
(blocks of both matrices in local memory), tiled (several elements a work-item), or
bounds (a naive and a tiled kernel for any M×N×K). With all, one after the other, and a
comparison at the end; the name of the kernel then goes into the names of the files.

   ndtune matmul tune --kernel tiled --size 1024
   ndtune matmul tune --kernel bounds -m 1000 -n 777 -k 512 -o matmul.csv
   ndtune matmul tune --kernel all --size 512

A multiplication of 4096² takes a CPU a minute or more: choose a smaller --size there.`,
		Flags:  matmulTutorial.flags("tiled"),
		Action: matmulTutorial.tune,
	}
}
