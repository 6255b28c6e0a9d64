package device

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/footprint"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/source"
)

// footprint finds what the built kernels take of the device, if the problem wants to know, and refuses them if its build
// restrictions do.
func (t *trial) footprint(context.Context) error {
	wanted := t.problem.Compiled()
	if len(wanted) == 0 {
		return nil
	}
	defer clock(&t.result.Durations.Build)()
	readings := t.known.Readings
	if readings == nil {
		found, why, err := t.measureFootprint()
		if err != nil {
			return err
		}
		for _, name := range wanted {
			if v, known := found[name]; known {
				readings = append(readings, hardware.Reading{Quantity: name, Value: v})
			} else {
				readings = append(readings, hardware.MissingReading(name, why[name]))
			}
		}
	}
	t.result.Readings = readings
	reason, err := t.problem.BrokenRestriction(t.result.Configuration, t.identity, readings)
	if reason != "" {
		return fail(tune.Constraints, "%s", reason)
	}
	return err
}

// measureFootprint returns the known quantities of all kernels of the configuration together, and why others are not known.
func (t *trial) measureFootprint() (found footprint.Footprint, why map[string]string, err error) {
	said, nothing := t.compilerSays()
	why = map[string]string{}
	for _, name := range footprint.Quantities() {
		why[name] = nothing
	}
	var all []footprint.Footprint
	for i, l := range t.built.Launches {
		of := t.variant.Launches[i]
		f := footprint.Footprint{}
		f.Add(footprint.Named(said, of.Kernel))
		if err := t.addReported(f, l, of.LocalBytes); err != nil {
			return nil, nil, err
		}
		all = append(all, f)
	}
	return footprint.Of(all), why, nil
}

// addReported adds what the driver reports of a kernel. A private memory of 0 counts as unknown: many drivers report it of all
// kernels.
func (t *trial) addReported(f footprint.Footprint, l Launch, arguments []int) error {
	info, err := l.Kernel.WorkGroupInfo()
	if err != nil {
		return fail(tune.Runtime, "ask for the memory of the kernel: %v", err)
	}
	reported := footprint.Footprint{footprint.LocalBytes: float64(info.LocalMem)}
	if info.PrivateMem > 0 {
		reported[footprint.PrivateBytes] = float64(info.PrivateMem)
	}
	if t.session.Info.HasExtension("cl_intel_required_subgroup_size") {
		if spilled, err := l.Kernel.SpillMem(); err == nil {
			reported[footprint.SpillBytes] = float64(spilled)
		}
	}
	f.Add(reported)
	for _, n := range arguments {
		f[footprint.LocalBytes] += float64(n)
	}
	return nil
}

// compilerSays returns what the compiler says of kernels by name, and why it does not say more.
func (t *trial) compilerSays() (said map[string]footprint.Footprint, nothing string) {
	s := t.session
	log, _ := t.built.program.BuildLog() // "" if it cannot be read
	switch {
	case s.Info.HasExtension(nvidiaCompiler):
		if said = footprint.NVIDIA(log); len(said) > 0 || t.variant.SPIRV() {
			return said, "NVIDIA's compiler does not say it of a build that comes from the driver's cache"
		}
		said, err := t.buildAnew()
		if err != nil {
			first, _, _ := strings.Cut(err.Error(), "\n")
			return nil, "the build comes from the cache of NVIDIA's driver, and building anew failed: " + first
		}
		return said, "NVIDIA's compiler does not say it"
	case s.Info.HasExtension("cl_intel_required_subgroup_size"):
		return footprint.Intel(log), "Intel's compiler says it only of kernels that spill"
	}
	return nil, "the driver " + strings.TrimSpace(t.identity.Platform) + " does not say it"
}

// buildAnew returns what NVIDIA's compiler says of a build that did not come from its cache: of the source with one more kernel,
// whose name no build has had. An option that the source does not use would not suffice, since the assembler has a cache too.
// The kernel does something, because driver 580 makes of an empty kernel without arguments what its assembler refuses.
func (t *trial) buildAnew() (map[string]footprint.Footprint, error) {
	fresh := "__kernel void ndtune_fresh_%x(__global int *p) { *p = 0; }"
	if t.problem.Language() == source.CUDA {
		fresh = "__global__ void ndtune_fresh_%x(int *p) { *p = 0; }"
	}
	text := t.variant.Source + "\n" + fmt.Sprintf(fresh, time.Now().UnixNano()) + "\n"
	program, err := t.session.Build(text, t.session.options(t.variant))
	if err != nil {
		return nil, err
	}
	defer program.Release()
	log, err := program.BuildLog()
	if err != nil {
		return nil, err
	}
	return footprint.NVIDIA(log), nil
}
