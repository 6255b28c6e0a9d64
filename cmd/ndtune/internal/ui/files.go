package ui

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/tune/record"
)

// Await returns what a computation returns, or the error of ctx as soon as that is done: the computation is left alone then, so it must
// change nothing.
func Await[T any](ctx context.Context, compute func() (T, error)) (made T, err error) {
	answer := make(chan func() (T, error), 1)
	go func() {
		made, err := compute()
		answer <- func() (T, error) { return made, err }
	}()
	select {
	case <-ctx.Done():
	case computed := <-answer:
		if ctx.Err() == nil {
			return computed()
		}
	}
	return made, ctx.Err()
}

// ReadRecord reads a record, until it is interrupted.
func ReadRecord(ctx context.Context, path string) (*record.Record, error) {
	return Await(ctx, func() (*record.Record, error) { return record.Read(path) })
}

// CheckWritable makes sure, before anything is measured, that a file can be written at path.
func CheckWritable(path string) error {
	folder := filepath.Dir(path)
	switch info, err := os.Stat(folder); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no folder %s", folder)
	case err != nil:
		return fmt.Errorf("look for its folder: %w", err)
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", folder)
	}
	return files.Check(path)
}

// CheckOutputs refuses files that cannot be written, before anything is measured: of another format,
// outside of a folder, where nothing can be written, or named twice, also among other files of the command line. The error of check
// names the path.
func CheckOutputs(flag string, paths []string, check func(string) error, others ...string) error {
	for i, path := range paths {
		if err := check(path); err != nil {
			return Wrong("--%s: %w", flag, err)
		}
		if err := CheckWritable(path); err != nil {
			return Wrong("--%s %s: %w", flag, path, err)
		}
		same := func(other string) bool { return other != "" && files.Same(other, path) }
		if slices.ContainsFunc(paths[:i], same) || slices.ContainsFunc(others, same) {
			return Wrong("--%s %s: the file is named twice", flag, path)
		}
	}
	return nil
}

// Labelled puts a label before the extension of a path, and that of a compressed file: v1.2.csv.gz becomes
// v1.2.naive.csv.gz.
func Labelled(path, label string) string {
	if path == "" || label == "" {
		return path
	}
	stem := strings.TrimSuffix(path, ".gz")
	stem = strings.TrimSuffix(stem, filepath.Ext(stem))
	return stem + "." + label + path[len(stem):]
}

// FileLabel turns a label into a part of a file name that is valid on any system.
func FileLabel(label string) string {
	return strings.Trim(notInLabels.ReplaceAllString(strings.ToLower(label), "-"), "-")
}

var notInLabels = regexp.MustCompile(`\W+`)

// ShownName returns the name of a file without its folder, unless another file has the same name.
func ShownName(path string, all []string) string {
	base := filepath.Base(path)
	if slices.ContainsFunc(all, func(other string) bool { return other != path && filepath.Base(other) == base }) {
		return path
	}
	return base
}

// HasExtensionOfRecord reports whether a file is a record by its name, and so no specification.
func HasExtensionOfRecord(path string) bool {
	extension := filepath.Ext(strings.TrimSuffix(strings.ToLower(path), ".gz"))
	return extension == ".jsonl" || extension == ".csv" || strings.HasSuffix(strings.ToLower(path), ".gz")
}
