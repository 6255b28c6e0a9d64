package commands

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/job"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/observe"
	"github.com/ndtune/ndtune/tune/session"
	"github.com/ndtune/ndtune/tune/source"
)

type devicesOptions struct {
	json, observe, peak bool
	device              string // "": all
	fleet               job.Fleet
}

func devicesCommand(run flags.Runner[devicesOptions]) *cli.Command {
	o := &devicesOptions{}
	return &cli.Command{
		Name:  "devices",
		Usage: "list platforms and devices, with the limits that matter to tuning",
		Description: `Lists every OpenCL device of this machine, or of a fleet, with its names for --device, and after
them every device of CUDA, for kernels in CUDA C. With --observe, it says which quantities can be
observed while a kernel runs, and how (docs/observers.md). With --peak, it measures the peaks of each
device, and keeps them for specifications with a roofline (docs/spec.md).

   ndtune devices
   ndtune devices --json
   ndtune devices --peak --device gpu
   ndtune devices --fleet nats://127.0.0.1:4222`,
		Flags: []cli.Flag{
			o.fleet.Flag("list the devices of the fleet"),
			flags.JSON(&o.json),
			flags.Switch(&o.observe, "observe", "", "say which quantities can be observed, such as energy and clocks, and how; takes a few seconds"),
			flags.Switch(&o.peak, "peak", "", "measure the peaks of the devices anew, which takes some 7 seconds for a GPU and 20 for a CPU"),
			flags.Text(&o.device, "device d", "", "only this `DEVICE`: index, platform:device, cpu, gpu, cuda, or a part of its name (default: all)"),
			flags.Verbose("show the output of drivers during the measurements"),
		},
		Action: flags.Action(o, run),
	}
}

// A listedDevice is an entry of devices --json.
type listedDevice struct {
	Index    int    `json:"index"`             // in a fleet, of the device's kind
	Machine  string `json:"machine,omitempty"` // in a fleet
	Selector string `json:"selector"`
	Default  bool   `json:"default"`
	hardware.Device

	PeaksError string `json:"peaks_error,omitempty"` // why they could not be measured
}

func (o *devicesOptions) Read(c *cli.Context) error { return flags.NoArguments(c) }

func listDevices(ctx context.Context, t *ui.Console, o *devicesOptions) error {
	if o.fleet.URL != "" {
		return o.listFleet(ctx, t)
	}
	all, err := device.ListFor(o.device)
	if err != nil {
		return err
	}
	preferred, err := device.Select(all, "")
	if err != nil {
		return err
	}
	chosen := all
	if o.device != "" {
		l, err := device.Select(all, o.device)
		if err != nil {
			return err
		}
		chosen = []device.Listed{l}
	}
	var listed []listedDevice
	failed := 0
	for _, l := range chosen {
		d := session.Describe(l, t.Note)
		entry := listedDevice{Index: l.Index, Selector: l.Selector(), Default: l.Index == preferred.Index, Device: d}
		if o.observe {
			m := observe.Open(d, hardware.Quantities())
			err := m.Calibrate(ctx)
			entry.Instruments = m.Instruments()
			if m.Close(); err != nil {
				return err
			}
		}
		if o.peak {
			entry.Peaks, err = job.MeasurePeaks(ctx, t, l, d, nil, nil)
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				entry.PeaksError = err.Error()
				failed++
			}
		}
		listed = append(listed, entry)
	}
	if o.json {
		err = t.JSON(listed)
	} else {
		err = printDevices(t.Out, listed, o.device == "")
	}
	if err == nil && failed == len(listed) {
		return ui.ErrReported
	}
	return err
}

// listFleet lists the devices of a fleet, by machine.
func (o *devicesOptions) listFleet(ctx context.Context, t *ui.Console) error {
	var preferred device.Listed
	var chosen []device.Listed
	f, err := o.fleet.Join(ctx, t, func(kinds []device.Listed) (err error) {
		chosen = kinds
		if preferred, err = device.Select(chosen, ""); err == nil && o.device != "" {
			chosen, err = device.SelectEach(chosen, o.device)
		}
		return err
	})
	if err != nil {
		return err
	}
	defer f.Close()
	listed := []listedDevice{}
	for _, l := range chosen {
		for _, a := range f.Members[l.Index].Devices {
			isDefault := l.Index == preferred.Index
			listed = append(listed, listedDevice{Index: l.Index, Machine: a.Machine, Selector: a.Selector, Default: isDefault, Device: a.Device})
		}
	}
	slices.SortStableFunc(listed, func(a, b listedDevice) int { return cmp.Compare(a.Machine, b.Machine) })
	if o.json {
		return t.JSON(listed)
	}
	machine := ""
	for _, l := range listed {
		if l.Machine != machine {
			machine = l.Machine
			fmt.Fprintf(t.Out, "machine %s\n", machine)
		}
		printDevice(t.Out, l)
	}
	return nil
}

// printDevices shows devices by platform, those of CUDA last. Platforms without one of the devices are shown only if all is
// true.
func printDevices(w io.Writer, listed []listedDevice, all bool) error {
	platforms, _ := cl.Platforms() // an error is one of the list of devices, unless CUDA has some
	for i, p := range platforms {
		if err := printPlatform(w, strconv.Itoa(i), p, listed, all); err != nil {
			return err
		}
	}
	if p, err := cl.CUDA(); err == nil {
		return printPlatform(w, string(source.CUDA), p, listed, all)
	}
	return nil
}

func printPlatform(w io.Writer, name string, p *cl.Platform, listed []listedDevice, all bool) error {
	info, err := p.Info()
	if err != nil {
		return err
	}
	found := slices.DeleteFunc(slices.Clone(listed), func(l listedDevice) bool { return !strings.HasPrefix(l.Selector, name+":") })
	if len(found) == 0 && !all {
		return nil
	}
	fmt.Fprintf(w, "platform %s: %s (%s)", name, info.Name, strings.TrimSpace(info.Version))
	if name == string(source.CUDA) {
		fmt.Fprint(w, ", for ", source.CUDA.Name())
		if err := cl.CUDACompiler(); err != nil {
			fmt.Fprintf(w, "\n  nothing can be compiled: %v", err)
		}
	}
	fmt.Fprintln(w)
	if len(found) == 0 {
		fmt.Fprintln(w, "  no devices")
	}
	for _, l := range found {
		printDevice(w, l)
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
	for _, d := range l.Details() {
		row(d[0], d[1])
	}
	for _, i := range l.Instruments {
		row(i.Quantity, i.String())
	}
	switch {
	case l.PeaksError != "":
		row("peaks", "could not be measured: "+excerpt.FirstLine(l.PeaksError))
	case l.Peaks != nil:
		l.Peaks.Write(w)
	}
}
