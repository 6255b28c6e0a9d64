package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
)

func devicesCommand() *cli.Command {
	return &cli.Command{
		Name:  "devices",
		Usage: "list platforms and devices, with the limits that matter to tuning",
		Description: `Lists every OpenCL device of this machine with the names by which --device chooses it.

   ndtune devices
   ndtune devices --json`,
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print JSON"}},
		Action: listDevices,
	}
}

// A listedDevice is an entry of devices --json.
type listedDevice struct {
	Index    int    `json:"index"`
	Selector string `json:"selector"`
	Default  bool   `json:"default"`
	tune.Device
}

func listDevices(c *cli.Context) error {
	if c.Args().Len() > 0 {
		return &usageError{fmt.Errorf("devices takes no argument, but %q is given", c.Args().First())}
	}
	all, err := device.List()
	if err != nil {
		return err
	}
	preferred, err := device.Select(all, "")
	if err != nil {
		return err
	}
	var listed []listedDevice
	for _, l := range all {
		d, err := device.Describe(l.Device)
		if err != nil {
			return err
		}
		listed = append(listed, listedDevice{l.Index, l.Selector(), l.Index == preferred.Index, d})
	}
	if c.Bool("json") {
		encoder := json.NewEncoder(c.App.Writer)
		encoder.SetIndent("", "  ")
		return encoder.Encode(listed)
	}
	return printDevices(c.App.Writer, listed)
}

func printDevices(w io.Writer, listed []listedDevice) error {
	platforms, err := cl.Platforms()
	if err != nil {
		return err
	}
	for i, p := range platforms {
		info, err := p.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "platform %d: %s (%s)\n", i, info.Name, strings.TrimSpace(info.Version))
		found := false
		for _, l := range listed {
			if strings.HasPrefix(l.Selector, fmt.Sprintf("%d:", i)) {
				printDevice(w, l)
				found = true
			}
		}
		if !found {
			fmt.Fprintln(w, "  no devices")
		}
	}
	return nil
}

func printDevice(w io.Writer, l listedDevice) {
	mark := ""
	if l.Default {
		mark = "  (default)"
	}
	fmt.Fprintf(w, "  device %d  %s  %s  %s%s\n", l.Index, l.Selector, l.Name, l.Type, mark)
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "    %-16s %s\n", name, value)
		}
	}
	row("vendor", l.Vendor)
	row("driver", l.Driver+", "+strings.TrimSpace(l.Version))
	row("compute units", fmt.Sprintf("%d at up to %d MHz", l.ComputeUnits, l.ClockMHz))
	row("global memory", fmt.Sprintf("%s, at most %s in one buffer", formatBytes(l.GlobalMemory), formatBytes(l.MaxAllocation)))
	row("local memory", formatBytes(l.LocalMemory))
	row("work-group", fmt.Sprintf("at most %d work-items, %s in each dimension", l.MaxWorkGroupSize, formatSizes(l.MaxWorkItemSizes)))
	if l.ComputeMajor > 0 {
		row("compute cap.", fmt.Sprintf("%d.%d, %d registers a work-group", l.ComputeMajor, l.ComputeMinor, l.Registers))
	}
	if l.Wavefront > 0 {
		row("wavefront", fmt.Sprintf("%d work-items", l.Wavefront))
	}
	row("PCI", l.PCI)
	row("UUID", l.UUID)
}
