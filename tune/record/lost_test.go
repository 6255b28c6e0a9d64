package record

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestLostLogIsWrittenAnew does harm to the file of a log between two results. It is said once,
// nothing is missing at the end, and what others have put there is kept.
func TestLostLogIsWrittenAnew(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows lets nobody remove a file that is open")
	}
	foreign := []byte("notes of somebody else\n")
	for name, c := range map[string]struct {
		harm func(path string) error
		says string
		kept bool
	}{
		"removed":            {os.Remove, "disappeared", false},
		"with its folder":    {func(path string) error { return os.RemoveAll(filepath.Dir(path)) }, "disappeared", false},
		"emptied":            {func(path string) error { return os.Truncate(path, 0) }, "was cut", false},
		"cut within a line":  {func(path string) error { return os.Truncate(path, 600) }, "was cut", false},
		"replaced by a copy": {replaceByCopy, "was replaced by another file", false},
		"replaced": {func(path string) error {
			return os.Rename(mustWrite(t, foreign), path)
		}, "was replaced by another file", true},
		"overwritten": {func(path string) error { return os.WriteFile(path, foreign, 0o666) }, "was cut", true},
		"written to":  {func(path string) error { return appendTo(path, foreign) }, "was written to by another program", true},
	} {
		t.Run(name, func(t *testing.T) {
			h, results := sixteen()
			path := filepath.Join(t.TempDir(), "folder", "run.jsonl")
			l := mustOpen(t, path, h)
			var said []string
			l.Notify(func(text string) { said = append(said, text) })
			mustAppend(t, l, results[:5]...)
			if err := c.harm(path); err != nil {
				t.Fatal(err)
			}
			mustAppend(t, l, results[5:8]...)
			if err := l.Check(); err != nil {
				t.Error(err)
			}
			sameResults(t, mustRead(t, path).Results, results[:8])
			if len(said) == 0 || !strings.Contains(said[0], path+" "+c.says+" while") || !strings.Contains(said[0], "written anew; nothing is missing") {
				t.Errorf("it said %q, want %q", said, c.says)
			}
			kept, _ := filepath.Glob(path + ".found*")
			switch {
			case !c.kept && (len(kept) > 0 || len(said) != 1):
				t.Errorf("%q is kept, and it said %q", kept, said)
			case c.kept && (len(said) != 2 || len(kept) != 1 || !strings.Contains(said[1], kept[0])):
				t.Errorf("%q is kept, and it said %q", kept, said)
			case c.kept:
				if text, _ := os.ReadFile(kept[0]); !strings.HasSuffix(string(text), string(foreign)) {
					t.Errorf("what was there is kept as %q", text)
				}
			}
			if other, err := Open(path, h); err == nil {
				_ = other.Close()
				t.Error("the new file is not locked")
			}
			mustClose(t, l)
			sameResults(t, mustOpen(t, path, h).Previous(), results[:8])
		})
	}
}

func replaceByCopy(path string) error {
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path+".new", text, 0o666)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	return err
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

// TestLogThatCannotBeWrittenAnew: another run holds the path. The log goes on in memory, says
// so once, leaves the other's file alone, and comes back when the other is gone.
func TestLogThatCannotBeWrittenAnew(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows lets nobody remove a file that is open")
	}
	h, results := sixteen()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	l := mustOpen(t, path, h)
	var said []string
	l.Notify(func(text string) { said = append(said, text) })
	mustAppend(t, l, results[:3]...)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	other := mustOpen(t, path, h)
	mustAppend(t, other, results[9])
	mustAppend(t, l, results[3:6]...)
	if len(said) != 1 || !strings.Contains(said[0], "cannot be written anew: another run is writing to it. The run goes on") {
		t.Errorf("it said %q", said)
	}
	if err := l.Check(); err == nil || !strings.Contains(err.Error(), "the run log "+path+" is lost: another run is writing to it") {
		t.Errorf("Check: %v", err)
	}
	mustAppend(t, other, results[10])
	mustClose(t, other)
	sameResults(t, mustRead(t, path).Results, results[9:11])

	mustAppend(t, l, results[6])
	if err := l.Check(); err != nil {
		t.Error(err)
	}
	if len(said) != 3 || !strings.Contains(said[1], "could be written anew; nothing is missing") || !strings.Contains(said[2], path+".found") {
		t.Errorf("it said %q", said)
	}
	sameResults(t, mustRead(t, path).Results, results[:7])
	sameResults(t, mustRead(t, path+".found").Results, results[9:11])
	mustClose(t, l)
	if err := l.Append(results[8]); err == nil {
		t.Errorf("a closed log took a result: %v", err)
	}
}
