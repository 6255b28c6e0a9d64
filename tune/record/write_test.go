package record

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune"
)

func TestWriteAndRead(t *testing.T) {
	want := mustDecode(t, smallCache(t))
	folder := filepath.Join(t.TempDir(), "new", "folder")
	for _, name := range []string{"a.json", "a.json.gz", "A.JSON", "a.b.jsonl", "a.JSONL.gz"} {
		path := filepath.Join(folder, name)
		if err := Write(path, want); err != nil {
			t.Error(err)
			continue
		}
		data, _ := os.ReadFile(path)
		if zipped := bytes.HasPrefix(data, []byte{0x1f, 0x8b}); zipped != strings.HasSuffix(name, ".gz") {
			t.Errorf("%s: zipped %v", name, zipped)
		}
		if got := mustRead(t, path).Results; len(got) != len(want.Results) {
			t.Errorf("%s: %d results, want %d", name, len(got), len(want.Results))
		}
	}
	if err := Write(filepath.Join(folder, "a.csv"), want); err != nil {
		t.Error(err)
	}
	for _, format := range Formats() {
		if err := WriteAs(filepath.Join(folder, format+".out.gz"), want, format); err != nil {
			t.Error(err)
		}
	}
	if err := WriteAs(filepath.Join(folder, "x"), want, "xml"); err == nil || !strings.Contains(err.Error(), "t4, csv, log, cache") {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(folder, ".*")); len(left) > 0 {
		t.Errorf("litter: %q", left)
	}
}

func TestWriteIsAtomic(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	if err := os.WriteFile(path, []byte("before"), 0o640); err != nil {
		t.Fatal(err)
	}
	good := mustDecode(t, smallCache(t))
	bad := &Record{good.Header, slices.Clone(good.Results)}
	bad.Results[3] = tune.Result{}
	if err := Write(path, bad); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a bad record: %v", err)
	}
	if data, _ := os.ReadFile(path); string(data) != "before" {
		t.Errorf("the file was changed to %q", data)
	}
	if err := Write(path, good); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(path); runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("the mode became %v", info.Mode())
	}
	if all, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(all) != 1 {
		t.Errorf("litter: %q", all)
	}
}

func TestFormatOf(t *testing.T) {
	for path, ok := range map[string]bool{
		"a.json": true, "a.csv": true, "a.jsonl": true, "A.CSV.GZ": true, "dir.x/a.json.gz": true,
		"a": false, "a.gz": false, "a.yaml": false, "json": false, "": false, "a.json.zip": false, "dir.json/a": false,
	} {
		_, err := FormatOf(path)
		if (err == nil) != ok {
			t.Errorf("%q: %v", path, err)
		}
		if err != nil && !strings.Contains(err.Error(), ".json (T4), .csv") {
			t.Errorf("%q: %v names no formats", path, err)
		}
	}
}

func TestDefaultPath(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_STATE_HOME", home)
	t.Setenv("LocalAppData", home)
	h, results := sixteen()
	h.Kernel, h.Device.Name = "diffuse_kernel", "NVIDIA H200 (PCIe)/../ü"
	h.Started = time.Date(2026, 1, 2, 15, 4, 5, 0, time.Local)
	var paths []string
	for range 3 {
		path, err := DefaultPath(h)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	for i, name := range []string{"", "-2", "-3"} {
		want := filepath.Join(home, "ndtune", "20260102-150405-diffuse_kernel-nvidia-h200-pcie"+name+".jsonl")
		if paths[i] != want {
			t.Errorf("path %q, want %q", paths[i], want)
		}
	}
	l := mustOpen(t, paths[0], h)
	mustAppend(t, l, results[0])
	if len(l.Previous()) != 0 {
		t.Error("a new log was resumed")
	}
	t.Setenv("XDG_STATE_HOME", "relative")
	t.Setenv("HOME", home)
	path, err := DefaultPath(Header{})
	if err != nil || !filepath.IsAbs(path) || !strings.HasPrefix(path, home) {
		t.Errorf("path %q, %v", path, err)
	}
}
