//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	diskFull = "disk full"
	noSpace  = "no space left on device" // must stand in what a search says that ends because of it
)

// disks lets the disk of the log become full in some searches, at random numbers of results.
func (t *torture) disks(ctx context.Context, wanted int) error {
	if out, err := exec.CommandContext(ctx, "unshare", "-rm", "true").CombinedOutput(); err != nil {
		t.in(fmt.Sprintf("%s (not tried: unshare: %s)", diskFull, strings.TrimSpace(string(out))), func(*row) {})
		return nil
	}
	var ended atomic.Int64
	err := t.each(ctx, wanted, func(n int) error { return t.full(ctx, n, &ended) })
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
	if err := os.Mkdir(folder, 0o755); err != nil {
		return err
	}
	// The disk lives as long as a process that waits for the end of its input.
	holder := exec.Command("unshare", "-rm", "sh", "-c", `mount -t tmpfs -o size=1m none "$1" && echo ready && exec cat >/dev/null`, "sh", folder)
	holder.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	wait, err := holder.StdinPipe()
	if err != nil {
		return err
	}
	said, err := holder.StdoutPipe()
	if err != nil {
		return err
	}
	if err := holder.Start(); err != nil {
		return err
	}
	defer func() {
		_ = wait.Close()
		_ = holder.Wait()
	}()
	if _, err := io.ReadFull(said, make([]byte, len("ready\n"))); err != nil {
		return errors.New("the small disk cannot be mounted")
	}
	inside := fmt.Sprintf("/proc/%d/root%s", holder.Process.Pid, folder)
	s.log = filepath.Join(folder, "log.jsonl")
	log, filler := filepath.Join(inside, "log.jsonl"), filepath.Join(inside, "filler")
	enter := []string{"nsenter", "--preserve-credentials", "-U", "-m", "-t", fmt.Sprint(holder.Process.Pid)}

	at, while := random.IntN(configurations+1), random.IntN(2) == 0
	if at == 0 { // from the beginning
		if err := fill(filler); err != nil {
			return err
		}
	}
	r, err := s.start(enter)
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
		if err := fill(filler); err != nil {
			s.wrong(failed, err.Error())
		}
		if while {
			time.AfterFunc(time.Duration(random.Int64N(int64(time.Second))), func() { _ = os.Remove(filler) })
		}
	})
	close(stop)
	if ctx.Err() != nil {
		return s.close(ctx)
	}
	t.in(diskFull, func(r *row) { r.tried++ })
	if err := s.compare(log, correct); err != nil {
		return err
	}
	if failure != nil {
		ended.Add(1)
	}
	switch {
	case failure == nil && len(s.known) != configurations:
		s.wrong(lost, fmt.Sprintf("status 0 with %d of %d results\n%s", len(s.known), configurations, &r.output))
	case failure != nil && (r.ProcessState.ExitCode() < 1 || !strings.Contains(r.output.String(), noSpace)):
		s.wrong(failed, fmt.Sprintf("%v\n%s", failure, &r.output))
	}
	if err := os.Remove(filler); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if r, err = s.start(enter); err != nil {
		return err
	}
	if failure := s.end(ctx, r, nil, nil); failure != nil && ctx.Err() == nil {
		s.wrong(failed, fmt.Sprintf("after space was made: %v\n%s", failure, &r.output))
	}
	if err := s.compare(log, correct); err != nil {
		return err
	}
	if len(s.known) != configurations && s.good && ctx.Err() == nil {
		s.wrong(lost, fmt.Sprintf("%d of %d results\n%s", len(s.known), configurations, &r.output))
	}
	return s.close(ctx)
}

// fill writes a file until there is no room for a byte.
func fill(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	for size := 1 << 16; size > 0; { // ever smaller pieces
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	return f.Close()
}
