package browser

import (
	"fmt"

	"github.com/go-rod/rod/lib/proto"
)

// What a reader of a page does and sees. Positions are in CSS pixels, from the left and the top
// of what is visible.

// PointAt moves the pointer.
func (p *Tab) PointAt(x, y float64) {
	p.T.Helper()
	p.mouse(proto.InputDispatchMouseEventTypeMouseMoved, x, y, false)
}

// ClickAt clicks where nothing may stand.
func (p *Tab) ClickAt(x, y float64) {
	p.T.Helper()
	p.mouse(proto.InputDispatchMouseEventTypeMousePressed, x, y, true)
	p.mouse(proto.InputDispatchMouseEventTypeMouseReleased, x, y, false)
}

// Click waits for an element, scrolls it into view and clicks on its centre. The test fails where
// something else stands before it.
func (p *Tab) Click(selector string) {
	p.T.Helper()
	p.Wait(fmt.Sprintf(`document.querySelector(%q)?.getClientRects().length`, selector))
	at := Eval[[]float64](p, fmt.Sprintf(`(() => {
		const element = document.querySelector(%q);
		element.scrollIntoViewIfNeeded();
		const box = element.getBoundingClientRect(), x = box.x + box.width / 2, y = box.y + box.height / 2;
		return element.contains(document.elementFromPoint(x, y)) ? [x, y] : [];
	})()`, selector))
	if len(at) == 0 {
		p.T.Fatalf("something stands before %s", selector)
	}
	p.ClickAt(at[0], at[1])
}

// Drag presses the button of the mouse at one position and releases it at another.
func (p *Tab) Drag(fromX, fromY, toX, toY float64) {
	p.T.Helper()
	p.mouse(proto.InputDispatchMouseEventTypeMousePressed, fromX, fromY, true)
	const steps = 4
	for i := 1; i <= steps; i++ {
		part := float64(i) / steps
		p.mouse(proto.InputDispatchMouseEventTypeMouseMoved, fromX+(toX-fromX)*part, fromY+(toY-fromY)*part, true)
	}
	p.mouse(proto.InputDispatchMouseEventTypeMouseReleased, toX, toY, false)
}

// mouse sends one event; pressed says whether the left button is down after it.
func (p *Tab) mouse(kind proto.InputDispatchMouseEventType, x, y float64, pressed bool) {
	p.T.Helper()
	event := proto.InputDispatchMouseEvent{Type: kind, X: x, Y: y, Button: proto.InputMouseButtonNone}
	if pressed || kind == proto.InputDispatchMouseEventTypeMouseReleased {
		event.Button = proto.InputMouseButtonLeft
	}
	if kind != proto.InputDispatchMouseEventTypeMouseMoved {
		event.ClickCount = 1
	}
	p.must(event.Call(p.session))
}

// Fill gives a field another text, and says so to the page as typing does.
func (p *Tab) Fill(selector, text string) {
	p.T.Helper()
	p.Do(fmt.Sprintf(`
		const field = document.querySelector(%q);
		field.value = %q;
		field.dispatchEvent(new Event("input"));`, selector, text))
}

// Picture is what can be seen of the page now, as PNG.
func (p *Tab) Picture() []byte {
	p.T.Helper()
	picture, err := proto.PageCaptureScreenshot{Format: proto.PageCaptureScreenshotFormatPng}.Call(p.session)
	p.must(err)
	return picture.Data
}
