//go:build unix

package capture

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// application is a program that runs under the stand-in for cliloader, which writes what was recorded in testdata/shapes.
func application(t *testing.T, script string) *Application {
	t.Helper()
	work := t.TempDir()
	recorded := filepath.Join(work, "recorded")
	if err := os.CopyFS(recorded, os.DirFS("testdata/shapes")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("RECORDED", recorded)
	t.Setenv("RUNS", filepath.Join(work, "runs"))
	t.Setenv(LoaderVariable, filepath.Join("testdata", "cliloader"))
	loader, err := FindLoader()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(work, "captured")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	return &Application{Loader: loader, Args: []string{"sh", "-c", script}, Folder: folder, Limit: 1 << 20}
}

// runs returns with which controls the stand-in was started.
func runs(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(os.Getenv("RUNS"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestCapture captures a launch that is not the first of its kernel, which needs one run more.
func TestCapture(t *testing.T) {
	a := application(t, "exit 3")
	ran, err := a.Measure()
	if err != nil || ran.End.Status() != 3 || ran.Profile.Status != 3 || len(ran.Profile.Launches) != 3 {
		t.Fatalf("measured %+v (%v)", ran, err)
	}
	again := ""
	_, captured, err := a.Capture(Wanted{Launches: ran.Profile.Costliest(1)}, func(missing []Launches) bool {
		again += missing[0].Kernel
		return true
	})
	if err != nil || len(captured) != 2 || again != "scale" || runs(t) != " \n1 0\n1 1\n" {
		t.Fatalf("captured %+v (%v), in the runs %q", captured, err, runs(t))
	}
	for i, want := range []string{"other", "scale"} {
		c := captured[i]
		folder := filepath.Join(a.Folder, want, LaunchFolder)
		l, err := Read(folder)
		if err != nil || c.Folder != want || c.Refused != nil || l.Global[0] != 256 || l.Origin.Hash != "DC20DEB5" ||
			l.Origin.OptionsHash != "DF43CAEE" || l.Origin.Calls != c.Calls || l.Origin.Mean != c.Mean() || l.Origin.Device == "" {
			t.Errorf("captured %+v (%v) as %+v", l, err, c)
		}
		for _, gone := range []string{"run.py", "DeviceBinary0.bin"} {
			if _, err := os.Stat(filepath.Join(folder, gone)); !os.IsNotExist(err) {
				t.Errorf("%s is still there (%v)", gone, err)
			}
		}
		info, err := os.Stat(filepath.Dir(folder))
		if err != nil || info.Mode()&0o077 != 0 {
			t.Errorf("others may read %s: %v (%v)", folder, info.Mode(), err)
		}
	}
	left, err := os.ReadDir(a.Folder)
	if err != nil || len(left) != 2 {
		t.Errorf("left %v (%v)", left, err)
	}
}

func TestCaptureInOneRun(t *testing.T) {
	a := application(t, "kill -KILL $$")
	ran, captured, err := a.Capture(Wanted{Timed: true, Kernels: []string{"scale"}}, func([]Launches) bool { t.Error("again"); return false })
	if err != nil || len(captured) != 1 || captured[0].Global[0] != 64 || captured[0].Calls != 1 || ran.End.Status() != 128+9 {
		t.Errorf("captured %+v (%v)", captured, err)
	}
}

// TestIncompleteCapture: a launch in whose middle the program ended is refused, and leaves nothing.
func TestIncompleteCapture(t *testing.T) {
	a := application(t, "")
	if err := os.RemoveAll(filepath.Join(os.Getenv("RECORDED"), "Replay", "Enqueue_0_scale", "Post")); err != nil {
		t.Fatal(err)
	}
	_, captured, err := a.Capture(Wanted{Kernels: []string{"scale"}}, nil)
	if err != nil || len(captured) != 1 || captured[0].Folder != "" || captured[0].Refused == nil ||
		!strings.HasPrefix(captured[0].Refused.Error(), "Post: ") {
		t.Errorf("captured %+v (%v)", captured, err)
	}
	if left, err := os.ReadDir(a.Folder); len(left) > 0 {
		t.Errorf("left %v (%v)", left, err)
	}
}

// TestLimit ends a program that would not end, and keeps what was captured.
func TestLimit(t *testing.T) {
	a := application(t, "while :; do :; done")
	a.Limit = 1000
	_, captured, err := a.Capture(Wanted{}, nil)
	var limit *LimitError
	if !errors.As(err, &limit) || limit.Written <= 1000 || len(captured) != 2 {
		t.Errorf("captured %+v (%v)", captured, err)
	}
}

// TestSift removes launches that nobody wants, but not the last one, which may not be whole.
func TestSift(t *testing.T) {
	process := t.TempDir()
	if err := os.CopyFS(process, os.DirFS("testdata/shapes")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		wanted  Wanted
		missing []Launches
		want    string
	}{
		{Wanted{}, nil, "Enqueue_0_scale Enqueue_1_other Enqueue_2_scale"},
		{Wanted{Kernels: []string{"scale"}}, nil, "Enqueue_0_scale Enqueue_2_scale"},
		{Wanted{}, []Launches{{Shape: Shape{Kernel: "scale", Global: []int{256}, Local: []int{32}}}}, "Enqueue_2_scale"},
	} {
		c.wanted.sift([]string{process}, c.missing)
		left, _ := filepath.Glob(filepath.Join(process, "Replay", "*"))
		for i := range left {
			left[i] = filepath.Base(left[i])
		}
		if got := strings.Join(left, " "); got != c.want {
			t.Errorf("%+v leaves %s, want %s", c.wanted, got, c.want)
		}
	}
}

func TestNoLoader(t *testing.T) {
	t.Setenv(LoaderVariable, filepath.Join(t.TempDir(), "cliloader"))
	if _, err := FindLoader(); err == nil || !strings.Contains(err.Error(), "cmake -S opencl-intercept-layer") {
		t.Errorf("no cliloader: %v", err)
	}
}
