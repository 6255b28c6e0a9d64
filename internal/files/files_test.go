package files

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func put(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// holds checks what the folder has: names, and for each its content.
func holds(t *testing.T, folder string, want map[string]string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, e := range entries {
		text, _ := os.ReadFile(filepath.Join(folder, e.Name()))
		got[e.Name()] = string(text)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the folder has %v, want %v", got, want)
	}
}

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func TestWrite(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "a")
	put(t, path, "before", 0o600)
	failed := errors.New("failed")
	err := Write(path, func(w io.Writer) error {
		_ = text("half")(w)
		return failed
	})
	if !errors.Is(err, failed) {
		t.Error(err)
	}
	holds(t, folder, map[string]string{"a": "before"})
	if err := Write(path, text("after")); err != nil {
		t.Error(err)
	}
	holds(t, folder, map[string]string{"a": "after"})
	if info, err := os.Stat(path); runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the mode became %v, %v", info.Mode(), err)
	}
	if err := Write(folder, text("")); err == nil || err.Error() != "it is a folder" {
		t.Error(err)
	}
	if err := Write(os.DevNull, text("lost")); err != nil {
		t.Error(err)
	}
}

func TestLinksStay(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	if err := os.Mkdir(at("sub"), 0o777); err != nil {
		t.Fatal(err)
	}
	put(t, at("sub/target"), "before", 0o600)
	for name, to := range map[string]string{"link": "sub/target", "twice": "link", "missing": at("sub/new"), "circle": "circle"} {
		if err := os.Symlink(to, at(name)); err != nil {
			t.Skip(err) // Windows asks for a privilege
		}
	}
	for name, target := range map[string]string{"link": "sub/target", "twice": "sub/target", "missing": "sub/new"} {
		if err := Write(at(name), text(name)); err != nil {
			t.Error(err)
		}
		if info, err := os.Lstat(at(name)); err != nil || info.Mode().Type() != os.ModeSymlink {
			t.Errorf("the link %s became %v, %v", name, info.Mode(), err)
		}
		if got, _ := os.ReadFile(at(target)); string(got) != name {
			t.Errorf("%s holds %q, want %q", target, got, name)
		}
	}
	if err := Write(at("circle"), text("")); err == nil {
		t.Error("a link to itself was written to")
	}
}

// TestAbandonedFilesAreRemoved: those that nobody holds, and no others.
func TestAbandonedFilesAreRemoved(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	for _, name := range []string{".o.csv.4254", ".o.csv.1", ".o.csv.x", ".o.csv.12x", ".o.csv.", ".o.csv.012", ".p.csv.4254", "o.csv.4254", ".oxcsv.4254"} {
		put(t, at(name), name, 0o666)
	}
	held, err := os.OpenFile(at(".o.csv.1"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if _, err := Lock(held); err != nil {
		t.Fatal(err)
	}
	if err := Write(at("o.csv"), text("whole")); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"o.csv": "whole"}
	for _, name := range []string{".o.csv.1", ".o.csv.x", ".o.csv.12x", ".o.csv.", ".o.csv.012", ".p.csv.4254", "o.csv.4254", ".oxcsv.4254"} {
		want[name] = name
	}
	holds(t, folder, want)
}

// TestReplacementIsHeld: while one is written, nobody takes its file for abandoned.
func TestReplacementIsHeld(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "a")
	r, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	removeAbandoned(path)
	if err := text("whole")(r); err != nil {
		t.Error(err)
	}
	if err := r.Commit(); err != nil {
		t.Error(err)
	}
	r.Discard()
	holds(t, folder, map[string]string{"a": "whole"})
}

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	first, second := open(), open()
	unlock, err := Lock(first)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(second); !errors.Is(err, ErrInUse) {
		t.Errorf("a second lock: %v", err)
	}
	if err := unlock(); err != nil {
		t.Error(err)
	}
	if err := os.Rename(path, path+".moved"); err != nil {
		t.Skip(err) // Windows renames no open file
	}
	open()
	if _, err := Lock(second); err == nil {
		t.Error("a file that is not at its path any more was locked")
	}
}

// TestCheck: it finds what Write would find, and leaves all as it was.
func TestCheck(t *testing.T) {
	folder := t.TempDir()
	longest := strings.Repeat("a", 200) + strings.Repeat("é", 25) + ".html"
	put(t, filepath.Join(folder, "a"), "before", 0o600)
	for _, path := range []string{"a", "new", longest} {
		if err := Check(filepath.Join(folder, path)); err != nil {
			t.Error(path, err)
		}
	}
	if err := Check(os.DevNull); err != nil {
		t.Error(err)
	}
	holds(t, folder, map[string]string{"a": "before"})
	for _, path := range []string{folder, filepath.Join(folder, "none", "a"), filepath.Join(folder, longest+"b")} {
		if err := Check(path); err == nil {
			t.Errorf("%s can be written to", path)
		}
	}
	if runtime.GOOS == "linux" {
		if err := Check("/proc/x.csv"); err == nil || err.Error() != "make a file in /proc: no such file or directory" {
			t.Error(err)
		}
	}
}

// TestLongestNames: a temporary name is no longer than the system allows, and that of another file.
func TestLongestNames(t *testing.T) {
	folder := t.TempDir()
	want := map[string]string{}
	var made []*Replacement
	for _, extension := range []string{".html", ".json"} {
		name := strings.Repeat("a", 255-len(extension)) + extension
		r, err := Create(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := text(extension)(r); err != nil {
			t.Error(err)
		}
		made, want[name] = append(made, r), extension
	}
	for _, r := range made {
		if err := r.Commit(); err != nil {
			t.Error(err)
		}
	}
	holds(t, folder, want)
}
