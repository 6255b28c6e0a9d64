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

func never(t *testing.T) func([]Launches) bool {
	return func(missing []Launches) bool { t.Errorf("it would run again, for %v", missing); return false }
}

// TestCapture captures a launch that is not the first of its kernel, which needs one run more.
func TestCapture(t *testing.T) {
	a := application(t, "exit 3")
	p, err := a.Measure()
	if err != nil || p.Status != 3 || p.End.Status() != 3 || len(p.Launches) != 3 || p.Choose(1) != 2 {
		t.Fatalf("measured %+v (%v)", p, err)
	}
	again := ""
	p, err = a.Capture(p, nil, func(missing []Launches) bool {
		again += missing[0].Kernel
		return true
	})
	if err != nil || p.Launches[1].Folder != "" || again != "scale" || runs(t) != "   \n1 0  \n1 1  \n" {
		t.Fatalf("captured %+v (%v), in the runs %q", p, err, runs(t))
	}
	for i, want := range map[int]string{2: "other", 0: "scale"} {
		c := p.Launches[i]
		folder := filepath.Join(a.Folder, want, LaunchFolder)
		l, err := Read(folder)
		if err != nil || c.Folder != want || c.Refused != "" || l.Global[0] != 256 || l.Origin.Hash != "1C116D69" ||
			l.Origin.OptionsHash != "CCA23CF4" || l.Origin.Calls != c.Calls || l.Origin.Mean() != c.Mean() || l.Origin.Device == "" {
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
	if left, err := os.ReadDir(a.Folder); err != nil || len(left) != 2 {
		t.Errorf("left %v (%v)", left, err)
	}
}

func TestCaptureInOneRun(t *testing.T) {
	a := application(t, "kill -KILL $$")
	p, err := a.Capture(nil, []string{"scale"}, never(t))
	if err != nil || p.Status != 128+9 || p.Launches[1].Global[0] != 64 || p.Launches[1].Folder != "scale" || p.Launches[2].Folder != "" {
		t.Errorf("captured %+v (%v)", p, err)
	}
}

// TestIncompleteCapture: a launch in whose middle the program ended is refused, and leaves nothing.
func TestIncompleteCapture(t *testing.T) {
	a := application(t, "")
	if err := os.RemoveAll(filepath.Join(os.Getenv("RECORDED"), "Replay", "Enqueue_0_scale", "Post")); err != nil {
		t.Fatal(err)
	}
	p, err := a.Capture(nil, []string{"scale"}, never(t))
	if err != nil || p.Launches[1].Folder != "" || !strings.HasPrefix(p.Launches[1].Refused, "Post: ") {
		t.Errorf("captured %+v (%v)", p, err)
	}
	if left, err := os.ReadDir(a.Folder); len(left) > 0 {
		t.Errorf("left %v (%v)", left, err)
	}
}

// TestInjection has a program that builds what is injected, and one that does not.
func TestInjection(t *testing.T) {
	a := application(t, "")
	t.Setenv("BUILDS", "0000000A_0000000B")
	j := Injection{Options: map[string]string{"0000000A_0000000B": "-DA=1\n"}, Local: []int{64, 2}}
	p, err := a.MeasureWith(j)
	if err != nil || len(p.Launches) != 3 || runs(t) != "  1 64\n-DA=1\n" {
		t.Errorf("measured %+v (%v), in the runs %q", p, err, runs(t))
	}
	t.Setenv("BUILDS", "0000000A_0000000C")
	if p, err := a.MeasureWith(j); err == nil || !strings.Contains(err.Error(), "did not build the program 0000000A_0000000B") {
		t.Errorf("measured %+v (%v)", p, err)
	}
}

// TestLimit ends a program that would not end, and keeps what was captured.
func TestLimit(t *testing.T) {
	a := application(t, "while :; do :; done")
	t.Setenv("FILL", "2000000") // beside what it captures
	p, err := a.Capture(nil, nil, never(t))
	if !errors.Is(err, ErrLimit) || p.Launches[1].Folder != "scale" || p.Launches[2].Folder != "other" {
		t.Errorf("captured %+v (%v)", p, err)
	}
}

// TestSift removes launches that nobody wants, but not the last one, which may not be whole.
func TestSift(t *testing.T) {
	process := t.TempDir()
	if err := os.CopyFS(process, os.DirFS("testdata/shapes")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		wanted []string
		want   string
	}{
		{nil, "Enqueue_0_scale Enqueue_1_other Enqueue_2_scale"},
		{[]string{"scale"}, "Enqueue_0_scale Enqueue_2_scale"},
		{[]string{"other"}, "Enqueue_2_scale"},
	} {
		sift([]string{process}, c.wanted)
		left, _ := filepath.Glob(filepath.Join(process, "Replay", "*"))
		for i := range left {
			left[i] = filepath.Base(left[i])
		}
		if got := strings.Join(left, " "); got != c.want {
			t.Errorf("%v leaves %s, want %s", c.wanted, got, c.want)
		}
	}
}

func TestNoLoader(t *testing.T) {
	t.Setenv(LoaderVariable, filepath.Join(t.TempDir(), "cliloader"))
	if _, err := FindLoader(); err == nil || !strings.Contains(err.Error(), "cmake -S opencl-intercept-layer") {
		t.Errorf("no cliloader: %v", err)
	}
}
