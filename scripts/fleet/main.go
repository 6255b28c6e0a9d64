//go:build linux

// Command fleet proves on one machine that a fleet loses nothing and does nothing twice. It drives
// processes of ndtune and nats-server, which it builds, on an OpenCL device of this machine. It runs in the folder scripts:
//
//	go run ./fleet faults           # each fault 50 times; some hours on two cores
//	go run ./fleet faults -only agents-killed,cut -runs 10
//	go run ./fleet whole            # 225 configurations on each kind of server
//	go run ./fleet whole -cores 3   # each agent on three cores of its own, as if it had a machine
//	go run ./fleet scale            # recorded spaces on up to 1000 agents
//	go run ./fleet paced            # likewise on up to 64, with builds of 300 ms and launches of 20
//	go run ./fleet build -folder F  # the programs alone
//
// On a machine without Go, -programs names a folder with the three programs, as the command build leaves them.
//
// It prints a line for each run that went wrong, with the folder that it left, and a table at the end. The
// status is 1 if a run went wrong. docs/fleet.md has the results.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ndtune/ndtune/scripts/harness"
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
		fail(fmt.Errorf("usage: go run ./fleet faults|whole|scale|paced|build [flags]"))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The processes that scale starts.
	switch os.Args[1] {
	case "host-agents":
		n, err := strconv.Atoi(os.Args[4])
		if err == nil {
			err = hostAgents(ctx, os.Args[2], os.Args[3], n, os.Args[5] == "paced")
		}
		if err != nil {
			fail(err)
		}
		return
	case "host-search":
		total, err := strconv.Atoi(os.Args[4])
		if err == nil {
			err = hostSearch(ctx, os.Args[2], os.Args[3], total, os.Args[5])
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
	var err error
	if p.folder, err = harness.Folder(p.folder); err != nil {
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
	switch os.Args[1] {
	case "build":
		good = true
	case "faults":
		good, err = p.faults(ctx)
	case "whole":
		good, err = p.whole(ctx)
	case "scale":
		good, err = true, p.scale(ctx, *recorded, []int{1, 10, 100, 1000}, "")
	case "paced":
		for _, strategy := range []string{"random_sample", "auto"} {
			fmt.Println(strategy)
			if err = p.scale(ctx, *recorded, []int{1, 4, 16, 64}, strategy); err != nil {
				break
			}
		}
		good = true
	default:
		err = fmt.Errorf("no command %s: faults, whole, scale, paced or build", os.Args[1])
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
	const changes = "tune/fleet/protocol.go"
	source, err := os.ReadFile(filepath.Join(harness.Root, changes))
	if err != nil {
		return fmt.Errorf("run this in the folder scripts: %w", err)
	}
	changed := strings.Replace(string(source), "\nconst Protocol = ", "\nconst Protocol = 1000 + ", 1)
	if changed == string(source) {
		return fmt.Errorf("%s has no version of the protocol", changes)
	}
	if err := harness.WriteFiles(p.folder, map[string]string{
		"protocol.go":  changed,
		"overlay.json": fmt.Sprintf(`{"Replace":{%q:%q}}`, changes, filepath.Join(p.folder, "protocol.go")),
	}); err != nil {
		return err
	}
	build := func(folder, name string, arguments ...string) error {
		return harness.Go(ctx, folder, append([]string{"build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(p.folder, name)}, arguments...)...)
	}
	return errors.Join(
		build(harness.Root, programNdtune, "./cmd/ndtune"),
		build(harness.Root, programOther, "-overlay", filepath.Join(p.folder, "overlay.json"), "./cmd/ndtune"),
		build(".", programNats, "github.com/nats-io/nats-server/v2"),
	)
}
