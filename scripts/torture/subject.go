//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/ndtune/ndtune/tune/record"
)

// A subject is a search that harm is done to. It has a folder, and a mark in the environment of its processes.
type subject struct {
	*torture
	name, folder, temporary, log, mark string

	// harmed counts a harm. It is for the latest of several kinds of harm that are done to the subject.
	harmed func(what harm, detail string)
	good   bool
	known  map[string]string // lines of results by configuration, as the log had them after the last run
}

// subject makes a folder with files for a search. Its harms count in a row.
func (t *torture) subject(name, row string, texts map[string]string) (*subject, error) {
	folder := filepath.Join(t.folder, name)
	s := &subject{torture: t, name: name, folder: folder, temporary: filepath.Join(folder, "tmp"), log: filepath.Join(folder, "log.jsonl"),
		mark: fmt.Sprintf("NDTUNE_TORTURE=%d-%s", os.Getpid(), name), harmed: t.harmer(row, name), good: true, known: map[string]string{}}
	if err := os.MkdirAll(s.temporary, 0o755); err != nil {
		return nil, err
	}
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *subject) wrong(what harm, detail string) {
	s.harmed(what, detail)
	s.good = false
}

// A running is a search that runs.
type running struct {
	*exec.Cmd
	output bytes.Buffer // after the end
	done   chan error
}

// start starts the search, or goes on with it. The command begins with some words before the program.
func (s *subject) start(before []string, more ...string) (*running, error) {
	words := append(before, filepath.Join(s.programs, "ndtune"), "tune", filepath.Join(s.folder, "spin.yaml"), "--log", s.log, "-q", "--no-peak", "--workers", "2")
	if s.device != "" {
		words = append(words, "--device", s.device)
	}
	words = append(words, more...)
	r := &running{Cmd: exec.Command(words[0], words[1:]...), done: make(chan error, 1)}
	r.Stdout, r.Stderr = &r.output, &r.output
	r.Env = append(os.Environ(), s.mark, "TMPDIR="+s.temporary, "XDG_STATE_HOME="+s.folder, "XDG_CACHE_HOME="+s.folder, "POCL_CACHE_DIR="+filepath.Join(s.folder, "pocl"))
	r.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := r.Start(); err != nil {
		return nil, err
	}
	go func() { r.done <- r.Wait() }()
	return r, nil
}

// end waits for the end of the search, and looks at what it left. When the context ends, the search is killed. At the moment, act is called
// once.
func (s *subject) end(ctx context.Context, r *running, moment <-chan time.Time, act func()) (err error) {
	for late, ended := time.After(s.patience), false; !ended; {
		select {
		case err = <-r.done:
			ended = true
		case <-moment:
			act()
		case <-ctx.Done():
			end(s.mark)
			err, ended = <-r.done, true
		case <-late:
			s.wrong(hung, "after "+s.patience.String())
			end(s.mark)
			err, ended = <-r.done, true
		}
	}
	if strings.Contains(r.output.String(), "\ngoroutine ") {
		s.wrong(panicked, r.output.String())
	}
	if left := remaining(s.mark, s.patience); len(left) > 0 {
		s.wrong(processes, fmt.Sprint(left))
		end(s.mark)
	}
	return err
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

// A result is a line of a log.
type result struct {
	Kind, Status, Reason string
	Configuration        json.RawMessage
}

// compare compares the log with the results that are known already, and adds the new ones. A result must have the status that each returns,
// unless that is "".
func (s *subject) compare(log string, each func(r result) (status string)) error {
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
func (s *subject) compareLines(text []byte, each func(r result) (status string)) int {
	now := map[string]string{}
	for line := range bytes.Lines(text) {
		var r result
		if json.Unmarshal(line, &r) != nil || r.Kind != "result" {
			continue // a torn line, or another kind
		}
		c := string(r.Configuration)
		if _, twice := now[c]; twice {
			s.wrong(repeated, c)
		}
		if want := each(r); want != "" && r.Status != want && s.known[c] == "" {
			s.wrong(failed, fmt.Sprintf("%s is %s, not %s: %s", c, r.Status, want, r.Reason))
		}
		now[c] = string(line)
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

func correct(result) string { return "correct" }
