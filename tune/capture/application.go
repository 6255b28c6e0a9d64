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

	inject map[string]string // files that the layer uses in place of the program's own options, by name
}

// ErrLimit is the error of a run that was ended because the layer has written too much.
var ErrLimit = errors.New("the layer has written more than the limit")

// timing are the controls of the layer for device times by kernel and sizes.
var timing = []string{
	"DevicePerformanceTiming=1", "DevicePerformanceTimeGWOTracking=1", "DevicePerformanceTimeGWSTracking=1",
	"DevicePerformanceTimeLWSTracking=1", "ReportInterval=64", // a program that is killed writes no report at its end
}

// run runs the application with controls of the layer. Look is called again and again meanwhile, and use at the end, with the folders that
// the layer has written for the application's processes.
func (a *Application) run(look func(folders []string), use func(p *Profile, folders []string) error, controls ...string) (*Profile, error) {
	folder, err := filepath.Abs(filepath.Join(a.Folder, layerFolder))
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	c := exec.Command(a.Loader, append([]string{"-f"}, a.Args...)...)
	// Programs that find their own binaries in the cache of a library would have no source; the user may know better.
	c.Env = append([]string{"PYOPENCL_NO_CACHE=1", "OPENCV_OPENCL_CACHE_ENABLE=0"}, os.Environ()...)
	for _, control := range append(controls, "DumpDir="+filepath.Join(folder, "process"), "AppendPid=1", "KernelNameHashTracking=1",
		"OmitProgramNumber=1", "LogToFile=1") {
		c.Env = append(c.Env, "CLI_"+control)
	}
	_, _ = os.Stdin.Seek(0, io.SeekStart)                  // a file is read again by each run; a pipe cannot be
	injected := filepath.Join(folder, "process", "Inject") // without the number of a process
	err = os.MkdirAll(injected, 0o700)
	for name, text := range a.inject {
		err = errors.Join(err, os.WriteFile(filepath.Join(injected, name), []byte(text), 0o600))
	}
	if err != nil {
		return nil, err
	}
	p, began := &Profile{Program: a.Args}, time.Now()
	processes := func() []string { found, _ := filepath.Glob(filepath.Join(folder, "process.*")); return found }
	p.End, err = process.Foreground(c, func() error {
		if look(processes()); written(folder) > a.Limit {
			return ErrLimit
		}
		return nil
	})
	if p.End == nil {
		return nil, fmt.Errorf("start %s: %w", a.Loader, err)
	}
	p.Wall, p.Status = int(time.Since(began)), p.End.Status()
	return p, errors.Join(err, p.readReports(processes()), use(p, processes()))
}

// layerFolder has what the layer writes during a run.
const layerFolder = ".layer"

// written is the number of bytes below a folder.
func written(folder string) (total int64) {
	_ = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err == nil {
			if info, err := d.Info(); err == nil {
				total += info.Size()
			}
		}
		return nil // what is gone meanwhile counts nothing
	})
	return total
}

// Measure runs the application for its profile.
func (a *Application) Measure() (*Profile, error) {
	return a.run(func([]string) {}, func(*Profile, []string) error { return nil }, timing...)
}

// Capture runs the application and captures launches, which it notes in the profile: those that [Profile.Choose] wants. Without a profile,
// it captures the first launch of each kernel, or of each with one of the names, and makes the profile in the same run. The layer captures
// the first launch of a kernel only. If that has other sizes than the wanted one, a further run begins later, if again agrees.
func (a *Application) Capture(p *Profile, names []string, again func(missing []Launches) bool) (*Profile, error) {
	controls := []string{"CaptureReplay=1", "CaptureReplayUniqueKernels=1", "CallLogging=1", "CallLoggingEnqueueCounter=1", "FlushFiles=1"}
	once := p == nil
	if once {
		controls = append(controls, timing...)
	} else {
		for _, l := range p.missing() {
			names = append(names, l.Kernel)
		}
	}
	for begin, first := 0, true; ; first = false {
		left, next, best := 0, 0, 0
		r, err := a.run(func(folders []string) { sift(folders, names) }, func(r *Profile, folders []string) (err error) {
			if p == nil {
				p = r
			}
			left = len(p.missing())
			for _, folder := range folders {
				log, fault := a.keep(p, folder, func(l Launches) bool {
					return once && (len(names) == 0 || slices.Contains(names, l.Kernel)) || slices.ContainsFunc(p.missing(), l.Is)
				})
				err = errors.Join(err, fault)
				if n, found := log.begin(p.missing()); found > best {
					next, best = n, found
				}
			}
			return err
		}, append(controls, fmt.Sprint("CaptureReplayMinEnqueue=", begin))...)
		if r == nil {
			return p, err
		}
		p.End, p.Status = r.End, r.Status
		if missing := p.missing(); err != nil || best == 0 || len(missing) == left && !first || !again(missing) {
			return p, err
		}
		begin = next
	}
}

var enqueueFolder = regexp.MustCompile(`^Enqueue_(\d{1,12})_(.+)$`)

// enqueues returns the folders of a process's captured launches, by the launches' numbers, and the last number.
func enqueues(process string) (folders map[int]string, last int) {
	entries, _ := os.ReadDir(filepath.Join(process, "Replay")) // there is none before the first
	folders = map[int]string{}
	for _, e := range entries {
		if parts := enqueueFolder.FindStringSubmatch(e.Name()); parts != nil && e.IsDir() {
			number, _ := strconv.Atoi(parts[1])
			folders[number], last = filepath.Join(process, "Replay", e.Name()), max(last, number)
		}
	}
	return folders, last
}

// sift removes captured launches of kernels that nobody wants. A launch is whole when a later one has begun.
func sift(processes, names []string) {
	for _, process := range processes {
		folders, last := enqueues(process)
		for n, folder := range folders {
			if kernel := enqueueFolder.FindStringSubmatch(filepath.Base(folder))[2]; len(names) > 0 && n < last && !slices.Contains(names, kernel) {
				_ = os.RemoveAll(folder)
			}
		}
	}
}

// logFile is the name of the layer's log of a process.
const logFile = "clintercept_log.txt"

// keep moves the wanted launches of a process to folders of their own, and notes them in the profile.
func (a *Application) keep(p *Profile, process string, wants func(Launches) bool) (*calls, error) {
	f, err := files.Open(filepath.Join(process, logFile))
	if err != nil {
		return &calls{}, nil // it has ended at once
	}
	defer f.Close()
	log := readCalls(f)
	folders, _ := enqueues(process)
	for _, number := range slices.Sorted(maps.Keys(folders)) {
		i := slices.IndexFunc(log.launches, func(c call) bool { return c.number == number })
		if i < 0 || !wants(log.shapes[log.launches[i].shape]) { // i < 0: the program has ended in the middle of the call
			continue
		}
		folder, l := folders[number], p.find(log.shapes[log.launches[i].shape])
		if l.Folder != "" || l.Refused != "" {
			continue // another process launches it, too
		}
		origin, err := json.Marshal(Origin{*l, log.memory[number]})
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, OriginFile), origin, 0o600)
		}
		if err == nil {
			if _, refused := Read(folder); refused != nil {
				l.Refused = strings.ReplaceAll(strings.TrimPrefix(refused.Error(), folder+": "), folder+"/", "") // the folder goes
			} else {
				l.Folder, err = a.move(folder, l.Kernel)
			}
		}
		if err != nil {
			return log, err
		}
	}
	return log, nil
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
		if err = os.Mkdir(filepath.Join(a.Folder, name), 0o700); !os.IsExist(err) {
			break
		}
		name = fmt.Sprint(base, "-", i)
	}
	binaries, _ := filepath.Glob(filepath.Join(folder, "DeviceBinary*"))
	for _, path := range append(binaries, filepath.Join(folder, "run.py")) {
		if fault := os.Remove(path); !os.IsNotExist(fault) {
			err = errors.Join(err, fault)
		}
	}
	return name, errors.Join(err, os.Rename(folder, filepath.Join(a.Folder, name, LaunchFolder)))
}
