package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/files"
)

// checkWritable makes sure, before anything is measured, that a file can be written at path.
func checkWritable(path string) error {
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

// checkOutputs refuses files that cannot be written, before anything is measured: of another format,
// outside of a folder, where nothing can be written, or named twice, also among other files of the command line. The error of check
// names the path.
func checkOutputs(flag string, paths []string, check func(string) error, others ...string) error {
	for i, path := range paths {
		if err := check(path); err != nil {
			return wrong("--%s: %w", flag, err)
		}
		if err := checkWritable(path); err != nil {
			return wrong("--%s %s: %w", flag, path, err)
		}
		same := func(other string) bool { return other != "" && sameFile(other, path) }
		if slices.ContainsFunc(paths[:i], same) || slices.ContainsFunc(others, same) {
			return wrong("--%s %s: the file is named twice", flag, path)
		}
	}
	return nil
}

// sameFile reports whether two paths name one file, by links or another spelling too.
func sameFile(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// labelled puts a label before the extension of a path, and that of a compressed file: v1.2.csv.gz becomes
// v1.2.naive.csv.gz.
func labelled(path, label string) string {
	if path == "" || label == "" {
		return path
	}
	stem := strings.TrimSuffix(path, ".gz")
	stem = strings.TrimSuffix(stem, filepath.Ext(stem))
	return stem + "." + label + path[len(stem):]
}

// fileLabel turns a label into a part of a file name that is valid on any system.
func fileLabel(label string) string {
	return strings.Trim(notInLabels.ReplaceAllString(strings.ToLower(label), "-"), "-")
}

var notInLabels = regexp.MustCompile(`\W+`)

// shownName returns the name of a file without its folder, unless another file has the same name.
func shownName(path string, all []string) string {
	base := filepath.Base(path)
	if slices.ContainsFunc(all, func(other string) bool { return other != path && filepath.Base(other) == base }) {
		return path
	}
	return base
}

// hasExtensionOfRecord reports whether a file is a record by its name, and so no specification.
func hasExtensionOfRecord(path string) bool {
	extension := filepath.Ext(strings.TrimSuffix(strings.ToLower(path), ".gz"))
	return extension == ".jsonl" || extension == ".csv" || strings.HasSuffix(strings.ToLower(path), ".gz")
}
