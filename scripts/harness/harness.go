//go:build linux

// Package harness has what the programs that do harm to ndtune share: they start processes, kill them or fill their disks, read the logs
// that are left, and count in a table. They run in the folder scripts of the repository.
package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
)

// Root is the folder of ndtune's module.
const Root = ".."

// Go runs the go command in a folder, without cgo.
func Go(ctx context.Context, folder string, arguments ...string) error {
	c := exec.CommandContext(ctx, "go", arguments...)
	c.Dir, c.Env = folder, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(arguments, " "), err, out)
	}
	return nil
}

// Folder makes a folder for programs and for what was harmed, and returns its absolute path. "": a temporary one.
func Folder(path string) (string, error) {
	if path == "" {
		return os.MkdirTemp("", "ndtune-harm-")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return path, os.MkdirAll(path, 0o755)
}

// WriteFiles writes texts by the names of files into a folder, which it makes.
func WriteFiles(folder string, texts map[string]string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Lanes runs f once for each of some lanes, side by side.
func Lanes(lanes int, f func(lane int) error) error {
	errs := make([]error, lanes)
	var all sync.WaitGroup
	for lane := range errs {
		all.Go(func() { errs[lane] = f(lane) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// Each runs f for the numbers from 1 to n, in lanes, until the context ends.
func Each(ctx context.Context, lanes, n int, f func(i int) error) error {
	var last atomic.Int64
	return Lanes(lanes, func(int) error {
		for i := int(last.Add(1)); i <= n && ctx.Err() == nil; i = int(last.Add(1)) {
			if err := f(i); err != nil {
				return err
			}
		}
		return nil
	})
}
