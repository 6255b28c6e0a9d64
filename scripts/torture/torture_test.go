//go:build linux

package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/scripts/harness"
)

// TestShort is a short torture: all kinds of harm but fuzzing, whose inputs so far are tests of their packages.
func TestShort(t *testing.T) {
	if os.Getenv("NDTUNE_LONG") == "" {
		t.Skip("make test-long runs it: searches are killed in cmd/ndtune and tune/worker, too")
	}
	standin.Use()
	t.Chdir("..")
	o := newTorture()
	o.lanes, o.seed, o.device, o.folder, o.corpus, o.patience, o.building = 2, 3, "cpu", t.TempDir(), t.TempDir(), 5*time.Minute, 2*time.Second
	if err := o.run(t.Context(), 2, 1, 1, 0); err != nil {
		t.Fatal(err)
	}
	kills := 0
	for _, row := range o.Rows() {
		if strings.HasPrefix(row, killOf) {
			kills += o.Of(row, tried)
		} else if o.Of(row, tried) == 0 && !strings.Contains(row, "not tried") {
			t.Errorf("%s: nothing was tried", row)
		}
	}
	if kills < 2 {
		t.Errorf("%d kills", kills)
	}
}

// TestHarms: a subject sees what it looks for.
func TestHarms(t *testing.T) {
	const one, two = `{"kind":"result","configuration":{"a":1},"status":"correct"}`, `{"kind":"result","configuration":{"a":2},"status":"correct"}`
	for name, c := range map[string]struct {
		first, second []string // lines of the log
		want          []string
	}{
		"nothing":   {[]string{one}, []string{one, two}, nil},
		"a loss":    {[]string{one, two}, []string{two}, []string{lost}},
		"a change":  {[]string{one}, []string{strings.Replace(one, "correct", "runtime", 1)}, []string{lost}},
		"a repeat":  {[]string{one}, []string{one, two, two}, []string{repeated}},
		"a failure": {[]string{one}, []string{one, strings.Replace(two, "correct", "runtime", 1)}, []string{failed}},
	} {
		t.Run(name, func(t *testing.T) {
			o := &torture{folder: t.TempDir(), patience: time.Second}
			s, err := o.subject("s", "tries", nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			s.harmed = func(what, detail string) { got = append(got, what) }
			for _, lines := range [][]string{c.first, c.second} {
				s.compareLines([]byte(strings.Join(lines, "\n")+"\n"), correct)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("harms %v, want %v", got, c.want)
			}
		})
	}
	// A process, a file and a panic.
	o := &torture{folder: t.TempDir(), patience: 100 * time.Millisecond, programs: t.TempDir()}
	const script = "#!/bin/sh\nsleep 600 >/dev/null 2>&1 &\ntouch $TMPDIR/left\necho panic: x; echo; echo 'goroutine 1 [running]:'\n"
	if err := os.WriteFile(filepath.Join(o.programs, "ndtune"), []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	s, err := o.subject("s", "tries", nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.start(nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = s.end(context.Background(), r, nil, nil)
	if err := s.close(context.Background()); err != nil {
		t.Fatal(err)
	}
	for column, want := range map[string]int{panicked: 1, processes: 1, files: 1, survived: -1, lost: 0, hung: 0} {
		if n := o.Of("tries", column); n != want {
			t.Errorf("%s: %d, want %d", column, n, want)
		}
	}
	if left := harness.Marked(r.Mark); len(left) > 0 {
		t.Errorf("processes %v", left)
	}
}
