package capture

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// captured copies a recorded capture to a folder of the test.
func captured(t *testing.T, name string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(folder, os.DirFS(filepath.Join("testdata", name))); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestRead(t *testing.T) {
	l, err := Read("testdata/scale")
	if err != nil {
		t.Fatal(err)
	}
	if l.Kernel != "scale" || l.Options != "-cl-fast-relaxed-math -DFOO=3" || !strings.HasPrefix(l.Source, "#define TILE 4") ||
		l.Global[0] != 1024 || l.Local[0] != 64 || l.Offset[0] != 0 || len(l.Arguments) != 5 {
		t.Fatalf("read %+v", l)
	}
	y, x := l.Arguments[0].Memory, l.Arguments[1].Memory
	if y == nil || x == nil || y.Bytes != 4096 || y.Number != 1 || x.Number != 0 || l.Arguments[4].Local != 256 ||
		string(l.Arguments[3].Value) != "\x00\x04\x00\x00" || l.Arguments[0].Value != nil {
		t.Errorf("read the arguments %+v", l.Arguments)
	}
	before, err := l.Before(0)
	if err != nil {
		t.Fatal(err)
	}
	after, err := l.After(0)
	if err != nil || len(before) != 4096 || len(after) != 4096 || string(before) == string(after) {
		t.Errorf("read %d and %d bytes (%v), want 4096 that differ", len(before), len(after), err)
	}
	other, err := Read("testdata/other")
	if err != nil || other.Local != nil {
		t.Errorf("read %+v (%v), want no local size", other, err)
	}
}
