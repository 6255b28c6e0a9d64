package record

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestLostLog does harm to the file of a log between two results. The next one is an error that says what has happened, and
// what others have put there stays.
func TestLostLog(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows lets nobody remove a file that is open")
	}
	foreign := []byte("notes of somebody else\n")
	for name, c := range map[string]struct {
		harm func(path string) error
		says string
	}{
		"removed":           {os.Remove, "the file disappeared"},
		"with its folder":   {func(path string) error { return os.RemoveAll(filepath.Dir(path)) }, "the file disappeared"},
		"emptied":           {func(path string) error { return os.Truncate(path, 0) }, "another program has changed it"},
		"cut within a line": {func(path string) error { return os.Truncate(path, 600) }, "another program has changed it"},
		"replaced": {func(path string) error {
			return os.Rename(mustWrite(t, foreign), path)
		}, "another file has taken its place"},
		"a folder in its place": {func(path string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.Mkdir(path, 0o777)
		}, "another file has taken its place"},
		"written to": {func(path string) error { return appendTo(path, foreign) }, "another program has changed it"},
	} {
		t.Run(name, func(t *testing.T) {
			h, results := sixteen()
			path := filepath.Join(t.TempDir(), "folder", "run.jsonl")
			l := mustOpen(t, path, h)
			mustAppend(t, l, results[:5]...)
			if err := l.Check(); err != nil {
				t.Error(err)
			}
			if err := c.harm(path); err != nil {
				t.Fatal(err)
			}
			there, _ := os.ReadFile(path)
			for range 2 {
				if err := l.Append(results[5]); err == nil || err.Error() != "append to the run log "+path+": "+c.says+" while the run was going on" {
					t.Errorf("Append: %v", err)
				}
			}
			if err := l.Check(); err == nil || !strings.Contains(err.Error(), "the run log "+path+" is lost: "+c.says) {
				t.Errorf("Check: %v", err)
			}
			mustClose(t, l)
			if after, _ := os.ReadFile(path); !bytes.Equal(after, there) {
				t.Errorf("the file of others became %q", after)
			}
		})
	}
}

func mustWrite(t *testing.T, text []byte) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func appendTo(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(text)
	return err
}
