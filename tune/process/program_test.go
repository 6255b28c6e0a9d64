//go:build unix

package process

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func shell(script string) *Program {
	return &Program{Args: []string{"sh", "-c", script}, Timeout: time.Hour, Wanted: "a number"}
}

// TestAProgramStays: it answers one question after the other, an error of its own too, and starts anew after it has ended.
func TestAProgramStays(t *testing.T) {
	p := shell(`test "$(pwd)" = "$NDTUNE_TEST_GIVEN" || exit 9
while read -r line; do
  case $line in
  *end*) exit 3;;
  *bad*) echo '{"error": "no such <thing>"}';;
  *) n=$((n + 1)); echo "{\"n\": $n, \"line\": $line}";;
  esac
done`)
	p.Dir = t.TempDir()
	p.Env = []string{"NDTUNE_TEST_GIVEN=" + p.Dir}
	defer p.Close(false)
	for _, c := range []struct {
		question, want string
		n              int
	}{{"<a>", "", 1}, {"b", "", 2}, {"bad", "no such <thing>", 0}, {"c", "", 3}, {"end", "the process ended with exit status 3", 0}, {"d", "", 1}} {
		var answer struct {
			N    int
			Line string
		}
		err := p.Ask(t.Context(), &answer, c.question)
		if c.want != "" {
			if err == nil || err.Error() != c.want {
				t.Errorf("%s: %v, want %s", c.question, err, c.want)
			}
		} else if err != nil || answer.N != c.n || answer.Line != c.question {
			t.Errorf("%s: %+v, %v", c.question, answer, err)
		}
	}
}

// TestAnswersThatAreNone: the error says what came instead of the answer.
func TestAnswersThatAreNone(t *testing.T) {
	for script, want := range map[string]string{
		"yes 12":                   "it printed 12 without being asked",
		"read -r line; echo hello": "it wrote on standard output, where its answer belongs, hello: want a number: invalid character 'h' looking for beginning of value",
		"read -r line; echo 1 2":   "it wrote on standard output, where its answer belongs, 1 2: want a number: more follows the object",
		"read -r line; echo":       "it wrote on standard output, where its answer belongs, : want a number: EOF",
		"read -r line; yes | tr -d '\\n'": "the process ended by signal SIGKILL (killed), after a message that makes no sense " +
			"(it wrote a line of more than 16777216 bytes)",
		"echo why >&2; exit 1": "the process ended with exit status 1; it printed last: why",
		"exec >&-; sleep 1000": "the process ended by signal SIGKILL (killed)",
		"exit":                 "the process ended with exit status 0",
		"kill -9 $$":           "the process ended by signal SIGKILL (killed)",
		"printf 5; exec 1>&2":  "",
	} {
		p := shell(script)
		var answer int
		err := p.Ask(t.Context(), &answer, "question")
		for err == nil && want != "" { // the next line comes in its own time
			err = p.Ask(t.Context(), &answer, "question")
		}
		if want == "" && (err != nil || answer != 5) || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%s: %d, %v, want %q", script, answer, err, want)
		}
		p.Close(false)
	}
	var start *StartError
	if err := (&Program{Args: []string{"./no/such"}}).Ask(t.Context(), nil, 1); !errors.As(err, &start) ||
		err.Error() != "start it: fork/exec ./no/such: no such file or directory" {
		t.Error(err)
	}
	p := &Program{Args: []string{"sleep", "1000"}, Timeout: time.Millisecond}
	if err := p.Ask(t.Context(), nil, 1); !errors.Is(err, ErrLate) || err.Error() != "it did not answer within 1ms" || p.dialogue != nil {
		t.Error(err)
	}
}

// TestAProgramIsKilledWithAllThatItStarted cancels a question to a program whose own child waits too. The child holds a pipe open.
func TestAProgramIsKilledWithAllThatItStarted(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		done <- shell("(echo here; exec sleep 1000) >"+pipe+" & wait").Ask(ctx, nil, 1)
	}()
	f, err := os.Open(pipe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	begin := make([]byte, 5)
	if _, err := io.ReadFull(f, begin); err != nil || string(begin) != "here\n" {
		t.Fatalf("%q %v", begin, err)
	}
	cancel()
	if n, err := f.Read(begin); n != 0 { // returns when nobody holds the other end any more
		t.Errorf("%q %v", begin, err)
	}
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
