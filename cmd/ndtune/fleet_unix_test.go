//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/internal/natsserver"
	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/fleet"
	"github.com/ndtune/ndtune/tune/record"
)

// fleetOf starts a server and returns its address.
func fleetOf(t *testing.T) string {
	t.Helper()
	return natsserver.Start(t, t.TempDir()).URL()
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
	data, err := os.ReadFile(path) // the record has the first result of each configuration alone
	if err != nil {
		t.Fatal(err)
	}
	if lines := bytes.Count(data, []byte(`{"kind":"result"`)); lines != want || len(seen) != want {
		t.Errorf("%d results of %d configurations; want %d", lines, len(seen), want)
	}
}

// TestAFleetLosesNothing: of two agents, one leaves during the search, or with NDTUNE_LONG is killed, which the fleet notices after 20 s;
// then the search itself is killed, and goes on with its log. Each configuration has one result.
func TestAFleetLosesNothing(t *testing.T) {
	folder := specFolder(t)
	url := fleetOf(t)
	doomed := startSearch(t, t.TempDir(), []string{standin.FaultsVariable + "=add waits 50 when block_size_x == 32"}, "agent", "--fleet", url)
	doomed.await(`^offered: `)
	leave := syscall.SIGINT
	if os.Getenv("NDTUNE_LONG") != "" {
		leave = syscall.SIGKILL
	}
	log := filepath.Join(folder, "add.jsonl")
	arguments := []string{"tune", "add.yaml", "--fleet", url, "--log", log}

	first := startProgram(t, folder, nil, arguments...)
	first.read(3) // «Using:», a header and a result
	stays := agentOf(t, t.TempDir(), url)
	doomed.signal(leave)
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
	if ended := stays.end(); ended.status != ui.StatusInterrupted {
		t.Errorf("agent: %+v", ended)
	}
}

// TestAFleetOfThreeMachines is the fleet of docs/fleet.md for several machines, with TLS and a key for each role. Of three agents, one is killed
// and one is frozen while both work, and the frozen one goes on when the search is nearly over. Each result is in the log once.
func TestAFleetOfThreeMachines(t *testing.T) {
	if os.Getenv("NDTUNE_LONG") == "" {
		t.Skip("NDTUNE_LONG is not set: the work of a lost agent waits for 20 s")
	}
	server := natsserver.StartDocumented(t, "", func(configuration string) string { return configuration })
	agent := func(name string) *runningProgram {
		slow := []string{standin.FaultsVariable + "=add waits 500 first 4"}
		a := startProgram(t, t.TempDir(), slow, "agent", "--fleet", server.URL("agent"), "--name", name, "--device", needDevice(t).Selector)
		a.await(`^offered: `)
		return a
	}
	killed, frozen := agent("killed"), agent("frozen")
	folder := specFolder(t)
	log := filepath.Join(folder, "add.jsonl")
	search := startProgram(t, folder, nil, "tune", "add.yaml", "--fleet", server.URL("search"), "--agents", "2", "--log", log)
	search.read(3) // «Using:», a header and a result
	killed.signal(syscall.SIGKILL)
	frozen.signal(syscall.SIGSTOP)
	stays := agent("stays")
	search.read(7)
	frozen.signal(syscall.SIGCONT)
	if ended := search.end(); ended.status != 0 || !strings.Contains(ended.out, "best performing configuration") {
		t.Fatalf("%+v", ended)
	}
	eachOnce(t, log, 9)
	r, err := record.Read(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range r.Results {
		t.Logf("%s  %s  %s  on %s", result.Timestamp.Format(time.TimeOnly), result.Status, result.Configuration, result.Device)
	}
	for _, a := range []*runningProgram{frozen, stays} {
		a.signal(syscall.SIGINT)
		if ended := a.end(); ended.status != ui.StatusInterrupted {
			t.Errorf("agent: %+v", ended)
		}
	}
}

// TestAFleetOnPoCL: an agent has a real device.
func TestAFleetOnPoCL(t *testing.T) {
	if !standin.OnPoCL(t) {
		return
	}
	folder := specFolder(t)
	url := fleetOf(t)
	agentOf(t, t.TempDir(), url)
	log := filepath.Join(folder, "add.jsonl")
	ended := startProgram(t, folder, nil, "tune", "add.yaml", "-p", "block_size_x=16,32", "-p", "per_item=2", "--fleet", url, "--log", log).end()
	if ended.status != 0 || !strings.Contains(ended.out, "best performing configuration") {
		t.Fatalf("%+v", ended)
	}
	eachOnce(t, log, 2)
}

// TestComparisonOverAFleet: two agents have a device each. A comparison of both is interrupted while it
// searches, and goes on with its logs. Then several sizes are tuned for a wisdom file on one of them.
func TestComparisonOverAFleet(t *testing.T) {
	gpu := standIns(t, "standin-gpu")
	url := fleetOf(t)
	startSearch(t, t.TempDir(), nil, "agent", "--fleet", url, "--name", "real").await(`^offered: `)
	// One launch takes long enough to interrupt the first search in it.
	long := []string{gpu, standin.StateVariable + "=" + t.TempDir(), standin.FaultsVariable + "=add waits 1000 when block_size_x == 32 first 1"}
	startProgram(t, t.TempDir(), long, "agent", "--fleet", url, "--name", "simulated").await(`^offered: `)
	folder := specFolder(t)
	run := func(until string, arguments ...string) endedProgram {
		t.Helper()
		s := startProgram(t, folder, []string{"NDTUNE_FLEET=" + url}, arguments...)
		if until != "" {
			s.await(until)
			s.signal(syscall.SIGINT)
		}
		return s.end()
	}
	type fleetDevice struct {
		Machine, Name string
		Default       bool
	}
	listed := func() (devices []fleetDevice) {
		t.Helper()
		ended := run("", "devices", "--json")
		if err := json.Unmarshal([]byte(ended.out), &devices); err != nil {
			t.Fatalf("%v: %+v", err, ended)
		}
		return devices
	}
	devices := listed()
	for len(devices) < 2 { // an agent announces its devices after it has offered them
		devices = listed()
	}
	if real, simulated := devices[0], devices[1]; real.Machine != "real" || simulated.Machine != "simulated" || simulated.Name != "Stand-in GPU" || real.Default || !simulated.Default {
		t.Errorf("%+v", devices)
	}
	if shown := run("", "devices").out; !strings.HasPrefix(shown, "machine real\n  device 0  ") || !strings.Contains(shown, "\nmachine simulated\n  device 1  0:0  Stand-in GPU  ") {
		t.Error(shown)
	}

	compare := []string{"compare", "add.yaml", "--log", "r.jsonl", "-v"}
	stopped := run(`^Stand-in GPU: block_size_x=\d+, per_item=\d, time=`, compare...)
	if stopped.status != ui.StatusInterrupted || !strings.Contains(stopped.notes, "2 kinds of devices, at the same time") || !strings.Contains(stopped.notes, "(the same command with --log r.jsonl continues the run)") {
		t.Errorf("%+v", stopped)
	}
	ended := run("", compare...)
	if ended.status != 0 || !strings.Contains(ended.out, "\nthe best over all: ") || strings.ContainsAny(ended.out, "~?") {
		t.Errorf("%+v", ended)
	}
	for _, name := range []string{"r.stand-in-gpu.jsonl", "r." + ui.FileLabel(devices[0].Name) + ".jsonl"} {
		eachOnce(t, filepath.Join(folder, name), 9)
	}
	if logs, _ := filepath.Glob(filepath.Join(folder, "r.*.jsonl")); len(logs) != 4 {
		t.Errorf("logs: %v", logs)
	}

	missing := []string{"wisdom", "tune", "add.wisdom", "add.yaml", "--device", "gpu", "--max-evals", "2", "--set", "n=256,512"}
	if ended := run("", missing...); ended.status != 0 || strings.Count(ended.out, "wisdom: tuned now") != 2 || !strings.Contains(ended.notes, "It begins with 2 best configurations") {
		t.Errorf("%+v", ended)
	}
	if ended := run("", missing...); ended.status != 0 || strings.Count(ended.out, "wisdom: known for the same device and size") != 2 {
		t.Errorf("%+v", ended)
	}
	sizes := run("", "tune", "add.yaml", "--device", "gpu", "--max-evals", "2", "--set", "n=256,512", "--log", "sizes.jsonl")
	if sizes.status != 0 || !strings.HasPrefix(sizes.out, "add of add.yaml, at 2 sizes on Stand-in GPU\n") {
		t.Errorf("%+v", sizes)
	}
}

// TestAFleetInBothLanguages: a machine without CUDA searches in CUDA C on an agent's card, which OpenCL and CUDA see.
func TestAFleetInBothLanguages(t *testing.T) {
	card := standIns(t, "nvidia-h200", "nvidia-h200-cuda")
	library := os.Getenv(standin.LibraryVariable)
	url, folder := fleetOf(t), t.TempDir()
	for name, text := range map[string]string{
		"k.cl": "// standin: k is fill(y, 1); k takes 2000\n__kernel void k(__global float *y) { y[get_global_id(0)] = 1; }",
		"k.cu": "// standin: k is fill(y, 1); k takes 1000\n__global__ void k(float *y) { y[blockIdx.x * blockDim.x + threadIdx.x] = 1; }",
		"k.yaml": `kernel: {name: k, file: {opencl: k.cl, cuda: k.cu}}
problem_size: 64
arguments: [{name: y, type: float32, size: 64, output: true}]
parameters: {block_size_x: [16, 32, 64]}
`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	agent := startProgram(t, t.TempDir(), []string{card, standin.CUDAVariable + "=" + library, standin.NVRTCVariable + "=" + library}, "agent", "--fleet", url)
	agent.await(`^offered: `)
	agent.await(`^offered: `)
	for _, c := range []struct{ device, time string }{{"cuda", "time=0.001000ms"}, {"NVIDIA CUDA", "time=0.002000ms"}} {
		ended := startProgram(t, folder, nil, "tune", "k.yaml", "--fleet", url, "--device", c.device).end()
		if ended.status != 0 || strings.Count(ended.out, "\nblock_size_x=") != 3 || strings.Count(ended.out, c.time) != 4 {
			t.Errorf("%s: %+v", c.device, ended)
		}
	}
}

// TestAgentsAreAwaited: a comparison waits for two agents, whose devices have the same name in the fleet.
func TestAgentsAreAwaited(t *testing.T) {
	gpu := standIns(t, "standin-gpu")
	folder, url := specFolder(t), fleetOf(t)
	waiting := startProgram(t, folder, nil, "compare", "add.yaml", "--fleet", url, "--agents", "2", "--max-evals", "2", "--log", "r.jsonl")
	waiting.await(`^Waiting for 2 agents; the fleet has 0\.$`)
	startProgram(t, t.TempDir(), nil, "agent", "--fleet", url, "--device", needDevice(t).Selector).await(`^offered: `)
	waiting.await(`^Waiting for 2 agents; the fleet has 1\.$`)
	_ = startProgram(t, t.TempDir(), []string{gpu}, "agent", "--fleet", url)
	if ended := waiting.end(); ended.status != 0 || !strings.HasPrefix(ended.out, "add of add.yaml, 4096, on 2 devices\n") || !strings.Contains(ended.out, "\nthe best over all: ") {
		t.Errorf("%+v", ended)
	}
}

// TestNoFleet: a command that NDTUNE_FLEET would send to a fleet stays on this machine with --fleet ”.
func TestNoFleet(t *testing.T) {
	folder, env := specFolder(t), []string{"NDTUNE_FLEET=nats://127.0.0.1:1"}
	for command, want := range map[string]int{
		"tune add.yaml --max-evals 1": 2, "tune add.yaml --max-evals 1 --workers 0": 2,
		"tune add.yaml --max-evals 1 --workers 0 --fleet=": 0, "devices --fleet=": 0,
	} {
		ended := startProgram(t, folder, env, strings.Fields(command)...).end()
		if ended.status != want || want == 2 && !strings.Contains(ended.notes, "--fleet ''") {
			t.Errorf("%s: status %d, want %d: %s", command, ended.status, want, ended.notes)
		}
	}
}

func TestWrongFleets(t *testing.T) {
	folder := specFolder(t)
	url := fleetOf(t)
	for _, test := range []struct {
		arguments string
		want      string
	}{
		{"tune add.yaml --fleet " + url, "has no device: start an agent there"},
		{"tune add.yaml --fleet nats://127.0.0.1:1", "--fleet: connect to the fleet at nats://127.0.0.1:1: nats: no servers available for connection: start one there, such as nats-server -js -a 127.0.0.1 (docs/fleet.md); "},
		{"tune add.yaml --fleet nats://192.0.2.1:4222", "its address begins with tls://"},
		{"tune add.yaml --fleet tls://192.0.2.1:4222", "needs credentials"},
		{"tune add.yaml --workers 0 --fleet " + url, "--workers 0 is about this machine"},
		{"compare add.yaml --workers 1 --fleet " + url, "--workers 1 is about this machine"},
		{"compare add.yaml --fleet " + url, "has no device: start an agent there"},
		{"devices --peak --fleet " + url, "it measures on this machine"},
		{"agent", "name the fleet with --fleet URL"},
		{"fleet show", "name the fleet with --fleet URL"},
		{"tune add.yaml --allow commands", "--allow commands: want settings"},
		{"agent --allow command --fleet " + url, "--allow command: want commands or settings"},
		{"compare add.yaml --agents 2", "--agents needs --fleet: it counts the agents of a fleet"},
		{"compare add.yaml --agents 0 --fleet " + url, "want a positive number"},
		{"devices --fleet " + natsserver.StartWith(t, t.TempDir()).URL(), "jetstream not enabled: start it as nats-server -js, or with «jetstream: enabled»"},
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
