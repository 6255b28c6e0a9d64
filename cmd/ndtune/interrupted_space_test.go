package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
)

// TestInterruptedSpace: no command constructs a space to its end once it is interrupted, or
// prints anything of it.
func TestInterruptedSpace(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	slow := filepath.Join("testdata", "specs", "slow_space.yaml")
	for _, arguments := range [][]string{
		{"space", slow}, {"space", slow, "--count"},
		{"tune", slow}, {"compare", slow},
		{"run", slow, "-p", "x=1", "-p", "y=2", "-p", "z=3"},
		{"diffusion", "tune"},
		{"simulate", filepath.Join("..", "..", "tune", "record", "testdata", "small_cache.json")},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		app := newApp()
		var out, notes bytes.Buffer
		app.Writer, app.ErrWriter = &out, &notes
		err := app.RunContext(ctx, flagsFirst(app, append([]string{"ndtune"}, arguments...)))
		if status := exitStatus(err, true); status != statusInterrupted || out.Len()+notes.Len() > 0 {
			t.Errorf("%v: status %d, %v\n%s%s", arguments, status, err, out.String(), notes.String())
		}
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
	if _, missing := os.Stat(path); ctx.Err() == nil || missing != nil || err != nil && !isCancelled(err) {
		t.Errorf("%v, %v\n%s%s", err, missing, out, &notes)
	}
}
