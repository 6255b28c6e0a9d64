//go:build unix

package process

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// foreground runs a script that makes the file $STARTED when a signal may come. From then on, the watcher calls then.
func foreground(t *testing.T, script string, then func() error) (*End, error) {
	t.Helper()
	started := filepath.Join(t.TempDir(), "started")
	c := exec.Command("sh", "-c", script)
	c.Env = append(os.Environ(), "STARTED="+started)
	return Foreground(c, func() error {
		if _, err := os.Stat(started); err != nil {
			return nil
		}
		return then()
	})
}

func TestForeground(t *testing.T) {
	signalled := func() error { return syscall.Kill(os.Getpid(), syscall.SIGTERM) }
	hungUp := func() error { return syscall.Kill(os.Getpid(), syscall.SIGHUP) }
	enough := errors.New("enough")
	for name, c := range map[string]struct {
		script string
		then   func() error
		status int
		err    error
	}{
		"ends by itself":             {`exit 3`, nil, 3, nil},
		"crashes":                    {`kill -SEGV $$`, nil, 128 + int(syscall.SIGSEGV), nil},
		"answers a signal":           {`trap "exit 5" TERM; >"$STARTED"; while :; do :; done`, signalled, 5, nil},
		"answers a hangup":           {`trap "exit 6" HUP; >"$STARTED"; while :; do :; done`, hungUp, 6, nil},
		"ignores a signal":           {`trap "" TERM; >"$STARTED"; while :; do :; done`, signalled, 128 + int(syscall.SIGKILL), nil},
		"does what the watcher ends": {`>"$STARTED"; while :; do :; done`, func() error { return enough }, 128 + int(syscall.SIGTERM), enough},
	} {
		t.Run(name, func(t *testing.T) {
			end, err := foreground(t, c.script, c.then)
			if end == nil || end.Status() != c.status || !errors.Is(err, c.err) {
				t.Errorf("ended %+v (%v), want status %d (%v)", end, err, c.status, c.err)
			}
		})
	}
	var start *StartError
	if end, err := Foreground(exec.Command("/nowhere/program"), nil); end != nil || !errors.As(err, &start) {
		t.Errorf("a program that does not exist ended %v (%v)", end, err)
	}
}
