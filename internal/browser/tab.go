package browser

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-rod/rod/lib/proto"
)

// A View is how a page is looked at.
type View struct {
	Wide, High int
	Scale      float64
	Dark       bool
	Mobile     bool
}

// Desktop is a common one.
var Desktop = View{Wide: 1280, High: 900, Scale: 1}

// A Tab is an open page, with all that it complained about or asked for.
type Tab struct {
	T *testing.T

	session session
	loaded  chan struct{} // holds one element once the page is loaded

	mutex      sync.Mutex
	complaints []string // errors and warnings of the console, exceptions, dialogs
	requests   []string // but for blobs
}

// Open opens a page and waits until it is loaded. It is closed with the test.
func Open(t *testing.T, url string, v View) *Tab {
	t.Helper()
	b := need(t)
	p := &Tab{T: t, loaded: make(chan struct{}, 1)}
	storage, err := proto.TargetCreateBrowserContext{}.Call(b) // of its own
	p.must(err)
	t.Cleanup(func() {
		if err := (proto.TargetDisposeBrowserContext{BrowserContextID: storage.BrowserContextID}).Call(b); err != nil {
			t.Error(err)
		}
	})
	target, err := proto.TargetCreateTarget{URL: "about:blank", BrowserContextID: storage.BrowserContextID}.Call(b)
	p.must(err)
	attached, err := proto.TargetAttachToTarget{TargetID: target.TargetID, Flatten: true}.Call(b)
	p.must(err)
	p.session = session{client: b.client, id: attached.SessionID}
	b.pipe.listen(p.session.id, p.listen)
	t.Cleanup(func() { b.pipe.forget(p.session.id) })
	p.must(proto.PageEnable{}.Call(p.session))
	p.must(proto.NetworkEnable{}.Call(p.session))
	p.must(proto.LogEnable{}.Call(p.session))
	p.must(proto.RuntimeEnable{}.Call(p.session))
	scheme := "light"
	if v.Dark {
		scheme = "dark"
	}
	p.must(proto.EmulationSetEmulatedMedia{Features: []*proto.EmulationMediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}.Call(p.session))
	p.must(proto.EmulationSetDeviceMetricsOverride{Width: v.Wide, Height: v.High, DeviceScaleFactor: v.Scale, Mobile: v.Mobile}.Call(p.session))
	to, err := proto.PageNavigate{URL: url}.Call(p.session)
	p.must(err)
	if to.ErrorText != "" {
		t.Fatalf("open %s: %s", url, to.ErrorText)
	}
	select {
	case <-p.loaded:
	case <-time.After(patience):
		t.Fatalf("%s is not loaded after %v; it has complained about %q", url, patience, p.Complaints())
	}
	return p
}

// must ends the test where the browser could not do something.
func (p *Tab) must(err error) {
	p.T.Helper()
	if err != nil {
		p.T.Fatalf("%v; the page has complained about %q", err, p.Complaints())
	}
}

// listen keeps what an event says.
func (p *Tab) listen(method string, params json.RawMessage) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	complain := func(format string, a ...any) { p.complaints = append(p.complaints, fmt.Sprintf(format, a...)) }
	read := func(event proto.Event) bool {
		if event.ProtoEvent() != method {
			return false
		}
		if err := json.Unmarshal(params, event); err != nil {
			complain("%s cannot be read: %v", method, err)
			return false
		}
		return true
	}
	var (
		console   proto.RuntimeConsoleAPICalled
		exception proto.RuntimeExceptionThrown
		entry     proto.LogEntryAdded
		dialog    proto.PageJavascriptDialogOpening
		request   proto.NetworkRequestWillBeSent
		load      proto.PageLoadEventFired
	)
	switch {
	case read(&console):
		if console.Type == proto.RuntimeConsoleAPICalledTypeError || console.Type == proto.RuntimeConsoleAPICalledTypeWarning {
			for _, argument := range console.Args {
				if argument.Description != "" { // of what is no plain value
					complain("console: %s", argument.Description)
				} else {
					complain("console: %s", argument.Value)
				}
			}
		}
	case read(&exception):
		complain("exception: %s", describe(exception.ExceptionDetails))
	case read(&entry):
		complain("log: %s %s", entry.Entry.Level, entry.Entry.Text)
	case read(&dialog):
		complain("dialog: %s", dialog.Message)
		go func() { // the page stands still until it is answered
			_ = proto.PageHandleJavaScriptDialog{Accept: false}.Call(p.session)
		}()
	case read(&request):
		if !strings.HasPrefix(request.Request.URL, "blob:") {
			p.requests = append(p.requests, request.Request.URL)
		}
	case read(&load):
		select {
		case p.loaded <- struct{}{}:
		default: // loaded again
		}
	}
}

// describe is what a script threw, and where.
func describe(e *proto.RuntimeExceptionDetails) string {
	if e.Exception == nil {
		return e.Text
	}
	return e.Text + " " + e.Exception.Description
}

// Do runs a script in the page.
func (p *Tab) Do(script string) {
	p.T.Helper()
	p.evaluate("(() => {" + script + "})(), undefined")
}

// Eval is the value of a JavaScript expression; a promise is waited for.
func Eval[T any](p *Tab, expression string) T {
	p.T.Helper()
	var value T
	answer := p.evaluate(expression)
	if answer.Type == proto.RuntimeRemoteObjectTypeUndefined {
		p.T.Fatalf("%s: the value is undefined", expression)
	}
	if err := json.Unmarshal([]byte(answer.Value.JSON("", "")), &value); err != nil || answer.UnserializableValue != "" {
		p.T.Fatalf("%s is %s%s: %v", expression, answer.Value, answer.UnserializableValue, err)
	}
	return value
}

// Wait waits until a JavaScript expression is true.
func (p *Tab) Wait(expression string) {
	p.T.Helper()
	p.evaluate("(async () => { while (!(" + expression + ")) await new Promise((again) => setTimeout(again, 20)); })()")
}

func (p *Tab) evaluate(expression string) *proto.RuntimeRemoteObject {
	p.T.Helper()
	answer, err := proto.RuntimeEvaluate{Expression: expression, ReturnByValue: true, AwaitPromise: true}.Call(p.session)
	if err == nil && answer.ExceptionDetails != nil {
		err = fmt.Errorf("it throws %s", describe(answer.ExceptionDetails))
	}
	if err != nil {
		p.T.Fatalf("%s: %v; the page has complained about %q", expression, err, p.Complaints())
	}
	return answer.Result
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
