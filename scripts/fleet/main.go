//go:build linux

// Command fleet proves on one machine that a fleet loses nothing and does nothing twice. It drives
// processes of ndtune and nats-server, which it builds, on an OpenCL device of this machine:
//
//	go run ./scripts/fleet faults           # each fault 50 times; some hours on two cores
//	go run ./scripts/fleet faults -only agents-killed,cut -runs 10
//	go run ./scripts/fleet whole            # 225 configurations on each kind of server
//	go run ./scripts/fleet whole -cores 3   # each agent on three cores of its own, as if it had a machine
//	go run ./scripts/fleet scale            # recorded spaces on up to 1000 agents
//	go run ./scripts/fleet build -folder F  # the programs alone
//
// On a machine without Go, -programs names a folder with the three programs, as the command build leaves them.
//
// It prints a line for each run that went wrong, with the folder that it left, and a table at the end. The
// status is 1 if a run went wrong. docs/fleet.md has the results.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A proof is what all commands need.
type proof struct {
	ndtune, other, nats string // programs; other speaks another version of the protocol
	device              string // selector
	folder              string
	runs, atOnce, total int
	cores               int // of each agent of whole; 0: all agents share all cores
	seed                uint64
	only                []string
	wait                time.Duration // for the end of a search before it counts as hung
}

func main() {
	p := &proof{}
	if len(os.Args) < 2 || strings.HasPrefix(os.Args[1], "-") {
		fail(fmt.Errorf("usage: go run ./scripts/fleet faults|whole|scale|build [flags]"))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The processes that scale starts.
	switch os.Args[1] {
	case "host-agents":
		n, err := strconv.Atoi(os.Args[4])
		if err == nil {
			err = hostAgents(ctx, os.Args[2], os.Args[3], n)
		}
		if err != nil {
			fail(err)
		}
		return
	case "host-search":
		total, err := strconv.Atoi(os.Args[4])
		if err == nil {
			err = hostSearch(ctx, os.Args[2], os.Args[3], total)
		}
		if err != nil {
			fail(err)
		}
		return
	}
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	only := flags.String("only", "", "names of faults, kinds of servers, or numbers of agents, with commas (default: all)")
	flags.IntVar(&p.runs, "runs", 50, "runs of each fault")
	flags.IntVar(&p.atOnce, "at-once", 4, "fleets at the same time")
	flags.IntVar(&p.total, "configurations", 100_000, "of each search of scale, at least")
	flags.Uint64Var(&p.seed, "seed", 1, "of the moments of the faults")
	flags.DurationVar(&p.wait, "wait", 4*time.Minute, "for the end of a search before it counts as hung")
	flags.StringVar(&p.folder, "folder", "", "for programs and failed runs (default: a temporary one)")
	flags.IntVar(&p.cores, "cores", 0, "of each agent of whole, and of the search without a fleet (default: they share all)")
	flags.StringVar(&p.device, "device", "", "that evaluates (default: that of ndtune tune)")
	programs := flags.String("programs", "", "folder of programs that are built already")
	recorded := flags.String("recorded", "", "file of the recorded space for scale (default: "+defaultRecorded+")")
	_ = flags.Parse(os.Args[2:])
	if *only != "" {
		p.only = strings.Split(*only, ",")
	}
	if err := p.prepare(); err != nil {
		fail(err)
	}
	if *programs == "" {
		*programs = p.folder
		if err := p.build(ctx); err != nil {
			fail(err)
		}
	}
	if err := p.find(*programs); err != nil {
		fail(err)
	}
	var good bool
	var err error
	switch os.Args[1] {
	case "build":
		good = true
	case "faults":
		good, err = p.faults(ctx)
	case "whole":
		good, err = p.whole(ctx)
	case "scale":
		good, err = true, p.scale(ctx, *recorded)
	default:
		err = fmt.Errorf("no command %s: faults, whole, scale or build", os.Args[1])
	}
	if err != nil {
		fail(err)
	}
	if !good {
		os.Exit(1)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// prepare makes the folder.
func (p *proof) prepare() (err error) {
	if p.folder == "" {
		if p.folder, err = os.MkdirTemp("", "ndtune-fleet-proof-"); err != nil {
			return err
		}
	}
	if p.folder, err = filepath.Abs(p.folder); err != nil {
		return err
	}
	return os.MkdirAll(p.folder, 0o755)
}

// The names of the programs.
const (
	programNdtune = "ndtune"
	programOther  = "ndtune-other"
	programNats   = "nats-server"
)

// find finds the programs in a folder.
func (p *proof) find(folder string) error {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	p.ndtune, p.other, p.nats = filepath.Join(folder, programNdtune), filepath.Join(folder, programOther), filepath.Join(folder, programNats)
	for _, path := range []string{p.ndtune, p.other, p.nats} {
		if _, err := os.Stat(path); err != nil {
			return err
		}
	}
	return nil
}

// build builds the programs in the folder.
func (p *proof) build(ctx context.Context) error {
	source, err := os.ReadFile("tune/fleet/protocol.go")
	if err != nil {
		return fmt.Errorf("run this in the folder of the module: %w", err)
	}
	changed := strings.Replace(string(source), "\nconst Protocol = ", "\nconst Protocol = 1000 + ", 1)
	if changed == string(source) {
		return fmt.Errorf("tune/fleet/protocol.go has no version of the protocol")
	}
	protocol, overlay := filepath.Join(p.folder, "protocol.go"), filepath.Join(p.folder, "overlay.json")
	if err := os.WriteFile(protocol, []byte(changed), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(overlay, fmt.Appendf(nil, `{"Replace":{"tune/fleet/protocol.go":%q}}`, protocol), 0o644); err != nil {
		return err
	}
	for _, arguments := range [][]string{
		{"-o", filepath.Join(p.folder, programNdtune), "./cmd/ndtune"},
		{"-o", filepath.Join(p.folder, programOther), "-overlay", overlay, "./cmd/ndtune"},
		{"-o", filepath.Join(p.folder, programNats), "github.com/nats-io/nats-server/v2"},
	} {
		c := exec.CommandContext(ctx, "go", append([]string{"build", "-trimpath", "-ldflags=-s -w"}, arguments...)...)
		c.Stderr = os.Stderr
		if err := c.Run(); err != nil {
			return fmt.Errorf("go build %s: %w", strings.Join(arguments, " "), err)
		}
	}
	return nil
}
