package report

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/ndtune/ndtune/tune/record"
)

// TestPictures takes the pictures of docs/report.md, where NDTUNE_PICTURES names a folder for
// them: of the record that NDTUNE_PICTURES_OF names (see «make pictures»).
func TestPictures(t *testing.T) {
	folder, path := os.Getenv("NDTUNE_PICTURES"), os.Getenv("NDTUNE_PICTURES_OF")
	if folder == "" || path == "" {
		t.Skip("takes pictures where NDTUNE_PICTURES and NDTUNE_PICTURES_OF are set: make pictures")
	}
	recorded, err := record.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	r := mustReport(t, Source{filepath.Base(path), recorded})
	for _, picture := range []struct {
		name string
		view view
		at   string // the part of the page to look at
	}{
		{"report-light.png", view{wide: 1200, high: 900, scale: 1}, "summary"},
		{"report-dark.png", view{wide: 1200, high: 1000, scale: 1, dark: true}, "heatmap"},
		{"report-narrow.png", view{wide: 390, high: 844, scale: 1.5, mobile: true}, "summary"},
	} {
		p := open(t, r, picture.view)
		if picture.at != "summary" {
			p.do(fmt.Sprintf(`document.getElementById(%q).scrollIntoView({ behavior: "instant" })`, picture.at))
		}
		p.picture(filepath.Join(folder, picture.name))
		p.quiet()
	}
}

// picture keeps what can be seen of the page now.
func (p *tab) picture(path string) {
	p.t.Helper()
	png, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, png, 0o666); err != nil {
		p.t.Fatal(err)
	}
}
