package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
)

// searchInProcess tunes two configurations in this process, with the log and the output in the
// folder, and returns the exit status and what was written to stderr.
func searchInProcess(t *testing.T, folder string, out io.Writer, arguments ...string) (status int, notes string) {
	t.Helper()
	d := needDevice(t)
	t.Setenv("NDTUNE_NO_PEAK", "1")
	app := newApp()
	var written bytes.Buffer
	app.Writer, app.ErrWriter = out, &written
	err := app.RunContext(context.Background(), append([]string{"ndtune", "tune", "--workers", "0", "--device", d.Selector,
		"-p", "per_item=1", "-p", "block_size_x=16,32", "--log", filepath.Join(folder, "log.jsonl"), "-o", filepath.Join(folder, "o.json")},
		append(arguments, filepath.Join("testdata", "specs", "add.yaml"))...))
	if err != nil {
		written.WriteString("ndtune: " + err.Error() + "\n")
	}
	return ui.ExitStatus(err, false), written.String()
}

func wantKept(t *testing.T, path string, n int) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if all, err := readKept(filepath.Base(path), string(text)); err != nil || len(all) != n {
		t.Errorf("%s holds %d configurations, want %d: %v", path, len(all), n, err)
	}
}

// An onFirst calls a function before the first text is written, which a search writes when its
// log is open.
type onFirst struct {
	bytes.Buffer
	first func()
}

func (w *onFirst) Write(b []byte) (int, error) {
	if w.first != nil {
		w.first()
		w.first = nil
	}
	return w.Buffer.Write(b)
}

// TestLostLog takes the run log away from a search. The search ends with an error that says so once, and its outputs have the results.
func TestLostLog(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows lets nobody remove a file that is open")
	}
	folder := t.TempDir()
	log := filepath.Join(folder, "log.jsonl")
	out := &onFirst{first: func() {
		if err := os.Remove(log); err != nil {
			t.Error(err)
		}
	}}
	status, notes := searchInProcess(t, folder, out)
	if says := "append to the run log " + log + ": the file disappeared while the run was going on\n"; status != 3 || strings.Count(notes, says) != 1 ||
		strings.Count(notes, "ndtune: ") != 1 || strings.Contains(notes, "\nrun log: ") || !strings.Contains(notes, "results: ") {
		t.Errorf("status %d, want 3:\n%s", status, notes)
	}
	if !strings.Contains(out.String(), "best performing configuration: ") {
		t.Errorf("no best in\n%s", out)
	}
	wantKept(t, filepath.Join(folder, "o.json"), 1)
}

// TestSkipDamaged damages a log. The search that resumes it is refused. With the log that convert makes of it, the
// search goes on and measures again what is lost.
func TestSkipDamaged(t *testing.T) {
	folder := t.TempDir()
	log := filepath.Join(folder, "log.jsonl")
	if status, notes := searchInProcess(t, folder, io.Discard); status != 0 {
		t.Fatal(notes)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte{'\n'})
	at := bytes.Index(lines[1], []byte(`"times":[0.`)) + len(`"times":[0.`)
	lines[1][at] = '0' + (lines[1][at]-'0'+1)%10 // a digit of a time, in text too
	if err := os.WriteFile(log, text, 0o666); err != nil {
		t.Fatal(err)
	}
	status, notes := searchInProcess(t, folder, io.Discard)
	if after, err := os.ReadFile(log); status != 2 || !strings.Contains(notes, "is damaged: its checksum does not match") || !strings.Contains(notes, "--skip-damaged") || !bytes.Equal(after, text) {
		t.Errorf("status %d, the log is as it was: %v, %v\n%s", status, bytes.Equal(after, text), err, notes)
	}
	intact := filepath.Join(folder, "intact.jsonl")
	var said bytes.Buffer
	app := newApp()
	app.Writer, app.ErrWriter = io.Discard, &said
	if err := app.RunContext(context.Background(), []string{"ndtune", "convert", "--skip-damaged", log, intact}); err != nil {
		t.Fatal(err)
	}
	if want := "\n  line 2: its checksum does not match (it reads as a result of block_size_x="; !strings.Contains(said.String(), want) {
		t.Errorf("no %q in\n%s", want, said.String())
	}
	status, notes = searchInProcess(t, folder, io.Discard, "--log", intact)
	if status != 0 || !strings.Contains(notes, "1 from the log, 1 evaluated now") {
		t.Errorf("status %d:\n%s", status, notes)
	}
	wantKept(t, intact, 2)
	wantKept(t, filepath.Join(folder, "o.json"), 2)
}
