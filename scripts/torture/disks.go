//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ndtune/ndtune/scripts/harness"
)

const (
	diskFull = "disk full"
	noSpace  = "no space left on device" // must stand in what a search says that ends because of it
)

// disks lets the disk of the log become full in some searches, at random numbers of results.
func (t *torture) disks(ctx context.Context, wanted int) error {
	if out, err := exec.CommandContext(ctx, "unshare", "-rm", "true").CombinedOutput(); err != nil {
		t.count(fmt.Sprintf("%s (not tried: unshare: %s)", diskFull, strings.TrimSpace(string(out))), 0)
		return nil
	}
	var ended atomic.Int64
	err := harness.Each(ctx, t.lanes, wanted, func(n int) error { return t.full(ctx, n, &ended) })
	fmt.Printf("%d searches ended because the disk was full\n", ended.Load())
	return err
}

// full does it to one search. Space is made while the search runs, or after its end; then the search is begun again.
func (t *torture) full(ctx context.Context, n int, ended *atomic.Int64) error {
	random := rand.New(rand.NewPCG(t.seed, uint64(n)))
	s, err := t.subject(fmt.Sprintf("disk%d", n), diskFull, spin)
	if err != nil {
		return err
	}
	folder := filepath.Join(s.folder, "small")
	disk, err := harness.NewDisk(s.folder, folder, 1)
	if err != nil {
		return err
	}
	defer disk.Close()
	s.log = filepath.Join(folder, "log.jsonl")
	log := disk.Inside("log.jsonl")
	at, while := random.IntN(configurations+1), random.IntN(2) == 0
	if at == 0 { // from the beginning
		if err := disk.Fill(); err != nil {
			return err
		}
	}
	r, err := s.start(disk.Enter())
	if err != nil {
		return err
	}
	moment := make(chan time.Time, 1)
	stop := make(chan struct{})
	go func() {
		for {
			text, _ := os.ReadFile(log)
			if at > 0 && bytes.Count(text, []byte(`"kind":"result"`)) >= at {
				moment <- time.Now()
				return
			}
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	failure := s.end(ctx, r, moment, func() {
		if err := disk.Fill(); err != nil {
			s.wrong(failed, err.Error())
		}
		if while {
			time.AfterFunc(time.Duration(random.Int64N(int64(time.Second))), func() { _ = disk.MakeRoom() })
		}
	})
	close(stop)
	if ctx.Err() != nil {
		return s.close(ctx)
	}
	t.count(diskFull, 1)
	if err := s.compare(log, correct); err != nil {
		return err
	}
	if failure != nil {
		ended.Add(1)
	}
	switch {
	case failure == nil && len(s.known) != configurations:
		s.wrong(lost, fmt.Sprintf("status 0 with %d of %d results\n%s", len(s.known), configurations, r.Output()))
	case failure != nil && (r.ProcessState.ExitCode() < 1 || !strings.Contains(r.Output(), noSpace)):
		s.wrong(failed, fmt.Sprintf("%v\n%s", failure, r.Output()))
	}
	if err := disk.MakeRoom(); err != nil {
		return err
	}
	if r, err = s.start(disk.Enter()); err != nil {
		return err
	}
	if failure := s.end(ctx, r, nil, nil); failure != nil && ctx.Err() == nil {
		s.wrong(failed, fmt.Sprintf("after space was made: %v\n%s", failure, r.Output()))
	}
	if err := s.compare(log, correct); err != nil {
		return err
	}
	if len(s.known) != configurations && s.good && ctx.Err() == nil {
		s.wrong(lost, fmt.Sprintf("%d of %d results\n%s", len(s.known), configurations, r.Output()))
	}
	return s.close(ctx)
}
