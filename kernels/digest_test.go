package kernels_test

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/internal/golden"
	"github.com/ndtune/ndtune/kernels"
	"github.com/ndtune/ndtune/tune/spec"
)

// TestDigests holds the digest of every bundled specification to the recorded one. A digest
// that changes makes the run logs of that specification impossible to resume: it may only
// change with the kernel or the specification itself.
func TestDigests(t *testing.T) {
	golden.Check(t, "testdata/digests.txt", func(string, string) string {
		var lines strings.Builder
		err := fs.WalkDir(kernels.FS, ".", func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".yaml" {
				return err
			}
			s, err := spec.LoadFS(kernels.FS, path, spec.Options{})
			if err != nil {
				return err
			}
			lines.WriteString(s.Problem.Digest() + "  " + path + "\n")
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return lines.String()
	})
}
