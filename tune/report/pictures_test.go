package report

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ndtune/ndtune/internal/browser"
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
		view browser.View
		at   string // the part of the page to look at
	}{
		{"report-light.png", browser.View{Wide: 1200, High: 900, Scale: 1}, "summary"},
		{"report-dark.png", browser.View{Wide: 1200, High: 1000, Scale: 1, Dark: true}, "heatmap"},
		{"report-narrow.png", browser.View{Wide: 390, High: 844, Scale: 1.5, Mobile: true}, "summary"},
	} {
		p := open(t, r, picture.view)
		if picture.at != "summary" {
			p.Do(fmt.Sprintf(`document.getElementById(%q).scrollIntoView({ behavior: "instant" })`, picture.at))
		}
		p.picture(filepath.Join(folder, picture.name))
		p.Quiet()
	}
}

// TestPicturesOfComparison takes those of docs/compare.md, of the records that the pattern
// NDTUNE_PICTURES_COMPARED stands for.
func TestPicturesOfComparison(t *testing.T) {
	folder, pattern := os.Getenv("NDTUNE_PICTURES"), os.Getenv("NDTUNE_PICTURES_COMPARED")
	if folder == "" || pattern == "" {
		t.Skip("takes pictures where NDTUNE_PICTURES and NDTUNE_PICTURES_COMPARED are set: make pictures")
	}
	paths, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	var sources []Source
	for _, path := range paths {
		recorded, err := record.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, Source{filepath.Base(path), recorded})
	}
	r := mustReport(t, sources...)
	if r.Comparison == nil {
		t.Fatalf("%s: %d records are not of several devices: %s", pattern, len(paths), r.NoComparison)
	}
	for _, picture := range []struct {
		name string
		view browser.View
		at   string
	}{
		{"compare-light.png", browser.View{Wide: 1200, High: 1080, Scale: 1}, ""},
		{"compare-narrow.png", browser.View{Wide: 390, High: 844, Scale: 1.5, Mobile: true}, "compare-matrix"},
	} {
		p := open(t, r, picture.view)
		if picture.at != "" {
			p.Do(fmt.Sprintf(`document.getElementById(%q).scrollIntoView({ behavior: "instant" })`, picture.at))
		}
		p.picture(filepath.Join(folder, picture.name))
		p.Quiet()
	}
}

// picture keeps what can be seen of the page now.
func (p *tab) picture(path string) {
	p.T.Helper()
	if err := os.WriteFile(path, p.Picture(), 0o666); err != nil {
		p.T.Fatal(err)
	}
}
