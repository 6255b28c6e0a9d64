//go:build linux

// Command torture does harm to ndtune, and counts what was lost, done twice, or left behind. It runs searches over hostile kernels, lets the
// disks of logs become full, kills processes at random moments, and gives each fuzz target some time:
//
//	go run ./scripts/torture                                       # 1000 kills, ten minutes for each target; some hours on two cores
//	go run ./scripts/torture -kills 20 -fuzz 0                     # a short one
//	go run ./scripts/torture -hostile 0 -disks 0 -kills 0 -fuzz 1m # fuzz targets alone
//	go run ./scripts/torture -lanes 12 -time 10m                   # on many cores
//	go run ./scripts/torture -build F                              # the programs alone; a machine without Go takes them with -programs F
//
// It runs in the folder of the module, and needs an OpenCL device that compiles on the CPU, such as PoCL. It prints each harm, and a table at
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
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A torture is what all kinds of harm need.
type torture struct {
	table
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
	t := &torture{building: 15 * time.Second}
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

// run does all harms, and prints the table.
func (t *torture) run(ctx context.Context, kills, disks, hostile int, fuzz time.Duration) (err error) {
	if t.lanes < 1 {
		return errors.New("-lanes must be at least 1")
	}
	temporary := t.folder == ""
	if temporary {
		if t.folder, err = os.MkdirTemp("", "ndtune-torture-"); err != nil {
			return err
		}
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
	for _, path := range []*string{&t.folder, &t.corpus, &t.programs} {
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
	err = errors.Join(err, ctx.Err(), t.print(os.Stdout))
	if n := t.bad(); n > 0 {
		return errors.Join(err, fmt.Errorf("%d tries went wrong: see %s", n, t.folder))
	}
	if temporary {
		err = errors.Join(err, os.RemoveAll(t.folder))
	}
	return err
}

// inLanes runs f once for each lane, side by side.
func (t *torture) inLanes(f func(lane int) error) error {
	errs := make([]error, t.lanes)
	var all sync.WaitGroup
	for lane := range errs {
		all.Go(func() { errs[lane] = f(lane) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// each runs f for the numbers from 1 to n, in lanes, until the context ends.
func (t *torture) each(ctx context.Context, n int, f func(i int) error) error {
	var last atomic.Int64
	return t.inLanes(func(int) error {
		for i := int(last.Add(1)); i <= n && ctx.Err() == nil; i = int(last.Add(1)) {
			if err := f(i); err != nil {
				return err
			}
		}
		return nil
	})
}

// harmer returns a function that counts harms of one try in a row, and prints them.
func (t *torture) harmer(name, try string) func(what harm, detail string) {
	bad := false
	return func(what harm, detail string) {
		t.in(name, func(r *row) {
			r.wrong[what]++
			if !bad {
				r.bad++
			}
			bad = true
		})
		fmt.Printf("%s: %s: %s\n", try, harmNames[what], detail)
	}
}
