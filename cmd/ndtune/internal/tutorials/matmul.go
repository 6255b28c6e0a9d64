package tutorials

import (
	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/matmul"
)

// matmulTutorial has the bundled kernels of C = A·B: three for square matrices, and others for any M×N×K.
var matmulTutorial = tutorial{
	kernels: matmulKernels(),
	sizes: []sizeFlag{
		{name: "size", usage: "rows and columns of all matrices", value: 4096},
		{name: "m", usage: "rows of A and C; not for naive, local and tiled", follows: "size"},
		{name: "n", usage: "columns of B and C; not for naive, local and tiled", follows: "size"},
		{name: "k", usage: "columns of A and rows of B; not for naive, local and tiled", follows: "size"},
	},
	guess: map[string]int{"block_size_x": 16, "block_size_y": 16},
}

// matmulKernels returns the kernels of the tutorial. Those of other precisions, and those for few devices, stand apart.
func matmulKernels() []tutorialKernel {
	var all []tutorialKernel
	for _, k := range matmul.Kernels {
		apart := k.Precision != matmul.Float || k.Otherwise != ""
		all = append(all, tutorialKernel{name: k.Name, path: k.Path, set: k.Set, apart: apart, otherwise: k.Otherwise})
	}
	return all
}

func matmulCommand(bench flags.Runner[benchOptions]) *cli.Command {
	return &cli.Command{
		Name:  "matmul",
		Usage: "the matrix multiplication tutorials",
		Description: `Tunes the kernels of the tutorials on the multiplication of matrices, C = A·B, and compares
them with a CPU and with vendors' libraries over the size.

   ndtune matmul tune --kernel tiled --size 1024
   ndtune matmul bench`,
		Subcommands: []*cli.Command{matmulTuneCommand(), matmulBenchCommand(bench)},
	}
}

func matmulTuneCommand() *cli.Command {
	o, all := matmulTutorial.newOptions("tiled")
	return &cli.Command{
		Name:  "tune",
		Usage: "tune a kernel of matrix multiplication",
		Description: `Tunes a bundled kernel of C = A·B (docs/matmul.md): naive, local (through local memory), tiled
(several elements for each work-item), bounds-naive and bounds-tiled (any M×N×K), fast (any M×N×K,
in 600 configurations unless a limit is given), and others for precisions and tensor cores. With
all, the files have the name of the kernel in theirs.

   ndtune matmul tune --kernel tiled --size 1024
   ndtune matmul tune --kernel bounds-tiled -m 1000 -n 777 -k 512 -o matmul.csv
   ndtune matmul tune --kernel hopper --size 2048
   ndtune matmul tune --kernel all --size 512
   ndtune matmul tune --kernel tiled --log tiled.jsonl --retry-failures

A multiplication of 4096² takes a CPU a minute or more: choose a smaller --size there.`,
		Flags:  all,
		Action: flags.Action(o, matmulTutorial.tune),
	}
}
