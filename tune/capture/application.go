package capture

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/tune/process"
)

// LoaderVariable is the environment variable that names cliloader.
const LoaderVariable = "NDTUNE_CLILOADER"

// FindLoader finds cliloader.
func FindLoader() (string, error) {
	path, err := exec.LookPath(cmp.Or(os.Getenv(LoaderVariable), "cliloader"))
	if err != nil {
		return "", fmt.Errorf(`applications run under cliloader, Intel's OpenCL Intercept Layer, which is not here: %w
These commands build it; the last one says where it is, if it is not in PATH:

  git clone https://github.com/intel/opencl-intercept-layer
  cmake -S opencl-intercept-layer -B cli -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=$HOME/cli
  cmake --build cli --parallel && cmake --install cli
  export %s=$HOME/cli/bin/cliloader`, err, LoaderVariable)
	}
	return path, nil
}

// An Application is a program that runs under cliloader. What the layer writes is below Folder.
type Application struct {
	Loader string
	Args   []string // the program first
	Folder string
	Limit  int64 // bytes that the layer may write in a run
}

// A Ran is a run of an application that has ended.
type Ran struct {
	End     *process.End
	Wall    time.Duration
	Profile Profile

	dump    string   // the folder of the run
	folders []string // of its processes
}

// layerFolder has what the layer writes during a run.
const layerFolder = ".layer"

// timing are the controls for device times by shape.
var timing = []string{
	"DevicePerformanceTiming=1", "DevicePerformanceTimeGWOTracking=1", "DevicePerformanceTimeGWSTracking=1",
	"DevicePerformanceTimeLWSTracking=1", "ReportInterval=64", // a program that is killed writes no report at its end
}

// run runs the application. The watcher gets the folders of its processes, and its error ends the run.
func (a *Application) run(watch func(folders []string) error, controls ...string) (*Ran, error) {
	folder, err := filepath.Abs(a.Folder)
	if err != nil {
		return nil, err
	}
	r := &Ran{dump: filepath.Join(folder, layerFolder)}
	if err := errors.Join(os.RemoveAll(r.dump), os.Mkdir(r.dump, 0o700)); err != nil {
		return nil, err
	}
	c := exec.Command(a.Loader, append([]string{"-f"}, a.Args...)...)
	c.Env = os.Environ()
	for _, control := range append(controls, "DumpDir="+filepath.Join(r.dump, "process"), "AppendPid=1", "KernelNameHashTracking=1",
		"OmitProgramNumber=1", "LogToFile=1") {
		c.Env = append(c.Env, "CLI_"+control)
	}
	_, _ = os.Stdin.Seek(0, io.SeekStart) // a file is read again by each run; a pipe cannot be
	began := time.Now()
	look := func() error {
		r.folders, _ = filepath.Glob(filepath.Join(r.dump, "process.*"))
		return watch(r.folders)
	}
	r.End, err = process.Foreground(c, look)
	r.Wall = time.Since(began)
	if r.End == nil {
		return nil, fmt.Errorf("start %s: %w", a.Loader, err)
	}
	if last := look(); err == nil {
		err = last
	}
	r.Profile = Profile{Program: a.Args, Status: r.End.Status(), Wall: int(r.Wall)}
	return r, errors.Join(err, r.Profile.readReports(r.folders))
}

// Remove removes what the layer has written in a run, except the captured launches that were kept.
func (r *Ran) Remove() error { return os.RemoveAll(r.dump) }

// Measure runs the application for its profile, with further controls of the layer.
func (a *Application) Measure(controls ...string) (*Ran, error) {
	return a.run(a.bound, append(controls, timing...)...)
}

// A LimitError ends an application of which too much was captured.
type LimitError struct{ Written, Limit int64 }

func (e *LimitError) Error() string {
	return fmt.Sprintf("the layer has written %d bytes, more than the limit of %d", e.Written, e.Limit)
}

// bound returns a LimitError if the folders have too much.
func (a *Application) bound(folders []string) error {
	var total int64
	for _, folder := range folders {
		_ = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error { // what is gone meanwhile counts nothing
			if err != nil {
				return nil
			}
			if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
				total += info.Size()
			}
			return nil
		})
	}
	if total > a.Limit {
		return &LimitError{total, a.Limit}
	}
	return nil
}

// Captured is a launch of an application, captured in a folder.
type Captured struct {
	Launches
	Refused error // why nothing can be made of it; nil: its folder is kept
}

// Wanted says which launches are captured.
type Wanted struct {
	Launches []Launches // these shapes, of each the first launch; nil: the first launch of each build of a kernel
	Kernels  []string   // of these names, if there are any
	Timed    bool       // measure device times in the same run
}

// Capture runs the application and captures launches. What is missing then, because the first launch of a kernel has other sizes, needs
// a further run, if again agrees. The profile is that of the first of the runs.
func (a *Application) Capture(w Wanted, again func(missing []Launches) bool) (first *Ran, captured []Captured, err error) {
	begin, missing := 0, w.Launches
	for {
		controls := []string{
			"CaptureReplay=1", "CaptureReplayUniqueKernels=1", fmt.Sprint("CaptureReplayMinEnqueue=", begin),
			"CallLogging=1", "CallLoggingEnqueueCounter=1", "FlushFiles=1",
		}
		if w.Timed {
			controls = append(controls, timing...)
		}
		r, err := a.run(func(folders []string) error {
			w.sift(folders, missing)
			return a.bound(folders)
		}, controls...)
		if r == nil {
			return first, captured, err
		}
		if first == nil {
			first = r
		}
		best := 0
		for _, folder := range r.folders {
			log := readLog(folder)
			kept, fault := a.keep(folder, log, w, missing, r.Profile.Launches, captured)
			captured, err = append(captured, kept...), errors.Join(err, fault)
			if n, found := log.begin(shapesOf(w.missing(captured))); found > best {
				begin, best = n, found
			}
		}
		before := len(missing)
		missing = w.missing(captured)
		err = errors.Join(err, r.Remove())
		if err != nil || best == 0 || len(missing) == before && first != r || !again(missing) {
			return first, captured, err
		}
	}
}

// missing returns the wanted shapes that were not captured.
func (w Wanted) missing(captured []Captured) []Launches {
	return slices.DeleteFunc(slices.Clone(w.Launches), func(l Launches) bool {
		return slices.ContainsFunc(captured, func(c Captured) bool { return c.Is(l.Shape) })
	})
}

func shapesOf(all []Launches) (shapes []Shape) {
	for _, l := range all {
		shapes = append(shapes, l.Shape)
	}
	return shapes
}

var enqueueFolder = regexp.MustCompile(`^Enqueue_(\d{1,12})_(.+)$`)

// enqueues returns the names of the folders of a process's captured launches, by the launches' numbers.
func enqueues(process string) map[int]string {
	entries, _ := os.ReadDir(filepath.Join(process, "Replay")) // there is none before the first
	found := map[int]string{}
	for _, e := range entries {
		if parts := enqueueFolder.FindStringSubmatch(e.Name()); parts != nil && e.IsDir() {
			number, _ := strconv.Atoi(parts[1])
			found[number] = filepath.Join(process, "Replay", e.Name())
		}
	}
	return found
}

// sift removes captured launches that nobody wants. A launch is whole when a later one has begun.
func (w Wanted) sift(processes []string, missing []Launches) {
	if len(w.Kernels) == 0 && missing == nil {
		return
	}
	for _, process := range processes {
		all := enqueues(process)
		last := 0
		for n := range all {
			last = max(last, n)
		}
		for n, folder := range all {
			if n < last && !w.wants(folder, missing) {
				_ = os.RemoveAll(folder)
			}
		}
	}
}

// wants reports whether a launch is wanted, as far as its folder tells.
func (w Wanted) wants(folder string, missing []Launches) bool {
	name, _ := os.ReadFile(filepath.Join(folder, "kernelName.txt"))
	if missing == nil {
		return slices.Contains(w.Kernels, string(name))
	}
	text, _ := os.ReadFile(filepath.Join(folder, "worksizes.txt"))
	lines := strings.Split(string(text)+"\n\n", "\n") // global size, local size, offset
	return slices.ContainsFunc(missing, func(l Launches) bool {
		return l.Kernel == string(name) && l.Sized(sizes(lines[0]), withoutZeros(sizes(lines[1])), sizes(lines[2]))
	})
}

// readLog reads the call log of a process, as far as it goes.
func readLog(process string) *calls {
	f, err := files.Open(filepath.Join(process, "clintercept_log.txt"))
	if err != nil {
		return &calls{}
	}
	defer f.Close()
	c, err := readCalls(f)
	if err != nil {
		return &calls{}
	}
	return c
}

// keep moves the wanted launches of a process to folders of their own.
func (a *Application) keep(
	process string, log *calls, w Wanted, missing, measured []Launches, before []Captured,
) (captured []Captured, err error) {
	all := enqueues(process)
	measured = slices.Concat(missing, measured)
	for _, number := range slices.Sorted(maps.Keys(all)) {
		folder, s := all[number], log.shapeOf(number)
		if s == nil {
			continue // nothing is known of it: the program has ended in the middle of the call
		}
		is := func(l Launches) bool { return l.Is(*s) }
		again := slices.ContainsFunc(slices.Concat(before, captured), func(c Captured) bool { return c.Is(*s) })
		if again || missing != nil && !slices.ContainsFunc(missing, is) || len(w.Kernels) > 0 && !slices.Contains(w.Kernels, s.Kernel) {
			continue
		}
		c := Captured{Launches: Launches{Shape: *s}}
		if known := slices.IndexFunc(measured, is); known >= 0 {
			c.Launches = measured[known]
		}
		origin, fault := json.Marshal(Origin{
			Device: c.Device, Hash: c.Hash, OptionsHash: c.OptionsHash, Calls: c.Calls, Mean: c.Mean(), Min: float64(c.Min),
			Memory: log.memory[number],
		})
		if fault == nil {
			fault = os.WriteFile(filepath.Join(folder, OriginFile), origin, 0o600)
		}
		if fault != nil {
			return captured, errors.Join(err, fault)
		}
		if _, fault = Read(folder); fault != nil {
			c.Refused = errors.New(strings.ReplaceAll(strings.TrimPrefix(fault.Error(), folder+": "), folder+"/", "")) // it goes
		} else if c.Folder, fault = a.move(folder, c.Kernel); fault != nil {
			return captured, errors.Join(err, fault)
		}
		captured = append(captured, c)
	}
	return captured, err
}

// LaunchFolder is the name of the folder with a captured launch, in the folder that [Launches] names.
const LaunchFolder = "launch"

var unsafe = regexp.MustCompile(`\W+`)

// move moves a launch to a folder that is named after its kernel, without the layer's script and the binaries of the program.
func (a *Application) move(folder, kernel string) (name string, err error) {
	base := unsafe.ReplaceAllString(kernel, "_")
	base = base[:min(len(base), 60)]
	name = base
	for i := 2; ; i++ {
		err = os.Mkdir(filepath.Join(a.Folder, name), 0o700)
		if !os.IsExist(err) {
			break
		}
		name = fmt.Sprint(base, "-", i)
	}
	if err != nil {
		return "", err
	}
	binaries, _ := filepath.Glob(filepath.Join(folder, "DeviceBinary*"))
	for _, path := range append(binaries, filepath.Join(folder, "run.py")) {
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			return "", err
		}
	}
	return name, os.Rename(folder, filepath.Join(a.Folder, name, LaunchFolder))
}
