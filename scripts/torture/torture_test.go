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
)

// TestShort is a short torture: all kinds of harm but fuzzing, whose inputs so far are tests of their packages.
func TestShort(t *testing.T) {
	if os.Getenv("NDTUNE_LONG") == "" {
		t.Skip("make test-long runs it: searches are killed in cmd/ndtune and tune/worker, too")
	}
	standin.Use()
	t.Chdir(filepath.Join("..", ".."))
	o := &torture{lanes: 2, seed: 3, device: "cpu", folder: t.TempDir(), corpus: t.TempDir(), patience: 5 * time.Minute, building: 2 * time.Second}
	if err := o.run(t.Context(), 2, 1, 1, 0); err != nil {
		t.Fatal(err)
	}
	kills := 0
	for _, r := range o.rows {
		if strings.HasPrefix(r.name, "kill of ") {
			kills += r.tried
		} else if r.tried == 0 && !strings.Contains(r.name, "not tried") {
			t.Errorf("%s: nothing was tried", r.name)
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
		want          []harm
	}{
		"nothing":   {[]string{one}, []string{one, two}, nil},
		"a loss":    {[]string{one, two}, []string{two}, []harm{lost}},
		"a change":  {[]string{one}, []string{strings.Replace(one, "correct", "runtime", 1)}, []harm{lost}},
		"a repeat":  {[]string{one}, []string{one, two, two}, []harm{repeated}},
		"a failure": {[]string{one}, []string{one, strings.Replace(two, "correct", "runtime", 1)}, []harm{failed}},
	} {
		t.Run(name, func(t *testing.T) {
			o := &torture{folder: t.TempDir(), patience: time.Second}
			s, err := o.subject("s", "tries", nil)
			if err != nil {
				t.Fatal(err)
			}
			s.harmed = func(what harm, detail string) { o.in("tries", func(r *row) { r.wrong[what]++ }) }
			for _, lines := range [][]string{c.first, c.second} {
				s.compareLines([]byte(strings.Join(lines, "\n")+"\n"), correct)
			}
			var got []harm
			o.in("tries", func(r *row) {
				for h, n := range r.wrong {
					if n > 0 {
						got = append(got, harm(h))
					}
				}
			})
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
	o.in("tries", func(r *row) {
		if r.wrong != [harms]int{panicked: 1, processes: 1, files: 1} || r.bad != 1 {
			t.Errorf("%+v", r)
		}
	})
	if left := marked(s.mark); len(left) > 0 {
		t.Errorf("processes %v", left)
	}
}
