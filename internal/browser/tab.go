package browser

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// A View is how a page is looked at.
type View struct {
	Wide, High int64
	Scale      float64
	Dark       bool
	Mobile     bool
}

// Desktop is a common one.
var Desktop = View{Wide: 1280, High: 900, Scale: 1}

// A Tab is an open page, with all that it complained about or asked for.
type Tab struct {
	T   *testing.T
	Ctx context.Context

	mutex      sync.Mutex
	complaints []string // errors and warnings of the console, exceptions, dialogs
	requests   []string // but for blobs
}

// Open opens a page. It is closed with the test.
func Open(t *testing.T, url string, v View) *Tab {
	t.Helper()
	ctx, done := chromedp.NewContext(need(t), chromedp.WithNewBrowserContext()) // with a storage of its own
	t.Cleanup(done)
	p := &Tab{T: t, Ctx: ctx}
	if err := chromedp.Listen(ctx, p.listen); err != nil {
		t.Fatal(err)
	}
	call(p, network.Enable, network.EnableParams{})
	call(p, log.Enable, cdp.Empty{})
	call(p, runtime.Enable, cdp.Empty{})
	scheme := "light"
	if v.Dark {
		scheme = "dark"
	}
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: v.Wide, Height: v.High, DeviceScaleFactor: v.Scale, Mobile: v.Mobile})
	p.Run(chromedp.Navigate(url))
	return p
}

func (p *Tab) listen(event any) {
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
		text := e.ExceptionDetails.Text
		if thrown := e.ExceptionDetails.Exception; thrown != nil {
			text += " " + thrown.Description
		}
		complain("exception: %s", text)
	case *log.EventEntryAdded:
		complain("log: %s %s", e.Entry.Level, e.Entry.Text)
	case *page.EventJavascriptDialogOpening:
		complain("dialog: %s", e.Message)
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "blob:") {
			p.requests = append(p.requests, e.Request.URL)
		}
	}
}

// patience is how long anything may take that is waited for.
const patience = time.Minute

// Run has the browser do something.
func (p *Tab) Run(actions ...chromedp.Action[chromedp.Void]) {
	p.T.Helper()
	ctx, cancel := context.WithTimeout(p.Ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.T.Fatalf("%v; the page has complained about %q", err, p.Complaints())
	}
}

// call gives the browser a command of its protocol.
func call[P any](p *Tab, command cdp.Command[P, cdp.Empty], params P) {
	p.T.Helper()
	if _, err := chromedp.Call(p.Ctx, command, params); err != nil {
		p.T.Fatal(err)
	}
}

// Do runs a script in the page.
func (p *Tab) Do(script string) {
	p.T.Helper()
	p.Run(chromedp.Evaluate[chromedp.Void]("(() => {" + script + "})()"))
}

// Eval is the value of a JavaScript expression; a promise is waited for.
func Eval[T any](p *Tab, expression string) T {
	p.T.Helper()
	value, err := chromedp.Run(p.Ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.T.Fatalf("%s: %v", expression, err)
	}
	return value
}

// Wait waits until a JavaScript expression is true.
func (p *Tab) Wait(expression string) {
	p.T.Helper()
	if _, err := chromedp.Run(p.Ctx, chromedp.Poll[bool](expression, chromedp.WithPollingInterval(20*time.Millisecond), chromedp.WithPollingTimeout(patience))); err != nil {
		p.T.Fatalf("%s: %v; the page has complained about %q", expression, err, p.Complaints())
	}
}

// Text is that of the first element of a selector, and Texts those of all.
func (p *Tab) Text(selector string) string {
	p.T.Helper()
	return Eval[string](p, fmt.Sprintf(`document.querySelector(%q).textContent.trim()`, selector))
}

func (p *Tab) Texts(selector string) []string {
	p.T.Helper()
	return Eval[[]string](p, fmt.Sprintf(`[...document.querySelectorAll(%q)].map((e) => e.textContent.trim())`, selector))
}

// Complaints are what the page has complained about.
func (p *Tab) Complaints() []string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return append([]string{}, p.complaints...)
}

// Requests are the addresses that the page was asked for under and has asked for itself.
func (p *Tab) Requests() []string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return append([]string{}, p.requests...)
}

// Quiet fails where the page complained about anything, or asked for anything but these
// addresses, beside its own.
func (p *Tab) Quiet(urls ...string) {
	p.T.Helper()
	for _, c := range p.Complaints() {
		p.T.Errorf("the page complains: %s", c)
	}
	allowed := map[string]bool{}
	for _, url := range urls {
		allowed[url] = true
	}
	for i, url := range p.Requests() {
		if i > 0 && !allowed[url] {
			p.T.Errorf("the page asks for %s", url)
		}
	}
}
