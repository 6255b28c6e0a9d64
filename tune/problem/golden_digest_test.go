package problem_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ndtune/ndtune/internal/golden"
	"github.com/ndtune/ndtune/tune/spec"
)

// A treeWithSources is this tree of files, with a text in the place of each source of the gallery that gallery/fetch has not fetched.
type treeWithSources struct{ fs.FS }

func (t treeWithSources) Open(name string) (fs.File, error) {
	if strings.HasPrefix(name, "gallery/sources/") {
		return fstest.MapFS{path.Base(name): {Data: []byte("// " + path.Base(name) + "\n")}}.Open(path.Base(name))
	}
	return t.FS.Open(name)
}

// TestGoldenDigests holds the three digests of every specification of the tree, and of variations of some, to the recorded ones. A digest that
// changes makes the run logs of that specification impossible to resume: it may only change with the kernel or the specification itself.
// A line is the digest, the kernel's, that of the measurement, the file, and what --set would say. A new specification gets its line by
// -update: no other line may change then.
func TestGoldenDigests(t *testing.T) {
	tree := treeWithSources{os.DirFS("../..")}
	var lines strings.Builder
	write := func(file string, set map[string]string) {
		s, err := spec.LoadFS(tree, file, spec.Options{Set: set})
		if err != nil {
			t.Errorf("%s: %v", file, err)
			return
		}
		p := s.Problem
		fmt.Fprintf(&lines, "%s %s %s %s %q\n", p.Digest(), p.KernelDigest(), p.MeasurementDigest(), file, set)
	}
	for _, folder := range []string{"kernels", "gallery", "cmd/ndtune/testdata/specs", "tune/problem/testdata/specs"} {
		err := fs.WalkDir(tree, folder, func(file string, _ fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if filepath.Ext(file) == ".yaml" && file != "cmd/ndtune/testdata/specs/slow_space.yaml" {
				write(file, nil)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, set := range []map[string]string{
		{"n": "1024"}, {"spec.measure.cache": "cold"}, {"spec.measure.timer": "host"}, {"spec.objective": "GB/s"},
		{"spec.parameters.block_size_x": "[32, 64]"}, {"spec.restrictions": "[block_size_x < 64]"}, {"spec.verify.atol": "0.5"},
		{"spec.metrics": "{}", "spec.roofline": "{flops: n, bytes: 8 * n}"}, {"spec.baseline": "{block_size_x: 16, per_item: 1}"},
		{"spec.measure.launches": "3"}, {"spec.kernel.build_options": "[-cl-fast-relaxed-math]"}, {"spec.arguments[0].restore": "iteration"},
	} {
		write("cmd/ndtune/testdata/specs/add.yaml", set)
	}
	golden.File(t, "testdata/digests.txt", lines.String())
}
