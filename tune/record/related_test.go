package record

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
)

// TestFindRelated looks for records of a search in a folder that has all kinds of them, and all kinds of other files. It
// takes the nearest away, one after the other.
func TestFindRelated(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	h, results := sixteen()
	h.Digest, h.KernelDigest, h.MeasurementDigest, h.ProblemSize, h.Started = "problem", "kernel", "measurement", []int{1024}, start
	h.Constants = []definition.Constant{{Name: "n", Value: 1024}}
	h.Objective.Name, h.Device.Type, h.Device.Platform = "time", "gpu", "CUDA"
	results = results[:12]
	folder := t.TempDir()
	put := func(name string, n int, change func(h *Header)) {
		of := h
		of.Started = start.Add(-time.Hour)
		change(&of)
		if err := Write(filepath.Join(folder, "20260101-000000-k-"+name+".jsonl"), &Record{of, results[:n]}); err != nil {
			t.Fatal(err)
		}
	}
	size := func(n int) func(h *Header) {
		return func(h *Header) {
			h.Digest, h.ProblemSize, h.Constants = "another", []int{n}, []definition.Constant{{Name: "n", Value: n}}
		}
	}
	put("same", 12, func(*Header) {})
	put("fewer", 11, func(*Header) {}) // of the same circumstances
	put("values", 12, func(h *Header) { h.Digest, h.ProblemSize = "other values", nil })
	put("twice", 12, size(2048))
	put("far", 12, size(1<<20))
	put("driver", 12, func(h *Header) { h.Device.Driver = "2" })
	put("vendor", 12, func(h *Header) { h.Device.Name = "NVIDIA A100" })
	put("other-vendor", 12, func(h *Header) { h.Device = hardware.Device{Name: "W7800", Vendor: "AMD", Type: "gpu"}; size(512)(h) })
	put("older", 12, func(h *Header) { h.KernelDigest, h.MeasurementDigest = "old", "old" })
	for _, name := range []string{"own", "few", "cpu", "late", "other-spec", "other-kernel", "compared"} {
		n := 12
		if name == "few" {
			n = 9
		}
		put(name, n, func(h *Header) {
			h.Device.Driver = name // a circumstance of its own
			switch name {
			case "cpu":
				h.Device.Type = "cpu"
			case "late":
				h.Started = start
			case "other-spec":
				h.KernelDigest, h.Source = "x", "other.yaml"
			case "other-kernel":
				h.Kernel = "kk"
			case "compared":
				h.Strategy = StrategyCompare
			}
		})
	}
	put("own.another-device", 12, func(h *Header) { h.Device.Driver = "of the same comparison" })
	os.Mkdir(filepath.Join(folder, "20260101-000001-k-folder.jsonl"), 0o777)
	for name, text := range map[string]string{
		"empty.jsonl": "", "torn.jsonl": `{"format":"ndtune-run-log","vers`, "foreign.jsonl": "\x7fELF", "header.jsonl": "{}\n",
		"damaged.jsonl": "", "notes.txt": "x",
	} {
		if name == "damaged.jsonl" {
			data, _ := os.ReadFile(filepath.Join(folder, "20260101-000000-k-same.jsonl"))
			text = string(data) + "garbage\n"
		}
		if err := os.WriteFile(filepath.Join(folder, "20260101-000002-k-"+name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	own := filepath.Join(folder, "20260101-000000-k-own.jsonl")

	var order []string
	for {
		found, troubles := FindRelated(folder, h, own)
		if len(found) == 0 {
			break
		}
		if len(order) == 0 {
			var texts []string
			for _, err := range troubles {
				texts = append(texts, err.Error())
			}
			text := strings.Join(texts, "\n")
			if len(troubles) != 4 || !strings.Contains(text, "k-folder.jsonl: it is a folder") || !strings.Contains(text, "k-foreign.jsonl: the file is no run log") ||
				!strings.Contains(text, "k-header.jsonl: the file is no run log") || !strings.Contains(text, "k-damaged.jsonl: line 14 is damaged") {
				t.Errorf("the troubles are:\n%s", text)
			}
		}
		if len(found) > relatedMost {
			t.Fatalf("%d are found", len(found))
		}
		order = append(order, strings.TrimSuffix(strings.TrimPrefix(filepath.Base(found[0].Path), "20260101-000000-k-"), ".jsonl")+": "+found[0].How)
		for _, r := range found[1:] {
			if r.Path == found[0].Path {
				t.Fatalf("%s is found twice", r.Path)
			}
		}
		if err := os.Remove(found[0].Path); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"same: an earlier search", "fewer: an earlier search", "twice: size 2048", "far: size 1048576", "values: other values of parameters", "driver: driver 2",
		"vendor: NVIDIA A100", "other-vendor: W7800, size 512", "older: an older source",
	}
	if !slices.Equal(order, want) {
		t.Errorf("the order is\n%s\nwant\n%s", strings.Join(order, "\n"), strings.Join(want, "\n"))
	}
	if found, troubles := FindRelated(filepath.Join(folder, "nowhere"), h, own); len(found)+len(troubles) > 0 {
		t.Errorf("without a folder: %v, %v", found, troubles)
	}
}

// TestFindRelatedIsBounded has logs of several sizes, of which the nearest comes first, and more files than are looked at.
func TestFindRelatedIsBounded(t *testing.T) {
	h, results := sixteen()
	h.KernelDigest, h.Objective.Name, h.Device.Type = "kernel", "time", "gpu"
	h.Started = time.Now().Add(-time.Hour)
	folder := t.TempDir()
	path := filepath.Join(folder, "0-k.n-900.jsonl")
	for _, n := range []int{100, 900, 4000} { // the oldest
		of := h
		of.Size, of.Digest, of.ProblemSize = fmt.Sprintf("n=%d", n), fmt.Sprint("digest of ", n), []int{n}
		l := mustOpen(t, filepath.Join(folder, fmt.Sprintf("0-k.n-%d.jsonl", n)), of)
		mustAppend(t, l, results...)
		mustClose(t, l)
	}
	want := h
	want.ProblemSize, want.Started = []int{1000}, time.Time{}
	found, troubles := FindRelated(folder, want, "")
	if len(found) != 3 || len(troubles) != 0 || found[0].Header.Size != "n=900" || found[0].How != "size 900" {
		t.Fatalf("of several sizes, %+v, %v", found, troubles)
	}
	for i := range relatedFiles {
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("1%03d-k.jsonl", i)), []byte("x\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if found, troubles := FindRelated(folder, want, ""); len(found) != 0 || len(troubles) != relatedFiles {
		t.Errorf("%d records and %d troubles of %d files", len(found), len(troubles), relatedFiles)
	}
	os.Remove(filepath.Join(folder, "1000-k.jsonl"))
	large := filepath.Join(folder, "2000-k.jsonl")
	if err := os.Rename(path, large); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, relatedBytes+1); err != nil {
		t.Fatal(err)
	}
	if found, _ := FindRelated(folder, want, ""); len(found) != 0 {
		t.Errorf("a file of more than %d bytes was read", relatedBytes)
	}
}
