//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
)

// TestSimulateEndsOnInterrupt begins a simulation of hours and interrupts it. It says at its beginning
// that two records are the same.
func TestSimulateEndsOnInterrupt(t *testing.T) {
	folder := t.TempDir()
	record, err := os.ReadFile(filepath.Join("..", "..", "tune", "record", "testdata", "small_cache.json"))
	for _, name := range []string{"cache.json", "twin.json"} {
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name), record, 0o666)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	s := startProgram(t, folder, nil, "simulate", "cache.json", "twin.json", "--strategy", "random_sample", "--repeats", "1000000000")
	s.await(`^cache and twin hold the same results`)
	s.signal(syscall.SIGINT)
	if ended := s.end(); ended.status != ui.StatusInterrupted || ended.out != "" {
		t.Errorf("%+v", ended)
	}
}

// TestListingEndsOnInterrupt lists more configurations than anyone waits for.
func TestListingEndsOnInterrupt(t *testing.T) {
	folder := t.TempDir()
	text := "kernel: {name: k, source: '__kernel void k() {}'}\nproblem_size: 1\narguments: []\nparameters:\n"
	for _, name := range []string{"a", "b", "c"} {
		text += "  " + name + ": {range: [0, 59999]}\n"
	}
	if err := os.WriteFile(filepath.Join(folder, "vast.yaml"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	s := startProgram(t, folder, nil, "space", "vast.yaml", "--limit", "-1")
	s.read(1)
	s.signal(syscall.SIGINT)
	if ended := s.end(); ended.status != ui.StatusInterrupted || !strings.HasPrefix(ended.out, "configurations: 216000000000000 of ") {
		t.Errorf("status %d: %.200s", ended.status, ended.out)
	}
}
