package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// checkFolder makes sure, before anything is measured, that a file can be written at path.
func checkFolder(path string) error {
	folder := filepath.Dir(path)
	info, err := os.Stat(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no folder %s", folder)
	}
	if err != nil {
		return fmt.Errorf("look for its folder: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", folder)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return errors.New("it is a folder")
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

// labelled puts a label before the extensions of a path: results.csv.gz becomes
// results.naive.csv.gz.
func labelled(path, label string) string {
	if path == "" || label == "" {
		return path
	}
	folder, name := filepath.Split(path)
	stem, extensions, found := strings.Cut(name, ".")
	if found {
		extensions = "." + extensions
	}
	return folder + stem + "." + label + extensions
}

// fileLabel turns a label into a part of a file name that is valid on any system.
func fileLabel(label string) string {
	words := strings.FieldsFunc(strings.ToLower(label), func(c rune) bool {
		return !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_')
	})
	return strings.Join(words, "-")
}

// shownName is the name of a file without its folder, unless another file has that name too.
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
