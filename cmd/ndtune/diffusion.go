package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/kernels"
	"github.com/ndtune/ndtune/tune/spec"
)

// diffusionKernels are the bundled kernels of the diffusion tutorial.
var diffusionKernels = []string{"naive", "tiled"}

func diffusionCommand() *cli.Command {
	return &cli.Command{
		Name:        "diffusion",
		Usage:       "the diffusion tutorial",
		Subcommands: []*cli.Command{diffusionTuneCommand()},
	}
}

func diffusionTuneCommand() *cli.Command {
	flags := []cli.Flag{
		&cli.StringFlag{Name: "kernel", Value: "tiled", Category: categorySpec, Usage: "which `KERNEL`: " + strings.Join(diffusionKernels, ", ")},
		&cli.IntFlag{Name: "nx", Value: 4096, Category: categorySpec, Usage: "columns of the field"},
		&cli.IntFlag{Name: "ny", Value: 4096, Category: categorySpec, Usage: "rows of the field"},
	}
	return &cli.Command{
		Name:  "tune",
		Usage: "tune a kernel of one diffusion step",
		Description: `Tunes a bundled kernel that advances the temperature of a metal sheet by one time step:
naive (one cell a work-item) or tiled (several cells a work-item, through local memory).

   ndtune diffusion tune --kernel naive
   ndtune diffusion tune --kernel tiled --nx 1024 --ny 1024 -o diffusion.json

GB/s counts the bytes that must move: 8 a cell.`,
		Flags: append(append(flags, specFlags()...), tuneFlags()...),
		Action: func(c *cli.Context) error {
			s, name, err := loadDiffusion(c)
			if err != nil {
				return err
			}
			return tuneSpec(c, s, name)
		},
	}
}

// loadDiffusion reads the bundled specification that the flags choose.
func loadDiffusion(c *cli.Context) (*spec.Spec, string, error) {
	if c.Args().Len() > 0 {
		return nil, "", &usageError{fmt.Errorf("%s takes no argument, but %q is given", c.Command.HelpName, c.Args().First())}
	}
	kernel := c.String("kernel")
	known := false
	for _, k := range diffusionKernels {
		known = known || k == kernel
	}
	if !known {
		return nil, "", &usageError{fmt.Errorf("--kernel %s: there are %s%s", kernel, strings.Join(diffusionKernels, " and "), nearest.Hint(kernel, diffusionKernels))}
	}
	options, err := specOptions(c)
	if err != nil {
		return nil, "", err
	}
	for _, n := range []string{"nx", "ny"} {
		if _, given := options.Set[n]; given && !c.IsSet(n) {
			continue
		}
		if c.Int(n) < 1 {
			return nil, "", &usageError{fmt.Errorf("--%s %d: want a positive number", n, c.Int(n))}
		}
		options.Set[n] = strconv.Itoa(c.Int(n))
	}
	path := "diffusion/diffuse_" + kernel + ".yaml"
	s, err := spec.LoadFS(kernels.FS, path, options)
	return s, path, err
}
