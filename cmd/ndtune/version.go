package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/hardware"
)

type versionOptions struct{ json bool }

func versionCommand(run flags.Runner[versionOptions]) *cli.Command {
	o := &versionOptions{}
	return &cli.Command{
		Name:  "version",
		Usage: "print the version, the compiler and the OpenCL platforms",
		Description: `Prints the facts that a report of a fault needs: the version of ndtune, the Go compiler that
built it, and the OpenCL platforms of this machine.

   ndtune version
   ndtune version --json`,
		Flags:  []cli.Flag{flags.JSON(&o.json)},
		Action: flags.Action(o, run),
	}
}

// A versionInfo is what version --json prints.
type versionInfo struct {
	Version   string            `json:"version"`
	Go        string            `json:"go"`
	System    string            `json:"system"`
	Platforms []versionPlatform `json:"platforms"`
	Error     string            `json:"platforms_error,omitempty"` // why there are no platforms
}

type versionPlatform struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Devices int    `json:"devices"`
}

func (o *versionOptions) Read(c *cli.Context) error { return flags.NoArguments(c) }

func printVersion(_ context.Context, t *ui.Console, o *versionOptions) error {
	v := versionInfo{
		Version: ui.ShortVersion(), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH,
		Platforms: []versionPlatform{},
	}
	var err error
	if v.Platforms, err = versionPlatforms(); err != nil {
		v.Error = err.Error()
	}
	if o.json {
		return t.JSON(v)
	}
	w := t.Out
	fmt.Fprintf(w, "ndtune %s\n", v.Version)
	fmt.Fprintf(w, "built with: %s for %s\n", v.Go, v.System)
	for _, p := range v.Platforms {
		if p.Name == hardware.CUDA {
			fmt.Fprintf(w, "CUDA: %s, %s\n", p.Version, figure.Count(p.Devices, "device"))
			continue
		}
		fmt.Fprintf(w, "OpenCL: %s, %s, %s\n", p.Name, p.Version, figure.Count(p.Devices, "device"))
	}
	if v.Error != "" {
		fmt.Fprintf(w, "OpenCL: none (%s)\n", excerpt.FirstLine(v.Error))
	}
	return nil
}

// versionPlatforms returns the OpenCL platforms, and that of CUDA. An error is that of OpenCL.
func versionPlatforms() ([]versionPlatform, error) {
	all := []versionPlatform{}
	platforms, missing := cl.Platforms()
	if cuda, err := cl.CUDA(); err == nil {
		platforms = append(platforms, cuda)
	}
	for _, p := range platforms {
		info, err := p.Info()
		if err != nil {
			return all, err
		}
		devices, err := p.Devices(cl.DeviceAll)
		if err != nil {
			return all, err
		}
		all = append(all, versionPlatform{info.Name, strings.TrimSpace(info.Version), len(devices)})
	}
	return all, missing
}
