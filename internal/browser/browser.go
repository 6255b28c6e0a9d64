// Package browser opens pages in a Chromium for tests, and keeps what they complain about and
// ask for. One browser serves all tests of a package, each with a storage of its own.
package browser

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// commands are those of browsers that tests can drive.
var commands = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "headless-shell"}

var running struct {
	sync.Mutex
	ctx  context.Context
	stop func()
}

// Main runs the tests of a package and ends the browser behind them: TestMain must call it.
func Main(m *testing.M) {
	status := m.Run()
	if running.stop != nil {
		running.stop()
	}
	os.Exit(status)
}

// need is the browser, started by the first test that needs it. Where none is installed the test
// is skipped, or fails where NDTUNE_REQUIRE_BROWSER is set.
func need(t *testing.T) context.Context {
	t.Helper()
	running.Lock()
	defer running.Unlock()
	if running.ctx != nil {
		return running.ctx
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
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(command), chromedp.DisableGPU)
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium has no sandbox for root
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, end := chromedp.NewContext(allocator)
	if err := chromedp.Do(ctx); err != nil {
		stop()
		t.Fatalf("start %s: %v", command, err)
	}
	running.ctx, running.stop = ctx, func() { end(); stop() }
	return ctx
}
