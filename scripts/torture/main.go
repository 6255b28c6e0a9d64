//go:build linux

// Command torture does harm to ndtune, and counts what was lost, done twice, or left behind. It runs searches over hostile kernels, lets the
// disks of logs become full, kills processes at random moments, and gives each fuzz target some time:
//
//	go run ./torture                                       # 1000 kills, ten minutes for each target; some hours on two cores
//	go run ./torture -kills 20 -fuzz 0                     # a short one
//	go run ./torture -hostile 0 -disks 0 -kills 0 -fuzz 1m # fuzz targets alone
//	go run ./torture -lanes 12 -time 10m                   # on many cores
//	go run ./torture -build F                              # the programs alone; a machine without Go takes them with -programs F
//
// It runs in the folder scripts, and needs an OpenCL device that compiles on the CPU, such as PoCL. It prints each harm, and a table at
// the end. What was harmed stays in the folder of its trial. The status is 1 if anything went wrong, or if -time ended before all was done.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ndtune/ndtune/scripts/harness"
)

// The columns of the table: what was tried, and what can go wrong. A try may have several harms.
const (
	tried     = "tried"
	survived  = "survived"
	lost      = "lost"
	repeated  = "repeated"
	failed    = "failed"
	hung      = "hung"
	panicked  = "panics"
	processes = "processes left"
	files     = "files left"
)

// A torture is what all kinds of harm need.
type torture struct {
	harness.Table
	lanes    int // trials, or fuzz targets, side by side
	seed     uint64
	device   string // selector
	folder   string
	programs string // folder of ndtune and of the tests
	corpus   string // folder of the inputs that fuzzing finds
	patience time.Duration
	building time.Duration // of a hostile kernel, at most
}

func main() {
	t := newTorture()
	t.building = 15 * time.Second
	flag.IntVar(&t.lanes, "lanes", 1, "trials and fuzz targets side by side")
	flag.Uint64Var(&t.seed, "seed", 1, "of the moments and the victims")
	flag.StringVar(&t.device, "device", "", "that evaluates (default: that of ndtune tune)")
	flag.StringVar(&t.folder, "folder", "", "for programs and failed trials (default: a temporary one)")
	flag.StringVar(&t.programs, "programs", "", "folder of programs that are built already (default: they are built)")
	flag.StringVar(&t.corpus, "corpus", "", "folder that keeps the inputs that fuzzing finds (default: the user's cache)")
	flag.DurationVar(&t.patience, "patience", 5*time.Minute, "for the end of a search, and for its processes to go, before they count as hung")
	kills := flag.Int("kills", 1000, "that hit a process of a search")
	disks := flag.Int("disks", 20, "that become full")
	hostile := flag.Int("hostile", 10, "searches over kernels that do what none should")
	fuzz := flag.Duration("fuzz", 10*time.Minute, "for each fuzz target")
	limit := flag.Duration("time", 0, "after which no trial goes on (default: no limit)")
	only := flag.String("build", "", "folder for the programs, which are built and not run")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if *limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, *limit)
		defer cancel()
	}
	var err error
	if *only != "" {
		err = build(ctx, *only, true)
	} else {
		err = t.run(ctx, *kills, *disks, *hostile, *fuzz)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func newTorture() *torture {
	return &torture{Table: harness.Table{Columns: []string{tried, survived, lost, repeated, failed, hung, panicked, processes, files}}}
}

// run does all harms, and prints the table.
func (t *torture) run(ctx context.Context, kills, disks, hostile int, fuzz time.Duration) (err error) {
	if t.lanes < 1 {
		return errors.New("-lanes must be at least 1")
	}
	temporary := t.folder == ""
	if t.folder, err = harness.Folder(t.folder); err != nil {
		return err
	}
	if t.corpus == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return err
		}
		t.corpus = filepath.Join(cache, "ndtune-fuzz")
	}
	builds := t.programs == ""
	if builds {
		t.programs = filepath.Join(t.folder, "programs")
	}
	for _, path := range []*string{&t.corpus, &t.programs} {
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	if builds {
		if err := build(ctx, t.programs, fuzz > 0); err != nil {
			if temporary {
				err = errors.Join(err, os.RemoveAll(t.folder))
			}
			return err
		}
	}
	if hostile > 0 {
		err = t.hostile(ctx, hostile)
	}
	if disks > 0 && err == nil {
		err = t.disks(ctx, disks)
	}
	if kills > 0 && err == nil {
		err = t.kills(ctx, kills)
	}
	if fuzz > 0 {
		err = errors.Join(err, t.fuzz(ctx, fuzz))
	}
	err = errors.Join(err, ctx.Err(), t.Print(os.Stdout))
	if n := t.Sum(tried) - t.Sum(survived); n > 0 {
		return errors.Join(err, fmt.Errorf("%d tries went wrong: see %s", n, t.folder))
	}
	if temporary {
		err = errors.Join(err, os.RemoveAll(t.folder))
	}
	return err
}

// count counts things that were tried.
func (t *torture) count(row string, n int) {
	t.Add(row, tried, n)
	t.Add(row, survived, n)
}

// harmer returns a function that counts harms of one try in a row, and prints them.
func (t *torture) harmer(row, try string) func(what, detail string) {
	bad := false
	return func(what, detail string) {
		t.Add(row, what, 1)
		if !bad {
			t.Add(row, survived, -1)
		}
		bad = true
		fmt.Printf("%s: %s: %s\n", try, what, detail)
	}
}
