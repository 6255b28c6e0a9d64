//go:build !linux

package files

import "os"

// Map returns nil: files in memory are those of Linux.
func Map(*os.File, int64) []byte { return nil }

// Unmap does nothing.
func Unmap() {}
