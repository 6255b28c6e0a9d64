package record

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune"
)

// sized is the header of a search at a size, whose problem has another digest than those of other sizes.
func sized(h Header, size string) Header {
	h.Size, h.Digest = size, "digest of "+size
	return h
}

// TestLogOfSeveralSizes writes a section after another, and goes on with the first one.
func TestLogOfSeveralSizes(t *testing.T) {
	h, results := sixteen()
	path := filepath.Join(t.TempDir(), "x.jsonl")
	compared := sized(h, "n=1")
	compared.Strategy = StrategyCompare
	for _, part := range []struct {
		header  Header
		resumed int
		results []tune.Result
	}{
		{sized(h, "n=1"), 0, results[:3]},
		{sized(h, "n=2"), 0, results[2:4]},
		{compared, 0, results[5:6]},
		{sized(h, "n=1"), 3, nil}, // writes nothing
		{sized(h, "n=1"), 3, results[4:6]},
		{sized(h, "n=2"), 2, results[:1]},
	} {
		before, _ := os.ReadFile(path)
		l := mustOpen(t, path, part.header)
		if l.Resumed() != part.resumed || l.Header().Digest != part.header.Digest {
			t.Errorf("%d results of %s are resumed, want %d of %s", l.Resumed(), l.Header().Digest, part.resumed, part.header.Digest)
		}
		mustAppend(t, l, part.results...)
		mustClose(t, l)
		after, err := os.ReadFile(path)
		if err != nil || part.resumed > 0 && len(part.results) == 0 && string(before) != string(after) {
			t.Errorf("a run without a result changed the log, or %v", err)
		}
	}
	all, err := ReadAll(path)
	if err != nil || len(all) != 3 {
		t.Fatalf("%d records: %v", len(all), err)
	}
	sameResults(t, all[0].Results, append(append([]tune.Result{}, results[:3]...), results[4:6]...))
	sameResults(t, all[1].Results, append(append([]tune.Result{}, results[2:4]...), results[0]))
	sameResults(t, all[2].Results, results[5:6])
	if all[1].Header.Size != "n=2" || all[2].Header.Strategy != StrategyCompare {
		t.Errorf("%+v", all[1].Header)
	}
	if _, err := Read(path); err == nil || !strings.Contains(err.Error(), "it holds searches of several sizes, n=1; n=2; ndtune convert") {
		t.Errorf("read as one record: %v", err)
	}
}

// TestSectionsRefused opens a log of sizes for what does not belong to it.
func TestSectionsRefused(t *testing.T) {
	h, results := sixteen()
	path := filepath.Join(t.TempDir(), "x.jsonl")
	l := mustOpen(t, path, sized(h, "n=1"))
	mustAppend(t, l, results[0])
	mustClose(t, l)
	for want, change := range map[string]func(*Header){
		"searches of several sizes, n=1 first": func(h *Header) { h.Size = "" },
		"another problem":                      func(h *Header) { h.Size = "n=1" },
		"another problem: ":                    func(h *Header) { h.Kernel = "other" },
		"another search space":                 func(h *Header) { h.Parameters = h.Parameters[1:] },
		"(--iterations)":                       func(h *Header) { h.Iterations++ },
		"another device":                       func(h *Header) { h.Device.Name = "other" },
	} {
		other := sized(h, "n=2")
		change(&other)
		if _, err := Open(path, other); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q: %v", want, err)
		}
	}
	single := filepath.Join(t.TempDir(), "single.jsonl")
	mustClose(t, mustOpen(t, single, h))
	if _, err := Open(single, sized(h, "n=1")); err == nil || !strings.Contains(err.Error(), "of one size alone") {
		t.Errorf("a size in a log of one: %v", err)
	}
}

// TestTornAndDamagedSections cuts the log in the second header, and damages a line of the second section:
// the error has its number in the file.
func TestTornAndDamagedSections(t *testing.T) {
	h, results := sixteen()
	path := filepath.Join(t.TempDir(), "x.jsonl")
	first := mustOpen(t, path, sized(h, "n=1"))
	mustAppend(t, first, results[:2]...)
	mustClose(t, first)
	one, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	second := mustOpen(t, path, sized(h, "n=2"))
	mustAppend(t, second, results[:2]...)
	mustClose(t, second)
	both, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	torn := mustWrite(t, both[:len(one)+100])
	l := mustOpen(t, torn, sized(h, "n=2"))
	mustAppend(t, l, results[:2]...)
	mustClose(t, l)
	if all, err := ReadAll(torn); err != nil || len(all) != 2 || len(all[1].Results) != 2 {
		t.Errorf("after a torn header: %d records, %v", len(all), err)
	}
	lines := strings.SplitAfter(string(both), "\n")
	lines[5] = strings.Replace(lines[5], "correct", "corrupt", 1)
	damaged := mustWrite(t, []byte(strings.Join(lines, "")))
	if _, err := ReadAll(damaged); err == nil || !strings.Contains(err.Error(), "line 6 is damaged") {
		t.Errorf("damaged: %v", err)
	}
	if found, _, err := Repair(damaged); err != nil || len(found) != 1 || found[0].Number != 6 {
		t.Errorf("repaired: %v, %v", found, err)
	}
	if all, err := ReadAll(damaged); err != nil || len(all) != 2 || len(all[0].Results) != 2 || len(all[1].Results) != 1 {
		t.Errorf("after the repair: %d records, %v", len(all), err)
	}
}
