package record

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune"
)

// The test binary is run again as a child that does one thing to a log.
const (
	childEnv = "NDTUNE_RECORD_TEST_CHILD"
	pathEnv  = "NDTUNE_RECORD_TEST_LOG"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(childEnv); name != "" {
		child := children[name]
		if err := child(os.Getenv(pathEnv)); err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var children = map[string]func(path string) error{
	"append":     appendForever,
	"file limit": appendToLimit,
}

func startChild(t *testing.T, name, path string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), childEnv+"="+name, pathEnv+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd, bufio.NewScanner(out)
}

// appendForever appends results, says after each that it is kept, and goes on with final
// measurements until it is killed.
func appendForever(path string) error {
	h, results := sixteen()
	l, err := Open(path, h)
	if err != nil {
		return err
	}
	for i, r := range results {
		if err := l.Append(r); err != nil {
			return err
		}
		fmt.Println("kept", i)
	}
	for {
		r := results[0]
		r.Final, r.AtFinal = r.Times, &tune.Judgement{Objective: r.Objective}
		if err := l.AppendFinal(r); err != nil {
			return err
		}
	}
}

// TestKilledWriter kills a process that writes to a log, at moments that its own messages
// fix: what it said was kept is there, the lock is gone, the run goes on.
func TestKilledWriter(t *testing.T) {
	h, results := sixteen()
	for _, until := range []int{0, 1, 7, 15} {
		path := filepath.Join(t.TempDir(), "run.jsonl")
		cmd, messages := startChild(t, "append", path)
		last := ""
		for want := fmt.Sprint("kept ", until); last != want; {
			if !messages.Scan() {
				t.Fatalf("the child ended after %q", last)
			}
			last = messages.Text()
		}
		if l, err := Open(path, h); err == nil {
			_ = l.Close()
			t.Error("a second writer was let in beside another process")
		} else if !strings.Contains(err.Error(), "another run is writing") {
			t.Error(err)
		}
		mustRead(t, path) // a reader is
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed

		read := mustRead(t, path).Results
		if len(read) <= until {
			t.Fatalf("%d results are left, and %d were kept", len(read), until+1)
		}
		l := mustOpen(t, path, h)
		sameResults(t, l.Previous(), read)
		mustAppend(t, l, results[len(read):]...)
		mustClose(t, l)
		if got := mustRead(t, path).Results; len(got) != len(results) {
			t.Errorf("%d results at the end, want %d", len(got), len(results))
		}
	}
}
