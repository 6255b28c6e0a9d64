package footprint

import (
	"maps"
	"os"
	"testing"
)

func wantFootprints(t *testing.T, got, want map[string]Footprint) {
	t.Helper()
	if !maps.EqualFunc(got, want, func(a, b Footprint) bool { return maps.Equal(a, b) }) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestNVIDIA reads a log that an H200 with driver 580 has written for two kernels and -cl-nv-maxrregcount=32.
func TestNVIDIA(t *testing.T) {
	log, err := os.ReadFile("testdata/nvidia-h200.txt")
	if err != nil {
		t.Fatal(err)
	}
	wantFootprints(t, NVIDIA(string(log)), map[string]Footprint{
		"plain":   {Registers: 10, PrivateBytes: 0, SpillBytes: 0, LocalBytes: 0},
		"stencil": {Registers: 32, PrivateBytes: 576, SpillBytes: 1260, LocalBytes: 1028},
	})
}

func TestNVIDIALogs(t *testing.T) {
	for name, c := range map[string]struct {
		log  string
		want map[string]Footprint
	}{
		"of a cached build": {"\n", nil},
		"of a build whose assembly is cached": {
			"(): Warning: Function k is a kernel, so overriding noinline attribute. The function may be inlined when called.\n\n\n", nil,
		},
		"with a function that is not inlined": {`ptxas info    : Compiling entry function 'k' for 'sm_70'
ptxas info    : Function properties for helper
    16 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads
ptxas info    : Function properties for k
    48 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 24 registers, 512+16 bytes smem, 376 bytes cmem[0]
`, map[string]Footprint{"k": {Registers: 24, PrivateBytes: 48, SpillBytes: 0, LocalBytes: 528}}},
		"with the function last": {`ptxas info    : Compiling entry function 'k' for 'sm_70'
ptxas info    : Function properties for k
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Function properties for helper
    16 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 24 registers
`, map[string]Footprint{"k": {Registers: 24, PrivateBytes: 0, SpillBytes: 0, LocalBytes: 0}}},
		"cut off":             {"ptxas info    : Compiling entry function 'k' for 'sm_90a'\n", map[string]Footprint{"k": {}}},
		"of nothing":          {"ptxas info    : Used 24 registers\n    1 bytes stack frame, 1 bytes spill stores, 1 bytes spill loads\n", nil},
		"of another compiler": {"warning: kernel k  compiled SIMD16 allocated 128 regs and spilled around 217\n", nil},
	} {
		t.Run(name, func(t *testing.T) { wantFootprints(t, NVIDIA(c.log), c.want) })
	}
}

// TestIntel has the lines of two versions of Intel's graphics compiler.
func TestIntel(t *testing.T) {
	log := `warning: kernel matmul  compiled SIMD16 allocated 128 regs and spilled around 217
[bmg-g21] warning: in kernel 'reduce': compiled SIMD32 allocated 256 regs and spilled around 2
warning: [RetryManager] Start recompilation of the kernel
`
	wantFootprints(t, Intel(log), map[string]Footprint{"matmul": {Registers: 128}, "reduce": {Registers: 256}})
	wantFootprints(t, Intel("ptxas info    : Used 24 registers\n"), nil)
}

func TestOf(t *testing.T) {
	got := Of([]Footprint{{Registers: 10, SpillBytes: 8, PrivateBytes: 64}, {Registers: 30, PrivateBytes: 16, LocalBytes: 4}})
	if want := (Footprint{Registers: 30, PrivateBytes: 64}); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestNamed(t *testing.T) {
	all := map[string]Footprint{
		"plain": {Registers: 1}, "_Z1kPf": {Registers: 2}, "_Z11kernel_of_kPf": {Registers: 3}, "_Z3addIfLi128EEvPT_": {Registers: 4, SpillBytes: 8},
		"_Z3addIfLi64EEvPT_": {Registers: 5}, "_ZN5space1fEPf": {Registers: 6}, "_ZN5spaceL1gIiEEvPT_": {Registers: 7},
	}
	for kernel, want := range map[string]float64{
		"plain": 1, "k": 2, "kernel_of_k": 3, "add<float, 128>": 5, "f": 6, "space::f": 6, "space::g<int>": 7, "g": 7, "none": 0, "ace::f": 0,
	} {
		if got := Named(all, kernel); got[Registers] != want {
			t.Errorf("%s: %v, want %v registers", kernel, got, want)
		}
	}
}

// TestNVRTC reads a log that NVRTC 13.5 has written with --ptxas-options=-v.
func TestNVRTC(t *testing.T) {
	all := NVIDIA(`ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z4manyIfLi96EEvPT_' for 'sm_90'
ptxas info    : Function properties for _Z4manyIfLi96EEvPT_
ptxas         .     1024 bytes stack frame, 640 bytes spill stores, 836 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers, 1024 bytes cumulative stack size
ptxas info    : Compile time = 70.938 ms
ptxas info    : Compiling entry function 'plain' for 'sm_90'
ptxas info    : Function properties for plain
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 12 registers, used 1 barriers, 400 bytes smem
ptxas info    : Compile time = 3.218 ms
`)
	wantFootprints(t, map[string]Footprint{"many": Named(all, "many<float, 96>"), "plain": Named(all, "plain")}, map[string]Footprint{
		"many":  {Registers: 32, PrivateBytes: 1024, SpillBytes: 640, LocalBytes: 0},
		"plain": {Registers: 12, PrivateBytes: 0, SpillBytes: 0, LocalBytes: 400},
	})
}
