//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// build builds ndtune and the tests of the packages that have fuzz targets, with what fuzzing needs, in a folder: tune/python.test is of the
// package tune/python.
func build(ctx context.Context, folder string, fuzz bool) error {
	commands := [][]string{{"build", "-ldflags=-s -w", "-o", filepath.Join(folder, "ndtune"), "./cmd/ndtune"}}
	if fuzz {
		packages, err := fuzzed()
		if err != nil {
			return err
		}
		for _, p := range packages {
			commands = append(commands, []string{"test", "-c", "-fuzz=.", "-ldflags=-s -w", "-o", filepath.Join(folder, p+".test"), "./" + p})
		}
	}
	for _, arguments := range commands {
		c := exec.CommandContext(ctx, "go", arguments...)
		c.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("go %s: %w\n%s", strings.Join(arguments, " "), err, out)
		}
	}
	return nil
}

// fuzzed returns the folders of the module whose tests have fuzz targets.
func fuzzed() (packages []string, err error) {
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		folder := filepath.Dir(path)
		if bytes.Contains(text, []byte("\nfunc Fuzz")) && (len(packages) == 0 || packages[len(packages)-1] != folder) {
			packages = append(packages, folder)
		}
		return err
	})
	return packages, err
}

// marked returns the processes whose environment has a mark, but for those that have ended and are waited for.
func marked(mark string) (pids []int) {
	paths, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err == nil && bytes.Contains(text, []byte(mark+"\x00")) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// remaining returns the processes with a mark that are still there after a time.
func remaining(mark string, patience time.Duration) (left []int) {
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		if left = marked(mark); len(left) == 0 {
			return nil
		}
	}
	return left
}

// end kills all processes with a mark.
func end(mark string) {
	for _, pid := range marked(mark) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// nameOf returns the name of a process and its parent.
func nameOf(pid int) (name string, parent int) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(text), "(")
	i := strings.LastIndex(rest, ")")
	if i < 0 {
		return "", 0
	}
	fields := strings.Fields(rest[i+1:])
	if len(fields) > 1 {
		parent, _ = strconv.Atoi(fields[1])
	}
	return rest[:i], parent
}
