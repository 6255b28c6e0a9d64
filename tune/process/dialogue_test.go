//go:build unix

package process

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func converse(t *testing.T, script string) *Dialogue {
	t.Helper()
	d, err := Converse(exec.Command("sh", "-c", script), nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDialogue(t *testing.T) {
	d := converse(t, `while read line; do echo "got $line"; done; echo bye >&2; printf last; exit 3`)
	for _, text := range []string{"one", "two"} {
		if err := d.Send(t.Context(), []byte(text+"\n")); err != nil {
			t.Fatal(err)
		}
		if line, err := d.Receive(t.Context()); err != nil || string(line) != "got "+text {
			t.Errorf("%q, %v", line, err)
		}
	}
	if end := d.Close(true); end == nil || end.Explain("") != "with exit status 3; it printed last: bye" {
		t.Errorf("%+v", end)
	}
}

// TestDialoguesThatGoWrong has programs that end, that write without end, that close their output, that read nothing, and that never
// answer. Each leaves no process behind.
func TestDialoguesThatGoWrong(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	many := []byte(strings.Repeat("a line\n", 1<<16))
	for _, c := range []struct {
		script string
		ctx    context.Context
		want   error
		cause  string
	}{
		{"echo broken >&2; exit 3", t.Context(), ErrOver, "with exit status 3; it printed last: broken"},
		{"kill -TERM $$", t.Context(), ErrOver, "by signal SIGTERM (terminated)"},
		{"yes | tr -d '\\n'", t.Context(), ErrOver, "by signal SIGKILL (killed), after a message that makes no sense (it wrote a line of more than 16777216 bytes)"},
		{"exec >&-; sleep 1000", t.Context(), ErrOver, "by signal SIGKILL (killed)"},
		{"sleep 1000 & wait", cancelled, context.Canceled, "by signal SIGKILL (killed)"},
	} {
		d := converse(t, c.script)
		if err := d.Send(t.Context(), many); err != nil && !errors.Is(err, ErrOver) {
			t.Errorf("%s: %v", c.script, err)
		}
		if line, err := d.Receive(c.ctx); !errors.Is(err, c.want) {
			t.Errorf("%s: %q, %v, want %v", c.script, line, err, c.want)
		}
		end := d.Close(false)
		if end == nil {
			t.Fatalf("%s: it cannot be ended", c.script)
		}
		if got := end.Explain(""); got != c.cause {
			t.Errorf("%s: ended %s, want %s", c.script, got, c.cause)
		}
		if d.Alive() {
			t.Errorf("%s: it is alive", c.script)
		}
	}
}

func TestAProgramThatDoesNotExist(t *testing.T) {
	var start *StartError
	if _, err := Converse(exec.Command("no-such-program"), nil); !errors.As(err, &start) {
		t.Error(err)
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string][]string{
		"python3 a.py":                   {"python3", "a.py"},
		`  "C:\my tools\a.exe" -x ''  `:  {`C:\my tools\a.exe`, "-x", ""},
		`a --name='two words'"and more"`: {"a", "--name=two wordsand more"},
		"a\tb\nc":                        {"a", "b", "c"},
	} {
		if got, err := Words(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{"": "it names no program", " '' x": "it names no program", "a 'b": "the quote ' has no end"} {
		if got, err := Words(text); err == nil || err.Error() != want {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
}
