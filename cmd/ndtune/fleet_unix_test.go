//go:build unix

package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/fleet"
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
	arguments := []string{"tune", "add.yaml", "--fleet", url, "--log", log}

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

	shown := startProgram(t, folder, nil, "fleet", "show", "--fleet", url).end()
	if shown.status != 0 || !strings.HasPrefix(shown.out, "machine/device") || !strings.Contains(shown.out, "/"+needDevice(t).Selector+" ") {
		t.Errorf("%+v", shown)
	}
	asJSON := startProgram(t, folder, nil, "fleet", "show", "--fleet", url, "--json").end()
	var devices []fleet.Announcement
	if err := json.Unmarshal([]byte(asJSON.out), &devices); err != nil || len(devices) == 0 || devices[0].Device.Name == "" {
		t.Errorf("%v: %+v", err, asJSON)
	}

	stays.signal(syscall.SIGINT)
	if ended := stays.end(); ended.status != statusInterrupted {
		t.Errorf("agent: %+v", ended)
	}
}

func TestWrongFleets(t *testing.T) {
	folder := specFolder(t)
	url := fleetOf(t, t.TempDir())
	for _, test := range []struct {
		arguments string
		want      string
	}{
		{"tune add.yaml --fleet " + url, "has no device: start an agent there"},
		{"tune add.yaml --fleet nats://127.0.0.1:1", "--fleet: connect to the fleet at nats://127.0.0.1:1: "},
		{"tune add.yaml --fleet nats://192.0.2.1:4222", "its address begins with tls://"},
		{"tune add.yaml --fleet tls://192.0.2.1:4222", "needs credentials"},
		{"tune add.yaml --in-process --fleet " + url, "--in-process is about this machine"},
		{"compare add.yaml --workers 1 --fleet " + url, "--workers is about this machine"},
		{"compare add.yaml --fleet " + url, "has no device: start an agent there"},
		{"agent", "name the fleet with --fleet URL"},
		{"fleet show", "name the fleet with --fleet URL"},
		{"fleet serve --listen 0.0.0.0:0", "listens on this machine alone"},
		{"fleet serve --listen 127.0.0.1", "is not HOST:PORT"},
	} {
		ended := startProgram(t, folder, nil, strings.Fields(test.arguments)...).end()
		if ended.status != 2 || !strings.Contains(ended.notes, test.want) || ended.out != "" {
			t.Errorf("ndtune %s: %+v; want %s", test.arguments, ended, test.want)
		}
	}
	if logs, _ := filepath.Glob(filepath.Join(folder, "state", "ndtune", "*")); len(logs) > 0 {
		t.Errorf("files were written: %v", logs)
	}
}
