package main

import (
	"bytes"
	"context"
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
