package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
)

// TestInterruptedComputations: no command constructs a space, reads a record or makes a report to its end once it is interrupted, or
// prints or writes anything of it.
func TestInterruptedComputations(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	slow := filepath.Join("testdata", "specs", "slow_space.yaml")
	cache := filepath.Join("..", "..", "tune", "record", "testdata", "small_cache.json")
	out := t.TempDir()
	for _, arguments := range [][]string{
		{"space", slow}, {"space", slow, "--count"},
		{"tune", slow}, {"compare", slow},
		{"run", slow, "-p", "x=1", "-p", "y=2", "-p", "z=3"},
		{"diffusion", "tune"},
		{"simulate", cache},
		{"report", cache}, {"report", cache, "-o", filepath.Join(out, "a.html")}, {"compare", cache},
		{"convert", cache, filepath.Join(out, "a.csv")}, {"convert", "--skip-damaged", cache, filepath.Join(out, "b.csv")},
		{"wisdom", "add", filepath.Join(out, "a.wisdom"), cache},
		{"export", filepath.Join("testdata", "specs", "add.yaml"), cache, "-o", filepath.Join(out, "exported")},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		app := newApp()
		var printed, notes bytes.Buffer
		app.Writer, app.ErrWriter = &printed, &notes
		err := app.RunContext(ctx, flagsFirst(app, append([]string{"ndtune"}, arguments...)))
		if status := ui.ExitStatus(err, true); status != ui.StatusInterrupted || printed.Len()+notes.Len() > 0 {
			t.Errorf("%v: status %d, %v\n%s%s", arguments, status, err, printed.String(), notes.String())
		}
	}
	if written, _ := os.ReadDir(out); len(written) > 0 {
		t.Error("written:", written)
	}
}

// A cancelling writer cancels when the best configuration is named.
type cancelling struct {
	bytes.Buffer
	cancel func()
}

func (w *cancelling) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte("best performing configuration")) {
		w.cancel()
	}
	return w.Buffer.Write(b)
}

// TestInterruptedAfterTheSearch: the result of a search that has come to its end is kept in the wisdom file.
func TestInterruptedAfterTheSearch(t *testing.T) {
	d := needDevice(t)
	t.Setenv("NDTUNE_NO_PEAK", "1")
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	path := filepath.Join(t.TempDir(), "k.wisdom")
	ctx, cancel := context.WithCancel(t.Context())
	app := newApp()
	var notes bytes.Buffer
	out := &cancelling{cancel: cancel}
	app.Writer, app.ErrWriter = out, &notes
	err := app.RunContext(ctx, []string{"ndtune", "wisdom", "tune", "--workers", "0", "--device", d.Selector, "-p", "per_item=1", path, filepath.Join("testdata", "specs", "add.yaml")})
	if _, missing := os.Stat(path); ctx.Err() == nil || missing != nil || err != nil && !ui.IsCancelled(err) {
		t.Errorf("%v, %v\n%s%s", err, missing, out, &notes)
	}
}
