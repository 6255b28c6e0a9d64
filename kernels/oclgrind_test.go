package kernels_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/cl"
)

// underOclgrind marks a child of TestDiffusionUnderOclgrind; its value is the
// name of the case.
const underOclgrind = "NDTUNE_TEST_UNDER_OCLGRIND"

// simulations are what is run on Oclgrind: the kernels as they are, and tiled
// with a part taken out, to see that the simulator would have noticed.
var simulations = map[string]struct {
	takeOut string // from the source of the tiled kernel
	report  string // what Oclgrind must say; empty: nothing at all
}{
	"kernels": {},
	"without the barrier": {
		takeOut: "barrier(CLK_LOCAL_MEM_FENCE);",
		report:  "data race",
	},
	"without a bound": {
		takeOut: "if (x >= 0 && x < nx && y >= 0 && y < ny)",
		report:  "Invalid read",
	},
}

// TestDiffusionUnderOclgrind runs this test binary again on the Oclgrind
// simulator, which reports races between work-items and accesses out of bounds.
func TestDiffusionUnderOclgrind(t *testing.T) {
	library := oclgrindLibrary(t)
	for name, simulation := range simulations {
		t.Run(name, func(t *testing.T) {
			log := filepath.Join(t.TempDir(), "oclgrind.log")
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestDiffusionInSimulator$", "-test.v", "-test.timeout=5m")
			child.WaitDelay = 5 * time.Second
			child.Env = append(os.Environ(), underOclgrind+"="+name, cl.LibraryVariable+"="+library,
				"OCLGRIND_DATA_RACES=1", "OCLGRIND_LOG="+log)
			output, err := child.CombinedOutput()
			if err != nil || !strings.Contains(string(output), "--- PASS: TestDiffusionInSimulator") {
				t.Fatalf("the test under Oclgrind: %v\n%s", err, output)
			}
			report, err := os.ReadFile(log) // it is not there when there is nothing to say
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			if simulation.report == "" && len(report) > 0 || !strings.Contains(string(report), simulation.report) {
				t.Errorf("Oclgrind is expected to report %q, it says:\n%.4000s", simulation.report, report)
			}
		})
	}
}

// oclgrindLibrary finds the library from which programs use Oclgrind as their
// OpenCL; it is installed beside the command oclgrind.
func oclgrindLibrary(t *testing.T) string {
	command, err := exec.LookPath("oclgrind")
	if err != nil {
		t.Skip("Oclgrind is not installed (Debian: oclgrind)")
	}
	prefix := filepath.Dir(filepath.Dir(command))
	for _, folder := range []string{"lib/oclgrind", "lib", "lib64/oclgrind", "lib64"} {
		library := filepath.Join(prefix, folder, "liboclgrind-rt.so")
		if _, err := os.Stat(library); err == nil {
			return library
		}
	}
	t.Skipf("liboclgrind-rt.so does not stand in the lib folder beside %s", command)
	return ""
}

// TestDiffusionInSimulator is what the child runs: small launches that take
// every path, each in a moment. There are no guards, so that an access outside
// of the field is one outside of the buffer.
func TestDiffusionInSimulator(t *testing.T) {
	simulation, ok := simulations[os.Getenv(underOclgrind)]
	if !ok {
		t.Skip("run by TestDiffusionUnderOclgrind")
	}
	device := testDevice(t)
	if simulation.takeOut != "" {
		source := readKernel(t, "tiled")
		if !strings.Contains(source, simulation.takeOut) {
			t.Fatalf("the source no longer holds %s", simulation.takeOut)
		}
		b := newBench(t, device, strings.ReplaceAll(source, simulation.takeOut, ""))
		l := diffusionLaunch{nx: 40, ny: 20, blockX: 16, blockY: 4, tileX: 1, tileY: 2}
		b.guard = 0
		if _, _, err := b.launch(l, make([]float32, l.nx*l.ny), make([]float32, l.nx*l.ny)); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, name := range []string{"naive", "tiled"} {
		b := newBench(t, device, readKernel(t, name))
		b.guard = 0
		for i, l := range simulatedLaunches() {
			if name == "naive" {
				l.tileX, l.tileY = 1, 1
			}
			b.check(l, uint64(i))
		}
	}
}

func simulatedLaunches() []diffusionLaunch {
	return []diffusionLaunch{
		{nx: 1, ny: 1, blockX: 16, blockY: 2, tileX: 1, tileY: 1},
		{nx: 1, ny: 7, blockX: 16, blockY: 4, tileX: 1, tileY: 1},
		{nx: 3, ny: 3, blockX: 16, blockY: 2, tileX: 1, tileY: 1, spare: 1},
		{nx: 100, ny: 37, blockX: 48, blockY: 4, tileX: 1, tileY: 1},
		{nx: 66, ny: 34, blockX: 16, blockY: 8, tileX: 1, tileY: 1, spare: 1},
		{nx: 17, ny: 9, blockX: 3, blockY: 1, tileX: 1, tileY: 1},
		// With groups inside of the field and on each of its edges.
		{nx: 130, ny: 67, blockX: 16, blockY: 4, tileX: 2, tileY: 4},
		{nx: 130, ny: 67, blockX: 16, blockY: 2, tileX: 1, tileY: 2, spare: 1},
		{nx: 200, ny: 40, blockX: 48, blockY: 2, tileX: 1, tileY: 4},
		{nx: 100, ny: 100, blockX: 32, blockY: 8, tileX: 1, tileY: 4},
		{nx: 2, ny: 9, blockX: 128, blockY: 2, tileX: 4, tileY: 4},
		{nx: 40, ny: 40, blockX: 7, blockY: 5, tileX: 3, tileY: 2},
		{nx: 20, ny: 20, blockX: 1, blockY: 1, tileX: 4, tileY: 1},
	}
}
