// Package standin gives tests an OpenCL driver that compiles nothing: a C library that stands in for the loader and all drivers,
// so that everything above it is the program's own (cl, workers, processes, logs). It computes the real results of a handful of
// kernels, takes the time that a formula says, and misbehaves where it is told to. README.md has its statements. The same library
// is a driver and a compiler of CUDA.
//
// It answers queries from profiles of devices. Those of real devices have their values from published reports, which each
// file names. What the stand-in does is no measurement: none of its times stands in documentation, gallery or wisdom.
//
// With NDTUNE_TEST_OPENCL=system, all tests use the drivers of this system instead.
package standin

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

//go:embed driver profiles
var files embed.FS

// The variables that choose what tests run on, and those of the stand-in itself.
const (
	Variable         = "NDTUNE_TEST_OPENCL" // "system": the drivers of this system
	LibraryVariable  = "NDTUNE_OPENCL_LIBRARY"
	CUDAVariable     = "NDTUNE_CUDA_LIBRARY"
	NVRTCVariable    = "NDTUNE_NVRTC_LIBRARY"
	ProfilesVariable = "STANDIN_PROFILES" // files, separated by colons: the devices, in order
	FaultsVariable   = "STANDIN_FAULTS"   // statements for all kernels and devices
	StateVariable    = "STANDIN_STATE"    // a folder for counts that processes share
	ReportVariable   = "STANDIN_REPORT"   // a folder for reports on objects that were not released
)

// Use makes the stand-in the OpenCL library of this process and of those that it starts, with the devices of some profiles: by
// default those of standin-cpu. If one of them is a device of CUDA (NAME-cuda), it is the library of CUDA and NVRTC as well;
// else there is none, whatever this machine has. It does nothing if the tests are to run on this system's drivers, or if a parent
// process has called it. It must be called before package cl is used, and ends the process if the library cannot be built.
func Use(profiles ...string) {
	if OnSystem() || os.Getenv(LibraryVariable) != "" {
		return
	}
	folder, err := Folder()
	if err != nil {
		fmt.Fprintln(os.Stderr, "standin:", err)
		os.Exit(1)
	}
	if len(profiles) == 0 {
		profiles = []string{"standin-cpu"}
	}
	library := Library(folder)
	variables := map[string]string{LibraryVariable: library, ProfilesVariable: Profiles(folder, profiles...), CUDAVariable: library, NVRTCVariable: library}
	if !slices.ContainsFunc(profiles, isCUDA) {
		variables[CUDAVariable], variables[NVRTCVariable] = filepath.Join(folder, "no-cuda"), filepath.Join(folder, "no-nvrtc")
	}
	for variable, value := range variables {
		if err := os.Setenv(variable, value); err != nil {
			fmt.Fprintln(os.Stderr, "standin:", err)
			os.Exit(1)
		}
	}
}

// Main is Use and m.Run. It also fails if the tests have left OpenCL objects behind in this process, or used one after its release.
func Main(m *testing.M, profiles ...string) int {
	Use(profiles...)
	if OnSystem() || os.Getenv(ReportVariable) != "" {
		return m.Run()
	}
	folder, err := os.MkdirTemp("", "standin-report")
	if err != nil {
		fmt.Fprintln(os.Stderr, "standin:", err)
		return 1
	}
	defer os.RemoveAll(folder)
	os.Setenv(ReportVariable, folder)
	status := m.Run()
	all, err := Report(folder)
	left, found := all[fmt.Sprint(os.Getpid())]
	if err != nil || found && status == 0 {
		fmt.Fprintf(os.Stderr, "standin: left behind: %v; misuses: %d %s; %v\n", left.Objects, left.Misuses, left.Last, err)
		return 1
	}
	return status
}

// OnSystem reports whether this process runs its tests on the drivers of this system.
func OnSystem() bool { return os.Getenv(Variable) == "system" }

// Profiles returns the value of STANDIN_PROFILES for some profiles in a folder of Folder.
func Profiles(folder string, names ...string) string {
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = filepath.Join(folder, "profiles", name+".profile")
	}
	return strings.Join(paths, ":")
}

func isCUDA(profile string) bool { return strings.HasSuffix(profile, "-cuda") }

// Library returns the path of the library in a folder of Folder.
func Library(folder string) string { return filepath.Join(folder, "libstandin.so") }

// Names returns the names of the profiles of real devices of OpenCL, sorted.
func Names() []string {
	entries, err := files.ReadDir("profiles")
	if err != nil {
		panic(err)
	}
	var names []string
	for _, e := range entries {
		if name := strings.TrimSuffix(e.Name(), ".profile"); !strings.HasPrefix(name, "standin-") && !isCUDA(name) {
			names = append(names, name)
		}
	}
	return names
}

// Folder returns a folder with libstandin.so and the profiles. It is made once for each version of the sources, with the system's
// C compiler, and kept among the user's caches.
func Folder() (string, error) {
	hash := sha256.New()
	var sources []string
	err := fs.WalkDir(files, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := files.ReadFile(path)
		fmt.Fprintln(hash, path, len(data))
		hash.Write(data)
		if strings.HasSuffix(path, ".c") {
			sources = append(sources, path)
		}
		return err
	})
	if err != nil {
		return "", err
	}
	caches, err := os.UserCacheDir()
	if err != nil {
		caches = os.TempDir()
	}
	folder := filepath.Join(caches, "ndtune-tests", "standin-"+hex.EncodeToString(hash.Sum(nil))[:16])
	if _, err := os.Stat(folder); err == nil {
		return folder, nil
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o777); err != nil {
		return "", err
	}
	fresh, err := os.MkdirTemp(filepath.Dir(folder), "building-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(fresh)
	if err := os.CopyFS(fresh, files); err != nil {
		return "", err
	}
	compiler := os.Getenv("CC")
	if compiler == "" {
		compiler = "gcc"
	}
	options := []string{"-O2", "-std=gnu11", "-shared", "-fPIC", "-fvisibility=hidden", "-o", "libstandin.so"}
	cc := exec.Command(compiler, slices.Concat(options, sources, []string{"-lm", "-lpthread"})...)
	cc.Dir = fresh
	if out, err := cc.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the stand-in OpenCL driver: %w\n%s(the tests need a C compiler: install gcc, or name another in CC)",
			err, out)
	}
	if err := os.Rename(fresh, folder); err != nil && !exists(folder) { // another process may have been first
		return "", err
	}
	return folder, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// OnPoCL reports whether the test goes on in this process, because it runs on the drivers of this system. If not, it runs the
// test in a process that does, and fails like it:
//
//	if !standin.OnPoCL(t) {
//		return
//	}
//
// Where there is no device, the test is skipped, unless NDTUNE_REQUIRE_OPENCL is set.
func OnPoCL(t *testing.T) bool {
	t.Helper()
	if OnSystem() {
		return true
	}
	if left := RunOnPoCL(t, t.Name()); len(left) > 0 {
		t.Skip("on PoCL: skipped")
	}
	return false
}

// RunOnPoCL runs tests of this binary in one process on the drivers of this system, and fails like them. It returns those that
// were skipped there.
func RunOnPoCL(t *testing.T, names ...string) (skipped []string) {
	t.Helper()
	patterns := make([]string, len(names))
	for i, name := range names {
		patterns[i] = strings.ReplaceAll(name, "/", "$/^")
	}
	arguments := []string{"-test.run", "^(" + strings.Join(patterns, "|") + ")$", "-test.count=1", "-test.v"}
	if len(names) == 1 {
		arguments[1] = "^" + patterns[0] + "$"
	}
	for _, a := range os.Args[1:] {
		if strings.HasPrefix(a, "-test.gocoverdir") || strings.HasPrefix(a, "-test.timeout") {
			arguments = append(arguments, a)
		}
	}
	test := exec.Command(os.Args[0], arguments...)
	test.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, LibraryVariable+"=") || strings.HasPrefix(v, ProfilesVariable+"=")
	}), Variable+"=system")
	out, err := test.CombinedOutput()
	if err != nil {
		t.Fatalf("on PoCL: %v\n%s", err, out)
	}
	t.Logf("on PoCL:\n%s", out)
	for _, name := range names {
		switch {
		case strings.Contains(string(out), "--- SKIP: "+name+" "):
			skipped = append(skipped, name)
		case !strings.Contains(string(out), "--- PASS: "+name+" "):
			t.Fatalf("on PoCL: %s did not run", name)
		}
	}
	return skipped
}

// A Left is what a process had not released when it ended, or a use of an object that it had released.
type Left struct {
	Objects map[string]uint64 // by kind: context, queue, memory, program, kernel, event
	Misuses uint64
	Last    string // the last misuse
}

// Report reads the reports of all processes in a folder that STANDIN_REPORT named. It leaves out those that left nothing.
func Report(folder string) (map[string]Left, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		return nil, err
	}
	all := map[string]Left{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		left, found := Left{Objects: map[string]uint64{}}, false
		number := func(i int) (n uint64) {
			for j := 7; j >= 0; j-- {
				n = n<<8 | uint64(data[8*i+j])
			}
			return n
		}
		kinds := []string{"context", "queue", "memory", "program", "kernel", "event"}
		if len(data) < 8*(len(kinds)+1) {
			continue // of a process that was killed before it had written any
		}
		for i, kind := range kinds {
			if n := number(i); n != 0 {
				left.Objects[kind], found = n, true
			}
		}
		if left.Misuses = number(len(kinds)); left.Misuses > 0 {
			left.Last, _, _ = strings.Cut(string(data[8*(len(kinds)+1):]), "\x00")
			found = true
		}
		if found {
			all[filepath.Base(path)] = left
		}
	}
	return all, nil
}
