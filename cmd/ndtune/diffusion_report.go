package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/ndtune/ndtune/diffusion"
)

// report prints the times of all phases, the speed-ups, and how well device and CPU agree.
func (e *experiment) report(w io.Writer) {
	fmt.Fprintf(w, "Using: %s\n", e.device.Name)
	fmt.Fprintf(w, "field: %d × %d cells; %s: %s\n\n", e.first.NX, e.first.NY, e.kernel, e.configuration)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "steps\tdevice\tits kernels\tCPU, %s\tCPU, 1 thread\tover all threads\tover 1 thread\tlargest difference\t\n", countNoun(cpuThreads(), "thread"))
	total := phaseTimes{}
	for _, p := range e.phases {
		printPhase(table, p)
		total.steps += p.steps
		total.device, total.all, total.one = plus(total.device, p.device), plus(total.all, p.all), plus(total.one, p.one)
		total.difference = max(total.difference, p.difference)
	}
	printPhase(table, total)
	table.Flush()
	fmt.Fprintf(w, "\ncell updates a second: device %s, CPU %s on %s and %s on 1\n",
		formatRate(total.device), formatRate(total.all), countNoun(cpuThreads(), "thread"), formatRate(total.one))
	fmt.Fprintf(w, "on the device: %s a launch; with one step a launch, memory would have to move %s GB/s for it; %s\n",
		countNoun(e.simulation.StepsPerLaunch(), "step"), formatNumber(total.device.BytesPerSecond()/1e9), launchCost(total.device))
	fmt.Fprintf(w, "heat in the sheet: %s at first; %s on the device and %s on the CPU now (what is missing left through the fixed edges)\n",
		formatHeat(e.first), formatHeat(e.onDevice), formatHeat(e.all))
}

func printPhase(w io.Writer, p phaseTimes) {
	kernels := "–"
	if p.device.Device > 0 {
		kernels = formatDuration(p.device.Device)
	}
	fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", p.steps,
		formatDuration(p.device.Wall), kernels, formatDuration(p.all.Wall), formatDuration(p.one.Wall),
		formatGain(ratio(p.all.Wall, p.device.Wall)), formatGain(ratio(p.one.Wall, p.device.Wall)), formatNumber(p.difference))
}

func plus(a, b diffusion.Timing) diffusion.Timing {
	return diffusion.Timing{Steps: a.Steps + b.Steps, Cells: b.Cells, Wall: a.Wall + b.Wall, Device: a.Device + b.Device}
}

func ratio(a, b time.Duration) float64 {
	if b <= 0 {
		return 0
	}
	return float64(a) / float64(b)
}

func formatDuration(d time.Duration) string {
	return formatTime(float64(d) / float64(time.Millisecond))
}

func formatRate(t diffusion.Timing) string { return formatNumber(t.UpdatesPerSecond()/1e9) + " G" }

func formatHeat(f *diffusion.Field) string { return fmt.Sprintf("%.3f", f.Sum()) }

// launchCost says which part of the time went into launching.
func launchCost(t diffusion.Timing) string {
	share, ok := t.LaunchShare()
	if !ok {
		return "what launches cost is not known: the driver does not time kernels"
	}
	return fmt.Sprintf("launches cost %.0f %% of the time", 100*share)
}
