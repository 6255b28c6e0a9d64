package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/observe"
	"github.com/ndtune/ndtune/tune/session"
)

// TestMain lets the scripts and the other tests run the program as a process of its own:
// ndtune, in the PATH, is this test binary, which then is main.
func TestMain(m *testing.M) {
	standin.Use()
	testscript.Main(tests{m}, map[string]func(){"ndtune": func() {
		if os.Getenv(standInVariable) != "" {
			session.OpenControl = func(d hardware.Device, names []string, folder string) (*observe.Control, error) {
				d.Vendor, d.UUID = "NVIDIA Corporation", "01020304-0506-0708-090a-0b0c0d0e0f10"
				return observe.OpenControl(d, names, folder)
			}
		}
		main()
	}})
}

// standInVariable makes the program take any device for the GPU of the stand-in for NVIDIA's management library, when it changes
// settings.
const standInVariable = "NDTUNE_TEST_STAND_IN"

// tests are all tests of a run, which share what PoCL has built: see POCL_CACHE_DIR.
type tests struct{ *testing.M }

func (t tests) Run() int {
	cache, err := os.MkdirTemp("", "ndtune-test-pocl")
	if err != nil {
		fmt.Fprintln(os.Stderr, "make a cache for PoCL:", err)
		return 1
	}
	defer os.RemoveAll(cache)
	if err := os.Setenv("POCL_CACHE_DIR", cache); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return t.M.Run()
}

// patience bounds the wait for an event: none takes so long unless something is wrong, on a busy
// machine neither.
const patience = 10 * time.Minute

// TestScripts runs testdata/script. Beside what testscript has, a script has
//
//	exits STATUS PROGRAM ARGUMENT…   the program ends with this status, and in order
//	only-results                     stdout holds nothing but results in the tutorials' form
//	results [STATUS=N…] FILE…        these files hold the same configurations, this many of each status
//	[!] same-configurations A B      two result files hold the same configurations
//
// and the conditions [standin], [cpu], [long], [small-disk] and [exists:FILE]. The files of testdata/specs are in its folder,
// $DEVICE is the device to use, as --device takes it, and $DEVICE_NAME its name. On the stand-in, $PROFILES is the folder of its
// profiles, and $STANDIN_STATE a folder of the script's own.
//
// They run on the stand-in, or on the drivers of this system with NDTUNE_TEST_OPENCL=system. Those of testdata/pocl always run
// on the drivers of this system.
func TestScripts(t *testing.T) { runScripts(t, "script", passedEnvironment()) }

func TestScriptsOnPoCL(t *testing.T) { runScripts(t, "pocl", systemEnvironment()) }

func runScripts(t *testing.T, folder string, environment []string) {
	needDeviceOf(t, environment)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", folder),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               func(e *testscript.Env) error { return setup(e, environment) },
		Condition:           func(name string) (bool, error) { return condition(name, environment) },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":               exits,
			"only-results":        onlyResults,
			"results":             sameResults,
			"same-configurations": sameConfigurations,
			"seal":                seal,
			"table":               table,
		},
	})
}

// passed are the beginnings of the variables that choose an OpenCL library, its drivers and
// devices; all others are the test's own.
var passed = []string{"OCL_", "POCL_", "NDTUNE_OPENCL_LIBRARY", "NDTUNE_CUDA_LIBRARY", "NDTUNE_NVRTC_LIBRARY", "NDTUNE_TEST_OPENCL", "STANDIN_", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "GOCOVERDIR", "GORACE"}

// passedEnvironment is what of this process's environment the program gets in every test.
func passedEnvironment() []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return !slices.ContainsFunc(passed, func(p string) bool { return strings.HasPrefix(variable, p) })
	})
}

// systemEnvironment is passedEnvironment for the drivers of this system, not the stand-in.
func systemEnvironment() []string {
	return append(slices.DeleteFunc(passedEnvironment(), func(variable string) bool {
		return isStandIn(variable) || strings.HasPrefix(variable, standin.LibraryVariable+"=") && !standin.OnSystem()
	}), standin.Variable+"=system")
}

// isStandIn reports whether a variable of an environment says that its programs run on the stand-in.
func isStandIn(variable string) bool {
	return strings.HasPrefix(variable, standin.ProfilesVariable+"=")
}

// programEnvironment is all that a program gets that works in a folder outside of the
// scripts. PoCL needs the PATH, to find the linker.
func programEnvironment(folder string) []string {
	return append(passedEnvironment(), "PATH="+os.Getenv("PATH"), "TMPDIR="+os.TempDir(),
		"HOME="+folder, "XDG_STATE_HOME="+filepath.Join(folder, "state"), "NDTUNE_NO_PEAK=1")
}

func setup(e *testscript.Env, environment []string) error {
	e.Vars = append(e.Vars, environment...)
	e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
	e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, "state"))
	captures, err := filepath.Abs(filepath.Join("..", "..", "tune", "capture", "testdata"))
	if err != nil {
		return err
	}
	e.Setenv("CAPTURES", captures)  // what cliloader has written, and a stand-in for it
	e.Setenv("NDTUNE_NO_PEAK", "1") // it takes some seconds: scripts that are about it do without this
	if list := e.Getenv(standin.ProfilesVariable); list != "" {
		first, _, _ := strings.Cut(list, ":")
		e.Setenv("PROFILES", filepath.Dir(first))
		state := filepath.Join(e.WorkDir, ".standin")
		if err := os.Mkdir(state, 0o777); err != nil {
			return err
		}
		e.Setenv(standin.StateVariable, state)
	}
	if d, err := deviceOf(environment); err == nil {
		e.Setenv("DEVICE", d.Selector)
		e.Setenv("DEVICE_NAME", d.Name)
	}
	return copySpecs(e.WorkDir)
}

// copySpecs puts the specifications that several tests use into a folder.
func copySpecs(folder string) error {
	return os.CopyFS(folder, os.DirFS(filepath.Join("testdata", "specs")))
}

// specFolder returns a new folder with these specifications.
func specFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := copySpecs(folder); err != nil {
		t.Fatal(err)
	}
	return folder
}

func condition(name string, environment []string) (bool, error) {
	if path, ok := strings.CutPrefix(name, "exists:"); ok {
		_, err := os.Stat(path)
		return err == nil, nil
	}
	switch name {
	case "small-disk":
		return exec.Command("unshare", "-rm", "mount", "-t", "tmpfs", "-o", "size=4k", "none", os.TempDir()).Run() == nil, nil
	case "cpu":
		d, err := deviceOf(environment)
		return err == nil && d.Type == "cpu", nil
	case "standin":
		return slices.ContainsFunc(environment, isStandIn), nil
	case "long":
		return os.Getenv("NDTUNE_LONG") != "", nil
	}
	return false, fmt.Errorf("no condition is named %s", name)
}

// A testedDevice is an entry of devices --json.
type testedDevice struct {
	Selector string
	Name     string
	Platform string
	Type     string
}

// testDevice is deviceOf the environment in which tests run.
func testDevice() (testedDevice, error) { return deviceOf(passedEnvironment()) }

var testedDevices sync.Map // how to find the device, by environment

// deviceOf is the device that the tests use: the one that NDTUNE_TEST_DEVICE names, as
// platform:device or by a part of its name, else PoCL's, else a CPU, else the first.
func deviceOf(environment []string) (testedDevice, error) {
	key := strings.Join(environment, "\n")
	find, _ := testedDevices.LoadOrStore(key, sync.OnceValues(func() (testedDevice, error) { return findDevice(environment) }))
	return find.(func() (testedDevice, error))()
}

func findDevice(environment []string) (testedDevice, error) {
	list := exec.Command("ndtune", "devices", "--json")
	list.Env = append(slices.Clone(environment), "PATH="+os.Getenv("PATH"), "HOME="+os.Getenv("HOME"))
	out, err := list.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return testedDevice{}, fmt.Errorf("no device to test with: %s", exit.Stderr)
		}
		return testedDevice{}, err
	}
	var all []testedDevice
	if err := json.Unmarshal(out, &all); err != nil {
		return testedDevice{}, fmt.Errorf("devices --json: %w", err)
	}
	named := os.Getenv("NDTUNE_TEST_DEVICE")
	for _, fits := range []func(testedDevice) bool{
		func(d testedDevice) bool {
			return named != "" && (d.Selector == named || d.Type == named || strings.Contains(strings.ToLower(d.Name), strings.ToLower(named)))
		},
		func(d testedDevice) bool { return named == "" && d.Platform == "Portable Computing Language" },
		func(d testedDevice) bool { return named == "" && d.Type == "cpu" },
		func(d testedDevice) bool { return named == "" },
	} {
		if i := slices.IndexFunc(all, fits); i >= 0 {
			return all[i], nil
		}
	}
	return testedDevice{}, fmt.Errorf("no device is %q", named)
}

// needDevice is the device to test on. Without one the test is skipped, or fails where
// NDTUNE_REQUIRE_OPENCL is set.
func needDevice(t *testing.T) testedDevice {
	t.Helper()
	return needDeviceOf(t, passedEnvironment())
}

func needDeviceOf(t *testing.T, environment []string) testedDevice {
	t.Helper()
	d, err := deviceOf(environment)
	switch {
	case err != nil && os.Getenv("NDTUNE_REQUIRE_OPENCL") != "":
		t.Fatal(err)
	case err != nil:
		t.Skip(err)
	}
	return d
}

// exits runs a program that must end with a status of its own accord: neither by a signal
// nor with a stack trace.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS PROGRAM ARGUMENT…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	status := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		status = exit.ExitCode()
	}
	if trace := stackTrace(ts.ReadFile("stderr")); trace != "" {
		ts.Fatalf("it crashed: %s", trace)
	}
	if status != want {
		ts.Fatalf("exit status %d, want %d", status, want)
	}
}

// stackTrace is the line of a program's messages with which a crash begins, or nothing.
func stackTrace(messages string) string {
	for line := range strings.Lines(messages) {
		for _, beginning := range []string{"panic:", "fatal error:", "goroutine ", "SIGSEGV", "unexpected fault"} {
			if strings.HasPrefix(line, beginning) {
				return line
			}
		}
	}
	return ""
}
