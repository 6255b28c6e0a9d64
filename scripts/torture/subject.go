//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ndtune/ndtune/scripts/harness"
	"github.com/ndtune/ndtune/tune/record"
)

// A subject is a search that harm is done to, in a folder of its own.
type subject struct {
	*torture
	name, folder, temporary, log string

	// harmed counts a harm. It is for the latest of several kinds of harm that are done to the subject.
	harmed func(what, detail string)
	good   bool
	begun  int               // how many times
	known  map[string]string // lines of results by configuration, as the log had them after the last run
}

// subject makes a folder with files for a search. Its harms count in a row.
func (t *torture) subject(name, row string, texts map[string]string) (*subject, error) {
	folder := filepath.Join(t.folder, name)
	s := &subject{
		torture: t, name: name, folder: folder, temporary: filepath.Join(folder, "tmp"), log: filepath.Join(folder, "log.jsonl"),
		harmed: t.harmer(row, name), good: true, known: map[string]string{},
	}
	if err := os.MkdirAll(s.temporary, 0o755); err != nil {
		return nil, err
	}
	return s, harness.WriteFiles(folder, texts)
}

func (s *subject) wrong(what, detail string) {
	s.harmed(what, detail)
	s.good = false
}

// start starts the search, or goes on with it. The command begins with some words before the program.
func (s *subject) start(before []string, more ...string) (*harness.Program, error) {
	words := append(before, filepath.Join(s.programs, "ndtune"), "tune", filepath.Join(s.folder, "spin.yaml"),
		"--log", s.log, "-q", "--workers", "2")
	if s.device != "" {
		words = append(words, "--device", s.device)
	}
	environment := []string{"NDTUNE_NO_PEAK=1", "TMPDIR=" + s.temporary, "XDG_STATE_HOME=" + s.folder, "XDG_CACHE_HOME=" + s.folder, "POCL_CACHE_DIR=" + filepath.Join(s.folder, "pocl")}
	s.begun++
	return harness.Launch(s.folder, fmt.Sprintf("search%d", s.begun), environment, append(words, more...)...)
}

// end waits for the end of the search, and looks at what it left. When the context ends, the search is killed. At the moment, act is called
// once.
func (s *subject) end(ctx context.Context, r *harness.Program, moment <-chan time.Time, act func()) error {
	for late := time.After(s.patience); !r.Over(); {
		select {
		case <-r.Ended:
		case <-moment:
			act()
		case <-ctx.Done():
			harness.KillMarked(r.Mark)
			<-r.Ended
		case <-late:
			s.wrong(hung, "after "+s.patience.String())
			harness.KillMarked(r.Mark)
			<-r.Ended
		}
	}
	if strings.Contains(r.Output(), "\ngoroutine ") {
		s.wrong(panicked, r.Output())
	}
	if left := harness.Remaining(r.Mark, s.patience); len(left) > 0 {
		s.wrong(processes, fmt.Sprint(left))
		harness.KillMarked(r.Mark)
	}
	return r.Failure()
}

// close looks at what the search left behind, and removes the folder if nothing went wrong.
func (s *subject) close(ctx context.Context) error {
	if left, _ := os.ReadDir(s.temporary); len(left) > 0 && ctx.Err() == nil {
		s.wrong(files, fmt.Sprint(left))
	}
	if s.good {
		return os.RemoveAll(s.folder)
	}
	return nil
}

// compare compares the log with the results that are known already, and adds the new ones. A result must have the status that each returns,
// unless that is "".
func (s *subject) compare(log string, each func(r harness.Result) (status string)) error {
	text, err := os.ReadFile(log)
	if errors.Is(err, os.ErrNotExist) {
		text, err = nil, nil // of a search that has not begun
	}
	if err != nil {
		return err
	}
	if n := s.compareLines(text, each); n > 0 {
		if _, err := record.Read(log); err != nil {
			s.wrong(lost, err.Error())
		}
	}
	return nil
}

// compareLines is compare for the text of a log. It returns the number of different results.
func (s *subject) compareLines(text []byte, each func(r harness.Result) (status string)) int {
	now := map[string]string{}
	for _, r := range harness.Results(text) {
		c := string(r.Configuration)
		if _, twice := now[c]; twice {
			s.wrong(repeated, c)
		}
		if want := each(r); want != "" && r.Status != want && s.known[c] == "" {
			s.wrong(failed, fmt.Sprintf("%s is %s, not %s: %s", c, r.Status, want, r.Reason))
		}
		now[c] = r.Line
	}
	for c, line := range s.known {
		if now[c] != line {
			s.wrong(lost, c)
		}
	}
	for c, line := range now {
		s.known[c] = line
	}
	return len(now)
}

func correct(harness.Result) string { return "correct" }
