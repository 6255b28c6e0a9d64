package browser

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

func TestMain(m *testing.M) { Main(m) }

// serve opens a page of this HTML.
func serve(t *testing.T, html string) (p *Tab, url string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte("<!doctype html><link rel=icon href=data:,>" + html))
	}))
	t.Cleanup(s.Close)
	return Open(t, s.URL+"/", Desktop), s.URL + "/"
}

// TestComplaints: once a script is over, all that it complained about is known.
func TestComplaints(t *testing.T) {
	p, _ := serve(t, `<script>console.warn("while it loads")</script>`)
	for range 10 {
		before := len(p.Complaints())
		p.Do(`
			console.log("no complaint");
			console.error("an error", new Error("inside"));
			console.warn("a warning");
			alert("a dialog");
			reportError(new Error("nobody catches"));`)
		got := p.Complaints()[before:]
		for i, want := range []string{"console: an error", "console: Error: inside", "console: a warning", "dialog: a dialog", "exception: Uncaught Error: nobody catches"} {
			if i >= len(got) || !strings.Contains(got[i], want) {
				t.Fatalf("the page complains about %q; number %d is not %s", got, i, want)
			}
		}
	}
	if first := p.Complaints()[0]; first != "console: while it loads" {
		t.Errorf("the first complaint is %s", first)
	}
}

// TestRequests are those of the page, and those that fail are complaints.
func TestRequests(t *testing.T) {
	p, url := serve(t, `<img src=missing.png>`)
	if status := Eval[int](p, `fetch("also").then((answer) => answer.status)`); status != 404 {
		t.Errorf("the status is %d", status)
	}
	if got := p.Requests(); !slices.Equal(got, []string{url, url + "missing.png", url + "also"}) {
		t.Errorf("the requests are %q", got)
	}
	if got := strings.Join(p.Complaints(), "\n"); strings.Count(got, "404") != 2 {
		t.Errorf("the page complains about %s", got)
	}
}

// TestStorage: nothing that one page keeps is seen by another.
func TestStorage(t *testing.T) {
	p, url := serve(t, "")
	p.Do(`localStorage.setItem("mine", "yes")`)
	if got := Eval[string](Open(t, url, Desktop), `String(localStorage.getItem("mine"))`); got != "null" {
		t.Errorf("another page reads %s", got)
	}
	if got := Eval[string](p, `String(localStorage.getItem("mine"))`); got != "yes" {
		t.Errorf("the page itself reads %s", got)
	}
}

// TestReader points, clicks, drags and types on a page that writes down what it is told.
func TestReader(t *testing.T) {
	p, _ := serve(t, `
		<style>body { margin: 0; height: 5000px } #below { position: absolute; top: 4000px; left: 100px; width: 50px; height: 20px }</style>
		<input id=field><button id=below>below</button>
		<script>
			const heard = [];
			for (const type of ["mousedown", "mousemove", "mouseup"]) addEventListener(type, (e) => heard.push([type, e.clientX, e.clientY, e.buttons].join(" ")));
			field.addEventListener("input", () => heard.push("input " + field.value));
			below.addEventListener("click", (e) => heard.push("click " + e.isTrusted));
		</script>`)
	heard := func(want ...string) {
		t.Helper()
		if got := Eval[[]string](p, `heard.splice(0)`); !slices.Equal(got, want) {
			t.Errorf("the page has heard %q, want %q", got, want)
		}
	}
	p.PointAt(300, 200)
	heard("mousemove 300 200 0")
	p.ClickAt(310, 210)
	heard("mousedown 310 210 1", "mouseup 310 210 0")
	p.Drag(300, 200, 300, 240)
	heard("mousedown 300 200 1", "mousemove 300 210 1", "mousemove 300 220 1", "mousemove 300 230 1", "mousemove 300 240 1", "mouseup 300 240 0")
	p.Fill("#field", "y > 1")
	heard("input y > 1")
	p.Click("#below")
	if got := Eval[[]string](p, `heard.splice(0)`); len(got) != 3 || got[2] != "click true" {
		t.Errorf("a click on what is out of sight: %q", got)
	}
	if got := http.DetectContentType(p.Picture()); got != "image/png" {
		t.Errorf("the picture is %s", got)
	}
	p.Quiet()
}
