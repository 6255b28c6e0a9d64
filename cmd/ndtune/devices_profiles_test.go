package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/internal/standin"
)

// These tests run the program on devices that nobody here has: the stand-in answers as the devices did in published reports.

// A realDevice is what the program must know of the device of a profile.
type realDevice struct {
	name         string
	typ          string
	architecture string
	selectors    []string // by which its owner would choose it; the test has a CPU beside it
}

var realDevices = map[string]realDevice{
	"amd-mi250-rocm":           {"gfx90a:sramecc+:xnack-", "gpu", "gfx90a", []string{"gfx90a", "AMD"}}, // the driver told no other name
	"amd-radeonvii-pal":        {"AMD Radeon VII (gfx906)", "gpu", "gfx906", []string{"Radeon", "Radeon VII", "gfx906", "amd"}},
	"amd-rx480-rocm":           {"gfx803", "gpu", "gfx803", []string{"gfx803", "AMD"}}, // likewise
	"amd-rx6700xt-rusticl":     {"AMD Radeon RX 6700 XT (navi22, LLVM 15.0.7, DRM 3.54, 6.5.0-1-rt-amd64)", "gpu", "", []string{"6700", "RX 6700 XT", "Radeon", "AMD", "navi22", "rusticl"}},
	"amd-rx7900xtx-rocm":       {"Radeon RX 7900 XTX (gfx1100)", "gpu", "gfx1100", []string{"7900", "RX 7900 XTX", "Radeon", "gfx1100", "AMD"}},
	"amd-vega8-windows":        {"AMD Radeon(TM) Graphics (gfx90c)", "gpu", "gfx90c", []string{"Radeon", "gfx90c", "AMD"}},
	"apple-m1":                 {"Apple M1", "gpu", "", []string{"M1", "Apple"}},
	"arm-mali-g610":            {"Mali-G610 r0p0", "gpu", "", []string{"Mali", "G610", "Mali-G610", "ARM"}},
	"broadcom-videocore4":      {"VideoCore IV GPU", "gpu", "", []string{"VideoCore", "Broadcom", "Raspberry Pi"}},
	"broadcom-videocore6-clvk": {"V3D 4.2", "gpu", "", []string{"V3D", "clvk"}},
	"imagination-bxm":          {"PowerVR BXM-8-256", "gpu", "", []string{"PowerVR", "BXM", "Imagination"}},
	"intel-arc-a770":           {"Intel(R) Arc(TM) A770 Graphics", "gpu", "", []string{"Arc", "A770", "Intel"}},
	"intel-cpu-i5":             {"Intel(R) Core(TM) i5-10210U CPU @ 1.60GHz", "cpu", "", []string{"i5", "Core", "10210U", "Intel"}},
	"intel-fpga-emulation":     {"Intel(R) FPGA Emulation Device", "accelerator", "", []string{"FPGA", "Intel", "accelerator"}},
	"intel-uhd-neo":            {"Intel(R) UHD Graphics [0x9b41]", "gpu", "", []string{"UHD", "0x9b41", "Intel"}},
	"nvidia-h200":              {"NVIDIA H200", "gpu", "sm_90", []string{"H200", "NVIDIA", "sm_90"}},
	"nvidia-rtx2080ti":         {"NVIDIA GeForce RTX 2080 Ti", "gpu", "sm_75", []string{"2080", "RTX 2080 Ti", "GeForce", "NVIDIA", "sm_75", "nvidia cuda"}},
	"nvidia-rtx3050":           {"NVIDIA GeForce RTX 3050", "gpu", "sm_86", []string{"3050", "GeForce", "NVIDIA", "sm_86", "nvidia cuda"}},
	"pocl-cortex-a55":          {"pthread-cortex-a55", "cpu", "", []string{"Cortex", "A55", "ARM", "pthread"}},
	"qualcomm-adreno650":       {"QUALCOMM Adreno(TM) 650", "gpu", "", []string{"Adreno", "650", "Qualcomm", "Snapdragon"}},
}

// scaleSpec is a kernel whose best configuration differs by device: the block is a warp, and the more compute units, the more
// elements has a work-item. Some of its configurations are too large, and one does not build.
const scaleSpec = `kernel:
  name: scale
  source: |
    // standin: scale is scale(out, in, 2); build fails "error: use of undeclared identifier 'sub_group_reduce_add'" when broken
    // standin: scale takes 10000 + 10 * abs(block_size_x - warp) + 1000 * abs(per_item - (units > 32 ? 4 : units > 4 ? 2 : 1))
    // standin: build logs "\nptxas info    : Compiling entry function 'scale' for 'sm_86'\nptxas info    : Used 24 registers, 360 bytes cmem[0]"
    __kernel void scale(__global float *out, __global const float *in, __local float *own)
    {
        for (int k = 0; k < per_item; k++) {
            const int i = (get_group_id(0) * per_item + k) * block_size_x + get_local_id(0);
            out[i] = 2 * in[i];
        }
    #if broken
        out[0] = sub_group_reduce_add(out[0]);
    #endif
    }
constants: {n: 8192}
problem_size: n
arguments:
  - {name: out, type: float32, size: n, output: true}
  - {name: in,  type: float32, size: n, fill: random}
  - {name: own, type: float32, local_size: 256 * local_kib}
parameters:
  block_size_x: [4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048]
  per_item: [1, 2, 4]
  local_kib: [1, 48, 600]
  broken: [0, 1]
restrictions: ["local_kib == 1 and broken == 0 or block_size_x * per_item == 4 and (local_kib == 1 or broken == 0)", per_item == 1 or block_size_x > 1]
grid_div: {x: [block_size_x, per_item]}
verify: {spec: scale.yaml, parameters: {block_size_x: 4, per_item: 1, local_kib: 1, broken: 0}}
measure: {observe: [registers]}
`

// A realMachine runs the program in a folder, on the devices of some profiles.
type realMachine struct {
	t      *testing.T
	folder string // of the program
	files  []string
}

func newRealMachine(t *testing.T, profiles ...string) *realMachine {
	t.Helper()
	if standin.OnSystem() {
		t.Skip("needs the stand-in")
	}
	folder, err := standin.Folder()
	if err != nil {
		t.Fatal(err)
	}
	m := &realMachine{t: t, folder: t.TempDir(), files: strings.Split(standin.Profiles(folder, profiles...), ":")}
	m.write("scale.yaml", scaleSpec)
	return m
}

func (m *realMachine) write(name, text string) {
	m.t.Helper()
	if err := os.WriteFile(filepath.Join(m.folder, name), []byte(text), 0o666); err != nil {
		m.t.Fatal(err)
	}
}

// run runs the program, which must end with a status. It returns stdout and stderr.
func (m *realMachine) run(status int, environment string, arguments ...string) (out, notes string) {
	m.t.Helper()
	var stdout, stderr bytes.Buffer
	c := exec.Command("ndtune", arguments...)
	c.Dir, c.Stdout, c.Stderr = m.folder, &stdout, &stderr
	c.Env = append(programEnvironment(m.folder), standin.ProfilesVariable+"="+strings.Join(m.files, ":"), environment)
	var exit *exec.ExitError
	if err := c.Run(); err != nil && !errors.As(err, &exit) || c.ProcessState.ExitCode() != status || stackTrace(stderr.String()) != "" {
		m.t.Fatalf("ndtune %q: status %d, want %d\n%s%s", arguments, c.ProcessState.ExitCode(), status, &stdout, &stderr)
	}
	return stdout.String(), stderr.String()
}

// answers returns the answers of a profile by the number of the query; those about kernels by their names.
func (m *realMachine) answers(i int) map[string]string {
	m.t.Helper()
	text, err := os.ReadFile(m.files[i])
	if err != nil {
		m.t.Fatal(err)
	}
	all := map[string]string{}
	for _, a := range regexp.MustCompile(`(?m)^(?:device (0x\w+) \w+|kernel (\w+)) (.*)$`).FindAllStringSubmatch(string(text), -1) {
		all[a[1]+a[2]] = a[3]
	}
	return all
}

func whole(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// after returns what follows a text in an output, to the end of the line.
func after(output, text string) string {
	_, rest, _ := strings.Cut(output, text)
	line, _, _ := strings.Cut(rest, "\n")
	return line
}

func TestEveryProfileHasItsDevice(t *testing.T) {
	if got, want := standin.Names(), slices.Sorted(maps.Keys(realDevices)); !slices.Equal(got, want) {
		t.Errorf("profiles %q, devices %q", got, want)
	}
}

func TestRealDevicesAreListedAndSelected(t *testing.T) {
	for profile, want := range realDevices {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			m := newRealMachine(t, "standin-cpu", profile)
			is := m.answers(1)
			text, _ := m.run(0, "", "devices", "--device", "1:0")
			for _, part := range []string{
				"  device 1  1:0  " + want.name + "  " + want.typ, "\n    vendor           " + is["0x102C"],
				"\n    work-group       at most " + is["0x1004"] + " work-items", "\n    compute units    " + is["0x1002"],
			} {
				if !strings.Contains(text, part) {
					t.Errorf("no %q in\n%s", part, text)
				}
			}
			for _, selector := range append(want.selectors, want.name, "1") {
				var found []map[string]any
				text, _ := m.run(0, "", "devices", "--json", "--device", selector)
				if err := json.Unmarshal([]byte(text), &found); err != nil || len(found) != 1 {
					t.Fatalf("--device %s: %v\n%s", selector, err, text)
				}
				d := found[0]
				architecture, _ := d["architecture"].(string)
				if d["name"] != want.name || d["type"] != want.typ || architecture != want.architecture || d["selector"] != "1:0" {
					t.Errorf("--device %s: %v", selector, d)
				}
				for field, query := range map[string]string{"compute_units": "0x1002", "max_work_group_size": "0x1004", "local_memory": "0x1023", "global_memory": "0x101F", "max_allocation": "0x1010", "clock_mhz": "0x100C"} {
					if d[field] != float64(whole(is[query])) {
						t.Errorf("%s is %v, want %s", field, d[field], is[query])
					}
				}
			}
			_, notes := m.run(2, "", "devices", "--device", "Voodoo")
			if !strings.Contains(notes, "\n  1  1:0  "+want.name+" ("+want.typ+")\n") {
				t.Errorf("the names to choose from: %s", notes)
			}
		})
	}
}

// TestCardsOfTwoPlatforms lists cards that are devices of OpenCL and of CUDA.
func TestCardsOfTwoPlatforms(t *testing.T) {
	for _, variable := range []string{standin.CUDAVariable, standin.NVRTCVariable} {
		t.Setenv(variable, os.Getenv(standin.LibraryVariable))
	}
	for card, want := range map[string]struct {
		driver        string
		local, blocks float64
	}{"nvidia-h200": {", NVRTC 13.0", 227 << 10, 132}, "nvidia-rtx3050": {", NVRTC 12.2", 99 << 10, 20}} {
		var found []map[string]any
		text, _ := newRealMachine(t, card, card+"-cuda").run(0, "", "devices", "--json")
		if err := json.Unmarshal([]byte(text), &found); err != nil || len(found) != 2 {
			t.Fatalf("%s: %v\n%s", card, err, text)
		}
		openCL, cuda := found[0], found[1]
		for _, same := range []string{"name", "uuid", "pci", "architecture", "compute_units", "global_memory", "wavefront"} {
			if openCL[same] != cuda[same] || cuda[same] == nil {
				t.Errorf("%s: %s is %v in OpenCL, %v in CUDA", card, same, openCL[same], cuda[same])
			}
		}
		if cuda["selector"] != "cuda:0" || cuda["platform"] != "CUDA" || !strings.HasSuffix(fmt.Sprint(cuda["driver"]), want.driver) || cuda["local_memory"] != want.local || cuda["compute_units"] != want.blocks {
			t.Errorf("%s: %v", card, cuda)
		}
	}
}

// TestSearchesOnRealDevices makes one search on each device: it ends, goes on, finds the known best, refuses what is too large,
// says what the compiler says, and does not go on elsewhere.
func TestSearchesOnRealDevices(t *testing.T) {
	profiles := standin.Names()
	for i, profile := range profiles {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			m := newRealMachine(t, profile)
			is, want := m.answers(0), realDevices[profile]
			search := []string{"tune", "scale.yaml", "--strategy", "brute_force", "--log", "r.jsonl", "--iterations", "3"}
			m.run(0, "", append(search, "--max-evals", "5")...)
			out, notes := m.run(0, "", search...)
			if !regexp.MustCompile(`Resuming r\.jsonl, which holds \d+ results already`).MatchString(notes) {
				t.Errorf("it did not go on: %s", notes)
			}

			// Without profiling, the stand-in takes real time, too short to compare.
			timer := "event"
			if whole(is["0x102A"])&2 == 0 {
				timer = "host"
			}
			if strings.Contains(out, "\ntimer: host\n") != (timer == "host") {
				t.Errorf("the timer is not %s: %s", timer, out)
			}
			block, item := 4, 1
			for b := 8; b <= min(2048, whole(is["0x1004"])); b *= 2 {
				if warp := whole(is["preferred_multiple"]); max(b-warp, warp-b) < max(block-warp, warp-block) {
					block = b
				}
			}
			if units := whole(is["0x1002"]); units > 32 {
				item = 4
			} else if units > 4 {
				item = 2
			}
			best := fmt.Sprintf("block_size_x=%d, per_item=%d, local_kib=1, broken=0, ", block, item)
			if got := after(out, "best performing configuration: "); timer == "event" && !strings.HasPrefix(got, best) {
				t.Errorf("the best is %s, want %s", got, best)
			}

			registers := map[string]string{"NVIDIA Corporation": `"value":24`, "Intel(R) Corporation": "Intel's compiler says it only of kernels that spill"}[is["0x102C"]]
			if registers == "" || profile == "intel-fpga-emulation" { // it does not list the vendor's extension
				registers = " does not say it"
			}
			extensions := strings.Fields(is["0x1030"])
			hint := "sub-groups need OpenCL C 2.0 or newer"
			if !slices.Contains(extensions, "cl_khr_subgroups") && !slices.Contains(extensions, "cl_intel_subgroups") {
				hint = "the device has no sub-groups: "
			}
			checkSearch(t, filepath.Join(m.folder, "r.jsonl"), whole(is["0x1004"]), whole(is["0x1023"]), registers, hint)

			other := profiles[(i+1)%len(profiles)]
			n := newRealMachine(t, other)
			n.folder = m.folder
			_, notes = n.run(2, "", search...)
			for _, name := range []string{want.name, realDevices[other].name} {
				if !strings.Contains(notes, `"`+name+`"`) {
					t.Errorf("the log of another device: no %q in %s", name, notes)
				}
			}
		})
	}
}

// checkSearch checks the results of scaleSpec in a run log.
func checkSearch(t *testing.T, log string, group, local int, registers, hint string) {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for line := range strings.Lines(string(text)) {
		var r struct {
			Kind, Status, Reason string
			Configuration        map[string]int
			Readings             json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.Kind != "result" {
			continue
		}
		count++
		status, reason := "correct", ""
		switch block, bytes := r.Configuration["block_size_x"], r.Configuration["local_kib"]<<10; {
		case block > group:
			status, reason = "constraints", fmt.Sprintf("work-group of %d = %d work-items > device limit %d", block, block, group)
		case r.Configuration["broken"] != 0:
			status, reason = "compile", hint
		case bytes > local:
			status, reason = "constraints", fmt.Sprintf("local memory %d B > device limit %d B", bytes, local)
		}
		if r.Status != status || !strings.Contains(r.Reason, reason) {
			t.Errorf("%v: %s, %s; want %s, %s", r.Configuration, r.Status, r.Reason, status, reason)
		}
		if status == "correct" && !strings.Contains(string(r.Readings), registers) {
			t.Errorf("%v: readings %s, want %s", r.Configuration, r.Readings, registers)
		}
	}
	if count != 33 {
		t.Errorf("%d results", count)
	}
}

// TestClocksOfRealDevices gives each device a clock that cannot be used, each kind to some of them.
func TestClocksOfRealDevices(t *testing.T) {
	faults := []string{"device clock zero", "device clock equal", "device clock reversed", "device clock none", "device refuses profiling"}
	for i, profile := range standin.Names() {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			m := newRealMachine(t, profile)
			m.write("slow.yaml", strings.NewReplacer("[4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048]", "[4, 8]", "[1, 2, 4]", "1", "[1, 48, 600]", "1", "[0, 1]", "0",
				"scale.yaml", "slow.yaml", "takes 10000 +", "takes 100000 + 10000000 * (block_size_x == 4) +").Replace(scaleSpec))
			out, notes := m.run(0, standin.FaultsVariable+"=device waits; "+faults[i%len(faults)], "tune", "slow.yaml", "--iterations", "3")
			if !strings.Contains(out, "\ntimer: host\n") || !strings.Contains(notes, "Times come from the host's clock") {
				t.Errorf("%s: it does not say what clock it uses: %s%s", faults[i%len(faults)], out, notes)
			}
			if best := after(out, "best performing configuration: "); !strings.HasPrefix(best, "block_size_x=8,") {
				t.Errorf("%s: the best is %s", faults[i%len(faults)], best)
			}
		})
	}
}

// TestWisdomOfRealDevices looks one device's best up for others: what is recorded is of a GeForce RTX 3050 and a Mali-G610.
func TestWisdomOfRealDevices(t *testing.T) {
	m := newRealMachine(t, "nvidia-rtx3050", "arm-mali-g610")
	for _, device := range []string{"3050", "Mali"} {
		m.run(0, "", "wisdom", "tune", "k.wisdom", "scale.yaml", "--device", device, "--strategy", "brute_force", "--iterations", "3", "-p", "local_kib=1", "-p", "broken=0")
	}
	text, err := os.ReadFile(m.files[0])
	if err != nil {
		t.Fatal(err)
	}
	m.write("3060.profile", strings.ReplaceAll(string(text), "RTX 3050", "RTX 3060"))
	for _, test := range []struct{ profile, size, block, why string }{
		{"nvidia-rtx3050", "8192", "32", "for NVIDIA GeForce RTX 3050 at 8192: the same device and size 8192\n"},
		{"nvidia-rtx3050", "1000", "32", "for NVIDIA GeForce RTX 3050 at 1000: the same device, nearest size 8192\n"},
		{"3060", "8192", "32", "for NVIDIA GeForce RTX 3060 at 8192: a device of the same architecture, nearest size 8192: NVIDIA GeForce RTX 3050, sm_86\n"},
		{"nvidia-rtx2080ti", "8192", "32", "for NVIDIA GeForce RTX 2080 Ti at 8192: a device of the same vendor and type, nearest size 8192: NVIDIA GeForce RTX 3050; the driver was 535.129.03, and is 470.63.01\n"},
		{"arm-mali-g610", "8192", "16", "for Mali-G610 r0p0 at 8192: the same device and size 8192\n"},
		{"pocl-cortex-a55", "8192", "", "for pthread-cortex-a55 at 8192: the best over all devices and sizes, "}, // ARM's, but no GPU
		{"apple-m1", "8192", "", "for Apple M1 at 8192: the best over all devices and sizes, "},
	} {
		on := newRealMachine(t, test.profile)
		if test.profile == "3060" {
			on.files = []string{filepath.Join(m.folder, "3060.profile")}
		}
		on.folder = m.folder
		out, notes := on.run(0, "", "wisdom", "show", "k.wisdom", "--problem-size", test.size)
		if !strings.HasPrefix(out, "block_size_x="+test.block) || !strings.HasPrefix(notes, test.why) {
			t.Errorf("%s at %s: %s%s", test.profile, test.size, out, notes)
		}
	}
}

// TestComparisonOfRealDevices compares all of them at once.
func TestComparisonOfRealDevices(t *testing.T) {
	t.Parallel()
	m := newRealMachine(t, standin.Names()...)
	out, _ := m.run(0, "", "compare", "scale.yaml", "--devices", "all", "--iterations", "3", "-p", "block_size_x=4,16,64", "-p", "local_kib=1", "-p", "broken=0", "-o", "c.json", "-o", "c.html")
	for i, profile := range standin.Names() {
		if want := fmt.Sprintf("\n  %c  %s  ", 'A'+i, realDevices[profile].name); !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for _, want := range []string{"on 20 devices\n", "  [1] constraints: work-group of 64 = 64 work-items > device limit 12\n", "\nthe best over all: block_size_x=4, "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for _, name := range []string{"c.json", "c.html"} {
		if info, err := os.Stat(filepath.Join(m.folder, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
