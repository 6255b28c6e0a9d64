//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ndtune/ndtune/scripts/harness"
)

// A target is a fuzz target of a test program.
type target struct {
	program string
	folder  string // of the package, from the folder of the module
	name    string
}

// targets returns the fuzz targets of all test programs.
func (t *torture) targets(ctx context.Context) (all []target, err error) {
	err = filepath.WalkDir(t.programs, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".test") {
			return err
		}
		folder, err := filepath.Rel(t.programs, strings.TrimSuffix(path, ".test"))
		if err != nil {
			return err
		}
		list := exec.CommandContext(ctx, path, "-test.list", "^Fuzz")
		list.Dir = filepath.Join(harness.Root, folder)
		out, err := list.Output()
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for _, name := range strings.Fields(string(out)) {
			all = append(all, target{path, folder, name})
		}
		return nil
	})
	if err == nil && len(all) == 0 {
		err = errors.New("no fuzz targets in " + t.programs)
	}
	return all, err
}

// fuzz gives each target some time on one core, as many at a time as there are lanes.
func (t *torture) fuzz(ctx context.Context, each time.Duration) error {
	all, err := t.targets(ctx)
	if err != nil {
		return err
	}
	for _, one := range all {
		t.count(one.row(), 0) // in this order
	}
	next := make(chan target)
	go func() {
		defer close(next)
		for _, one := range all {
			select {
			case next <- one:
			case <-ctx.Done():
				return
			}
		}
	}()
	return harness.Lanes(t.lanes, func(int) error {
		for one := range next {
			if err := t.fuzzOne(ctx, one, each); err != nil {
				return err
			}
		}
		return nil
	})
}

func (one target) row() string { return strings.TrimPrefix(one.folder, "tune/") + " " + one.name }

var (
	fuzzInputs = regexp.MustCompile(`(?m)^fuzz: elapsed: .*execs: (\d+) .*new interesting: (\d+) \(total: (\d+)\)`)
	fuzzFailed = regexp.MustCompile(`Failing input written to (\S+)`)
)

// outOfTime is what Go says of a target whose time ended while an input was at work.
const outOfTime = "    context deadline exceeded\nFAIL\n"

// fuzzOne fuzzes one target. An input that makes it fail is in its package's testdata then, as Go leaves it, and a copy is in the folder
// crashers. What the target printed stays in the folder fuzz.
func (t *torture) fuzzOne(ctx context.Context, one target, each time.Duration) error {
	inside := filepath.Join(harness.Root, one.folder)
	folder := filepath.Join(t.folder, "fuzz", one.folder, one.name)
	temporary := filepath.Join(folder, "tmp")
	if err := os.MkdirAll(temporary, 0o755); err != nil {
		return err
	}
	mark := fmt.Sprintf("NDTUNE_HARM=%d-%s-%s", os.Getpid(), one.folder, one.name)
	limited, cancel := context.WithTimeout(ctx, each+t.patience)
	defer cancel()
	c := exec.CommandContext(limited, one.program, "-test.run", "^$", "-test.fuzz", "^"+one.name+"$", "-test.fuzztime", each.String(), "-test.parallel", "1",
		"-test.fuzzminimizetime", "10x", "-test.fuzzcachedir", filepath.Join(t.corpus, one.folder))
	var output bytes.Buffer
	c.Stdout, c.Stderr, c.Dir, c.WaitDelay = &output, &output, inside, t.patience
	c.Env = append(os.Environ(), mark, "TMPDIR="+temporary, "GOMAXPROCS=2")
	failure := c.Run()
	if err := os.WriteFile(filepath.Join(folder, "output"), output.Bytes(), 0o644); err != nil {
		return err
	}
	interesting := ""
	if all := fuzzInputs.FindAllStringSubmatch(output.String(), -1); len(all) > 0 {
		last := all[len(all)-1]
		n, _ := strconv.Atoi(last[1])
		t.count(one.row(), n)
		interesting = last[3]
	}
	wrong := t.harmer(one.row(), one.row())
	if left := harness.Remaining(mark, t.patience); len(left) > 0 {
		wrong(processes, fmt.Sprint(left))
		harness.KillMarked(mark)
	}
	switch found := fuzzFailed.FindStringSubmatch(output.String()); {
	case len(found) > 0:
		text, err := os.ReadFile(filepath.Join(inside, found[1]))
		if err != nil {
			return err
		}
		kept := filepath.Join(t.folder, "crashers", one.folder, found[1])
		if err := os.MkdirAll(filepath.Dir(kept), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(kept, text, 0o644); err != nil {
			return err
		}
		what := failed
		if strings.Contains(output.String(), "fuzzing process hung") { // Go allows an input ten seconds
			what = hung
		} else if strings.Contains(output.String(), "panic: ") {
			what = panicked
		}
		wrong(what, tail(output.String()))
	case ctx.Err() != nil: // cut short
	case limited.Err() != nil:
		wrong(hung, tail(output.String()))
	case failure != nil && !strings.Contains(output.String(), outOfTime):
		wrong(failed, tail(output.String()))
	}
	if left, _ := os.ReadDir(temporary); len(left) > 0 && ctx.Err() == nil {
		wrong(files, fmt.Sprint(left))
	}
	fmt.Printf("%s: %s inputs that reach other code\n", one.row(), interesting)
	return nil
}

// tail returns the end of a text.
func tail(s string) string { return s[max(0, len(s)-2000):] }
