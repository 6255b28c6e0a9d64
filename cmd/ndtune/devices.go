package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/device/peak"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/record"
)

func devicesCommand() *cli.Command {
	return &cli.Command{
		Name:  "devices",
		Usage: "list platforms and devices, with the limits that matter to tuning",
		Description: `Lists every OpenCL device of this machine with the names by which --device chooses it.

   ndtune devices
   ndtune devices --json
   ndtune devices --peak --device gpu

With --peak it measures what each can do at most: bandwidth of its memory, its caches and its
local memory, multiply-adds, and what a launch costs. Each figure is the best of several
variants of a kernel whose result is checked. They are kept in the user's state folder, for
the specifications that have a roofline (docs/spec.md). A search that finds none there measures
what its own limit needs, quickly, once it has its result.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print JSON"},
			&cli.BoolFlag{Name: "peak", Usage: "measure what the devices can do at most, which takes some seconds for a GPU and up to minutes for a busy CPU"},
			&cli.StringFlag{Name: "device", Aliases: []string{"d"}, Usage: "only this `DEVICE`: index, platform:device, cpu, gpu, or a part of its name (default: all)"},
			&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "show what drivers print as they are measured"},
		},
		Action: listDevices,
	}
}

// A listedDevice is an entry of devices --json.
type listedDevice struct {
	Index    int    `json:"index"`
	Selector string `json:"selector"`
	Default  bool   `json:"default"`
	hardware.Device

	PeaksError string `json:"peaks_error,omitempty"` // why they could not be measured
}

func listDevices(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	all, err := device.List()
	if err != nil {
		return err
	}
	preferred, err := device.Select(all, "")
	if err != nil {
		return err
	}
	chosen := all
	if c.IsSet("device") {
		l, err := device.Select(all, c.String("device"))
		if err != nil {
			return err
		}
		chosen = []device.Listed{l}
	}
	var listed []listedDevice
	failed := 0
	for _, l := range chosen {
		d, err := describe(c, l)
		if err != nil {
			return err
		}
		d.Default = l.Index == preferred.Index
		if d.PeaksError != "" {
			failed++
		}
		listed = append(listed, d)
	}
	if err := showDevices(c, listed); err != nil {
		return err
	}
	if failed == len(listed) {
		return errReported
	}
	return nil
}

// describe is a device with its peaks: measured now, where that is wanted, else those that are
// known.
func describe(c *cli.Context, l device.Listed) (listedDevice, error) {
	d, err := device.Describe(l.Device)
	if err != nil {
		return listedDevice{}, err
	}
	listed := listedDevice{Index: l.Index, Selector: l.Selector(), Device: d}
	if !c.Bool("peak") {
		if known, err := record.KnownPeaks(d, peak.Method); err == nil { // else they are as good as not measured
			listed.Peaks = known
		}
		return listed, nil
	}
	listed.Peaks, err = measurePeaks(c, l)
	switch {
	case c.Context.Err() != nil:
		return listed, errInterrupted
	case err != nil:
		listed.PeaksError = err.Error()
	}
	return listed, nil
}

func showDevices(c *cli.Context, listed []listedDevice) error {
	if !c.Bool("json") {
		return printDevices(c.App.Writer, listed, !c.IsSet("device"))
	}
	return printJSON(c.App.Writer, listed)
}

// printDevices shows devices under their platforms: under all, or under those that have one
// among them.
func printDevices(w io.Writer, listed []listedDevice, all bool) error {
	platforms, err := cl.Platforms()
	if err != nil {
		return err
	}
	for i, p := range platforms {
		info, err := p.Info()
		if err != nil {
			return err
		}
		var found []listedDevice
		for _, l := range listed {
			if strings.HasPrefix(l.Selector, fmt.Sprintf("%d:", i)) {
				found = append(found, l)
			}
		}
		if len(found) == 0 && !all {
			continue
		}
		fmt.Fprintf(w, "platform %d: %s (%s)\n", i, info.Name, strings.TrimSpace(info.Version))
		if len(found) == 0 {
			fmt.Fprintln(w, "  no devices")
		}
		for _, l := range found {
			printDevice(w, l)
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
	switch {
	case l.PeaksError != "":
		row("peaks", "could not be measured: "+firstLine(l.PeaksError))
	case l.Peaks != nil:
		printPeaks(w, l.Peaks)
	}
}
