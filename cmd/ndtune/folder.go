package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
