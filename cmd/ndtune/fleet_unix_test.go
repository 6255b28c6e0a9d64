//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/record"
)

// fleetOf starts a server and returns its address.
func fleetOf(t *testing.T, folder string) string {
	t.Helper()
	s := startProgram(t, folder, nil, "fleet", "serve", "--listen", "127.0.0.1:0")
	t.Cleanup(func() {
		s.signal(syscall.SIGINT)
		if ended := s.end(); ended.status != statusInterrupted {
			t.Errorf("server: %+v", ended)
		}
	})
	s.read(1)
	url := strings.TrimSpace(s.out.String())
	if !strings.HasPrefix(url, "nats://127.0.0.1:") {
		t.Fatalf("the server printed %q", url)
	}
	return url
}

func agentOf(t *testing.T, folder, url string) *runningProgram {
	t.Helper()
	a := startSearch(t, folder, nil, "agent", "--fleet", url)
	a.await(`^offered: `)
	return a
}

// eachOnce checks that a log has each configuration once, all of them correct.
func eachOnce(t *testing.T, path string, want int) {
	t.Helper()
	r, err := record.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, result := range r.Results {
		if result.Status != tune.Correct || result.Device == "" {
			t.Errorf("%s: %s, %s, device %q", result.Configuration, result.Status, result.Reason, result.Device)
		}
		seen[result.Configuration.Key()] = true
	}
	if len(r.Results) != want || len(seen) != want {
		t.Errorf("%d results of %d configurations; want %d", len(r.Results), len(seen), want)
	}
}

// TestAFleetLosesNothing: of two agents, one is killed during the search; then the search itself is killed, and goes on with
// its log. Each configuration has one result.
func TestAFleetLosesNothing(t *testing.T) {
	folder := specFolder(t)
	url := fleetOf(t, t.TempDir())
	doomed := agentOf(t, t.TempDir(), url)
	log := filepath.Join(folder, "add.jsonl")
	arguments := []string{"tune", "add.yaml", "--fleet", url, "--log", log, "--device", "cpu"}

	first := startProgram(t, folder, nil, arguments...)
	first.read(3) // «Using:», a header and a result
	stays := agentOf(t, t.TempDir(), url)
	doomed.signal(syscall.SIGKILL)
	doomed.end()
	first.signal(syscall.SIGKILL)
	first.end()

	second := startProgram(t, folder, nil, arguments...)
	if ended := second.end(); ended.status != 0 || !strings.Contains(ended.out, "best performing configuration") {
		t.Fatalf("%+v", ended)
	}
	eachOnce(t, log, 9)

	stays.signal(syscall.SIGINT)
	if ended := stays.end(); ended.status != statusInterrupted {
		t.Errorf("agent: %+v", ended)
	}
}
