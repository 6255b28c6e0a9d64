//go:build linux || darwin

package record

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// appendToLimit appends under a limit of the file's size that lets a line be written in
// part, then without the limit: what a disk does that is full for a while.
func appendToLimit(path string) error {
	signal.Ignore(syscall.SIGXFSZ)
	h, results := sixteen()
	l, err := Open(path, h)
	if err != nil {
		return err
	}
	if err := l.Append(results[0]); err != nil {
		return err
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	was := limit.Cur

	limit.Cur = uint64(len(l.content)) + 10
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	err = l.Append(results[1])
	fmt.Println("the limit:", err, errors.Is(err, syscall.EFBIG))
	limit.Cur = was
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	return l.Append(results[2])
}

func TestFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	cmd, messages := startChild(t, "file limit", path)
	var said []string
	for messages.Scan() {
		said = append(said, messages.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %q", err, said)
	}
	if len(said) != 1 || !strings.Contains(said[0], path) || !strings.HasSuffix(said[0], "true") {
		t.Errorf("it said %q, want an error that names %s", said, path)
	}
	_, results := sixteen()
	sameResults(t, mustRead(t, path).Results, append(results[:1:1], results[2]))
	if data, _ := os.ReadFile(path); !strings.HasSuffix(string(data), "}\n") {
		t.Errorf("the log ends in %q", data)
	}
}
