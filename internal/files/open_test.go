//go:build unix

package files

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestOpen(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	if err := os.WriteFile(at("file"), []byte("content"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(at("pipe"), 0o666); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"link": "file", "link to a pipe": "pipe"} {
		if err := os.Symlink(target, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(folder) // the name of a socket has at most a hundred bytes
	socket, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()

	for path, want := range map[string]string{
		at("file"): "", at("link"): "",
		at("pipe"):           "it is a pipe; only regular files are read, so write its content to one",
		at("link to a pipe"): "it is a pipe; only regular files are read, so write its content to one",
		folder:               "it is a folder, not a file",
		at("socket"):         "it is a socket; only regular files are read",
		os.DevNull:           "it is a device; only regular files are read",
		at("none"):           syscall.ENOENT.Error(),
	} {
		f, err := Open(path)
		if err == nil {
			f.Close()
		}
		content, errRead := ReadFile(path)
		for _, err := range []error{err, errRead} {
			var at *fs.PathError
			switch {
			case want == "" && err != nil:
				t.Error(err)
			case want != "" && (!errors.As(err, &at) || at.Path != path || at.Err.Error() != want):
				t.Errorf("%s: %v, want %s", path, err, want)
			}
		}
		if want == "" && string(content) != "content" {
			t.Errorf("%s holds %q", path, content)
		}
	}
}

// TestReadFileIsBounded: a file that has no end in practice fills no memory.
func TestReadFileIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(path, []byte("begins"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<40); err != nil {
		t.Skip(err) // this file system has no holes
	}
	var at *fs.PathError
	if data, err := ReadFile(path); !errors.As(err, &at) || at.Err.Error() != "it has more than 64 MiB, the most that is read of such a file" {
		t.Errorf("read %d bytes, %v", len(data), err)
	}
}
