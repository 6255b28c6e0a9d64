package report

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browsers are the commands of browsers that these tests can drive.
var browsers = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "headless-shell"}

// A browser is one for all tests, started by the first that needs it.
var browser struct {
	sync.Mutex
	ctx  context.Context
	stop func()
}

func TestMain(m *testing.M) {
	status := m.Run()
	if browser.stop != nil {
		browser.stop()
	}
	os.Exit(status)
}

// needBrowser is the browser. Where none is installed the test is skipped, or fails where
// NDTUNE_REQUIRE_BROWSER is set.
func needBrowser(t *testing.T) context.Context {
	t.Helper()
	browser.Lock()
	defer browser.Unlock()
	if browser.ctx != nil {
		return browser.ctx
	}
	command := ""
	for _, name := range browsers {
		if path, err := exec.LookPath(name); err == nil && command == "" {
			command = path
		}
	}
	if command == "" && os.Getenv("NDTUNE_REQUIRE_BROWSER") != "" {
		t.Fatalf("there is no browser: %s", strings.Join(browsers, ", "))
	}
	if command == "" {
		t.Skipf("needs a browser: %s (Debian: apt-get install chromium)", strings.Join(browsers, ", "))
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
	browser.ctx, browser.stop = ctx, func() { end(); stop() }
	return ctx
}

// A tab is an open report, with all that it complained about or asked for.
type tab struct {
	t   *testing.T
	ctx context.Context

	mutex      sync.Mutex
	complaints []string // errors and warnings of the console, exceptions, dialogs
	requests   []string // but for the page itself
}

// A view is how a page is looked at.
type view struct {
	wide, high int64
	scale      float64
	dark       bool
	mobile     bool
}

var desktop = view{wide: 1280, high: 900, scale: 1}

// open opens a report from a file, as a reader does.
func open(t *testing.T, r *Report, v view) *tab {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, done := chromedp.NewContext(needBrowser(t), chromedp.WithNewBrowserContext()) // with a storage of its own
	t.Cleanup(done)
	p := &tab{t: t, ctx: ctx}
	if err := chromedp.Listen(ctx, p.listen); err != nil {
		t.Fatal(err)
	}
	call(p, network.Enable, network.EnableParams{})
	call(p, log.Enable, cdp.Empty{})
	call(p, runtime.Enable, cdp.Empty{})
	scheme := "light"
	if v.dark {
		scheme = "dark"
	}
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: v.wide, Height: v.high, DeviceScaleFactor: v.scale, Mobile: v.mobile})
	p.run(chromedp.Navigate("file://"+path), chromedp.WaitReady(`html[data-ready], #trouble:not([hidden])`))
	if trouble := p.text("#trouble"); trouble != "" {
		t.Fatalf("the page says: %s", trouble)
	}
	return p
}

func (p *tab) listen(event any) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	complain := func(format string, a ...any) { p.complaints = append(p.complaints, fmt.Sprintf(format, a...)) }
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			for _, argument := range e.Args {
				complain("console: %s%s", argument.Value, argument.Description)
			}
		}
	case *runtime.EventExceptionThrown:
		complain("exception: %v", e.ExceptionDetails)
	case *log.EventEntryAdded:
		complain("log: %s %s", e.Entry.Level, e.Entry.Text)
	case *page.EventJavascriptDialogOpening:
		complain("dialog: %s", e.Message)
	case *network.EventRequestWillBeSent:
		if !strings.HasSuffix(e.Request.URL, "/report.html") && !strings.HasPrefix(e.Request.URL, "blob:") {
			p.requests = append(p.requests, e.Request.URL)
		}
	}
}

func (p *tab) run(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

// call gives the browser a command of its protocol.
func call[P any](p *tab, command cdp.Command[P, cdp.Empty], params P) {
	p.t.Helper()
	if _, err := chromedp.Call(p.ctx, command, params); err != nil {
		p.t.Fatal(err)
	}
}

// do runs a script in the page.
func (p *tab) do(script string) {
	p.t.Helper()
	p.run(chromedp.Evaluate[chromedp.Void]("(() => {" + script + "})()"))
}

// eval is the value of a JavaScript expression; a promise is waited for.
func eval[T any](p *tab, expression string) T {
	p.t.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

func (p *tab) text(selector string) string {
	p.t.Helper()
	return eval[string](p, fmt.Sprintf(`document.querySelector(%q).textContent.trim()`, selector))
}

func (p *tab) texts(selector string) []string {
	p.t.Helper()
	return eval[[]string](p, fmt.Sprintf(`[...document.querySelectorAll(%q)].map((e) => e.textContent.trim())`, selector))
}

// quiet fails where the page complained about anything, or asked for anything.
func (p *tab) quiet() {
	p.t.Helper()
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for _, c := range p.complaints {
		p.t.Errorf("the page complains: %s", c)
	}
	for _, url := range p.requests {
		p.t.Errorf("the page asks for %s", url)
	}
}
