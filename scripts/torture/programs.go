//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/scripts/harness"
)

// build builds ndtune and the tests of the packages that have fuzz targets, with what fuzzing needs, in a folder: tune/spec.test is of the
// package tune/spec.
func build(ctx context.Context, folder string, fuzz bool) error {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	err = harness.Go(ctx, harness.Root, "build", "-ldflags=-s -w", "-o", filepath.Join(folder, "ndtune"), "./cmd/ndtune")
	if !fuzz || err != nil {
		return err
	}
	packages, err := fuzzed()
	for _, p := range packages {
		if err == nil {
			err = harness.Go(ctx, harness.Root, "test", "-c", "-fuzz=.", "-ldflags=-s -w", "-o", filepath.Join(folder, p+".test"), "./"+p)
		}
	}
	return err
}

// fuzzed returns the folders of the module whose tests have fuzz targets.
func fuzzed() (packages []string, err error) {
	err = filepath.WalkDir(harness.Root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		folder, _ := filepath.Rel(harness.Root, filepath.Dir(path))
		if bytes.Contains(text, []byte("\nfunc Fuzz")) && (len(packages) == 0 || packages[len(packages)-1] != folder) {
			packages = append(packages, folder)
		}
		return err
	})
	return packages, err
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
