// Package browser opens pages in a Chromium for tests, and keeps what they complain about and
// ask for. One browser serves all tests of a package, each with a storage of its own.
//
// It downloads no browser: it starts the one that is installed and speaks the DevTools protocol
// with it, in the types of github.com/go-rod/rod. No other package imports that module.
package browser

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-rod/rod/lib/cdp"
	"github.com/go-rod/rod/lib/proto"
)

// patience is how long anything may take that is waited for.
const patience = time.Minute

// commands are those of browsers that tests can drive.
var commands = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "headless-shell"}

// options keep the browser from everything that a test did not ask for, and its timers at full
// speed in pages that are in the background. The pages are this repository's own: there is no
// sandbox, which neither root nor a container has.
var options = []string{
	"--headless", "--remote-debugging-pipe", "--no-sandbox", "--enable-automation", "--no-first-run", "--no-default-browser-check",
	"--disable-background-networking", "--disable-breakpad", "--disable-component-update", "--disable-default-apps",
	"--disable-extensions", "--disable-features=Translate,OptimizationHints,MediaRouter", "--disable-sync",
	"--metrics-recording-only", "--password-store=basic", "--use-mock-keychain",
	"--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding",
	"--disable-hang-monitor", "--disable-ipc-flooding-protection",
	"--disable-dev-shm-usage", "--disable-gpu", "--force-color-profile=srgb", "--hide-scrollbars", "--mute-audio",
}

var running struct {
	sync.Mutex
	*process
}

// Main runs the tests of a package and ends the browser behind them: TestMain must call it.
func Main(m *testing.M) {
	status := m.Run()
	if running.process != nil {
		if err := running.stop(); err != nil {
			fmt.Fprintln(os.Stderr, "end the browser:", err)
			status = max(status, 1)
		}
	}
	os.Exit(status)
}

// need is the browser, started by the first test that needs it. Where none is installed the test
// is skipped, or fails where NDTUNE_REQUIRE_BROWSER is set.
func need(t *testing.T) *process {
	t.Helper()
	running.Lock()
	defer running.Unlock()
	if running.process != nil {
		return running.process
	}
	command := ""
	for _, name := range commands {
		if path, err := exec.LookPath(name); err == nil && command == "" {
			command = path
		}
	}
	if command == "" && os.Getenv("NDTUNE_REQUIRE_BROWSER") != "" {
		t.Fatalf("there is no browser: %s", strings.Join(commands, ", "))
	}
	if command == "" {
		t.Skipf("needs a browser: %s (Debian: apt-get install chromium)", strings.Join(commands, ", "))
	}
	b, err := start(command)
	if err != nil {
		t.Fatalf("start %s: %v", command, err)
	}
	running.process = b
	return b
}

// A process is a running browser. It ends when this process does, however that ends: its pipe
// is closed then.
type process struct {
	session
	pipe    *pipe
	command *exec.Cmd
	profile string // its folder
	said    *bytes.Buffer
}

func start(path string) (*process, error) {
	profile, err := os.MkdirTemp("", "ndtune-browser-")
	if err != nil {
		return nil, err
	}
	arguments := append(options[:len(options):len(options)], "--user-data-dir="+profile)
	b := &process{command: exec.Command(path, arguments...), profile: profile, said: new(bytes.Buffer)}
	b.command.Stderr, b.command.WaitDelay = b.said, patience
	if b.pipe, err = startWithPipe(b.command); err != nil {
		return nil, errors.Join(err, os.RemoveAll(profile))
	}
	b.session = session{client: cdp.New().Start(b.pipe)}
	go func() {
		for range b.client.Event() { // the pipe has handed it on
		}
	}()
	if _, err := (proto.BrowserGetVersion{}).Call(b.session); err != nil {
		return nil, errors.Join(err, b.stop(), errors.New(b.said.String()))
	}
	return b, nil
}

// stop ends the browser, by force where it does not end by itself, and removes its profile.
func (b *process) stop() error {
	forced := time.AfterFunc(patience, func() { _ = b.command.Process.Kill() })
	defer forced.Stop()
	return errors.Join(b.pipe.close(), b.command.Wait(), os.RemoveAll(b.profile))
}

// A session sends commands to one page, or to the browser where it has no id.
type session struct {
	client *cdp.Client
	id     proto.TargetSessionID
}

// GetSessionID is what the commands of package proto ask for.
func (s session) GetSessionID() proto.TargetSessionID { return s.id }

// Call sends a command and waits for its answer.
func (s session) Call(ctx context.Context, id, method string, params any) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answer, err := s.client.Call(ctx, id, method, params)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	return answer, nil
}
