package footprint

import (
	"fmt"
	"regexp"

	"github.com/ndtune/ndtune/tune/hardware"
)

// A unit is what a compute unit of a device has for the work-groups that are resident on it. All but schedulers are limits.
type unit struct {
	waves      int // of all work-groups: warps or wavefronts
	groups     int
	schedulers int // parts of the unit, among which the waves of a work-group are divided
	registers  int // for each work-item of a wave, of one scheduler: they are divided among its waves
	grain      int // in which a wave gets them
	local      int // bytes
	localGrain int
	reserved   int // bytes of local memory that each work-group takes beside its own
	barriers   int // work-groups of more than one wave; 0: as many as groups
}

// nvidiaUnits are the multiprocessors by compute capability: «Technical Specifications per Compute Capability» in the CUDA C++
// Programming Guide. A multiprocessor has 65536 registers; a warp gets them in units of 256.
var nvidiaUnits = map[string]unit{
	"sm_50":  {64, 32, 4, 512, 8, 64 << 10, 256, 0, 0},
	"sm_52":  {64, 32, 4, 512, 8, 96 << 10, 256, 0, 0},
	"sm_53":  {64, 32, 4, 512, 8, 64 << 10, 256, 0, 0},
	"sm_60":  {64, 32, 2, 1024, 8, 64 << 10, 256, 0, 0},
	"sm_61":  {64, 32, 4, 512, 8, 96 << 10, 256, 0, 0},
	"sm_62":  {64, 32, 4, 512, 8, 64 << 10, 256, 0, 0},
	"sm_70":  {64, 32, 4, 512, 8, 96 << 10, 256, 0, 0},
	"sm_72":  {64, 32, 4, 512, 8, 96 << 10, 256, 0, 0},
	"sm_75":  {32, 16, 4, 512, 8, 64 << 10, 256, 0, 0},
	"sm_80":  {64, 32, 4, 512, 8, 164 << 10, 128, 1 << 10, 0},
	"sm_86":  {48, 16, 4, 512, 8, 100 << 10, 128, 1 << 10, 0},
	"sm_87":  {48, 16, 4, 512, 8, 164 << 10, 128, 1 << 10, 0},
	"sm_89":  {48, 24, 4, 512, 8, 100 << 10, 128, 1 << 10, 0},
	"sm_90":  {64, 32, 4, 512, 8, 228 << 10, 128, 1 << 10, 0},
	"sm_100": {64, 32, 4, 512, 8, 228 << 10, 128, 1 << 10, 0},
	"sm_103": {64, 32, 4, 512, 8, 228 << 10, 128, 1 << 10, 0},
	"sm_120": {48, 24, 4, 512, 8, 100 << 10, 128, 1 << 10, 0},
}

// amdUnits are the compute units of GCN and CDNA: «AMDGPU Occupancy» and the tables of registers in
// https://llvm.org/docs/AMDGPUUsage.html, and the instruction set manuals. Limits by scalar registers, which leave at least 7
// waves to a scheduler on GCN, are not counted.
var (
	gcnUnit  = unit{40, 40, 4, 256, 4, 64 << 10, 512, 0, 16}
	cdna2    = unit{32, 32, 4, 512, 8, 64 << 10, 512, 0, 16}
	cdna4    = unit{32, 32, 4, 512, 8, 160 << 10, 1280, 0, 16}
	amdUnits = map[string]unit{"gfx90a": cdna2, "gfx940": cdna2, "gfx941": cdna2, "gfx942": cdna2, "gfx950": cdna4}
)

// gcn matches the architectures of GCN.
var gcn = regexp.MustCompile(`^gfx[89]..$`)

// unitOf returns the compute unit of a device.
func unitOf(d hardware.Device) (unit, bool) {
	u, ok := nvidiaUnits[d.Architecture]
	if !ok {
		u, ok = amdUnits[d.Architecture]
	}
	if !ok && gcn.MatchString(d.Architecture) {
		return gcnUnit, true
	}
	return u, ok
}

// OccupancyOf returns the theoretical occupancy: the share of the work-items of a compute unit that can be resident at the same
// time if each work-group has some work-items and bytes of local memory. The error says why it is not known.
func OccupancyOf(d hardware.Device, workItems int, registers, localBytes float64) (float64, error) {
	u, ok := unitOf(d)
	switch {
	case !ok && d.Architecture == "":
		return 0, fmt.Errorf("the architecture of %s is not known", d.Name)
	case !ok:
		return 0, fmt.Errorf("the limits of the architecture %s are not known", d.Architecture)
	case d.Wavefront <= 0 || workItems <= 0:
		return 0, fmt.Errorf("the size of a wave or of the work-group is not known")
	}
	waves := ceil(workItems, d.Wavefront)
	groups := min(u.groups, u.waves/waves)
	if u.barriers > 0 && waves > 1 {
		groups = min(groups, u.barriers)
	}
	if r := roundUp(int(registers), u.grain); r > 0 {
		groups = min(groups, u.registers/r*u.schedulers/waves)
	}
	if l := roundUp(int(localBytes)+u.reserved, u.localGrain); l > 0 {
		groups = min(groups, u.local/l)
	}
	return float64(groups*waves) / float64(u.waves), nil
}

func ceil(n, by int) int { return (n + by - 1) / by }

func roundUp(n, to int) int { return ceil(n, to) * to }
