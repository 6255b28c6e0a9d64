package record

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/score"
)

// sampleLog is a log with results and final measurements.
func sampleLog(t testing.TB) (Header, []byte) {
	t.Helper()
	h, results := sixteen()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	l := mustOpen(t, path, h)
	mustAppend(t, l, results[:3]...)
	for i := range 2 {
		results[i].Final, results[i].AtFinal = []float64{float64(i), 0.5}, &score.Judgement{Objective: float64(i)}
		if err := l.AppendFinal(results[i]); err != nil {
			t.Fatal(err)
		}
	}
	failed := results[5]
	failed.Status, failed.Times, failed.Reason = tune.Compile, nil, "no\xff\nway"
	mustAppend(t, l, failed)
	mustClose(t, l)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return h, data
}

// checkTorn reopens what is left of a log and appends to it: exactly the whole lines stay.
func checkTorn(t *testing.T, h Header, whole []byte, length int) {
	t.Helper()
	torn := whole[:length]
	path := filepath.Join(t.TempDir(), "run.jsonl")
	if err := os.WriteFile(path, torn, 0o644); err != nil {
		t.Fatal(err)
	}
	kept := torn[:bytes.LastIndexByte(torn, '\n')+1]
	l := mustOpen(t, path, h)
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(kept) > 0 && !bytes.Equal(after, kept) {
		t.Fatalf("cut at %d: kept %q, want %q", length, after, kept)
	}
	var want []tune.Result
	if len(kept) > 0 {
		r, err := Decode(torn) // a reader leaves out the torn line as well
		if err != nil {
			t.Fatalf("cut at %d: %v", length, err)
		}
		want = r.Results
	}
	sameResults(t, l.Previous(), want)

	_, results := sixteen()
	mustAppend(t, l, results[15])
	mustClose(t, l)
	sameResults(t, mustRead(t, path).Results, append(want, results[15]))
}

func TestEveryTruncation(t *testing.T) {
	h, whole := sampleLog(t)
	for length := range len(whole) + 1 {
		checkTorn(t, h, whole, length)
	}
}

func FuzzOpenTorn(f *testing.F) {
	for _, n := range []int{0, 1, 20, 200, 1 << 20} {
		f.Add(uint64(1), n)
	}
	f.Fuzz(func(t *testing.T, seed uint64, length int) {
		m := newMaker(seed)
		var b bytes.Buffer
		r := m.record(12)
		h, results := sixteen()
		r.Header.Parameters, r.Results = h.Parameters, results[:m.IntN(14)]
		for i := range r.Results {
			c := r.Results[i].Configuration
			r.Results[i] = m.result(c)
		}
		if err := EncodeLog(&b, r); err != nil {
			t.Fatal(err)
		}
		checkTorn(t, r.Header, b.Bytes(), max(0, min(length, b.Len())))
	})
}

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
		r.Final, r.AtFinal = r.Times, &score.Judgement{Objective: r.Objective}
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
