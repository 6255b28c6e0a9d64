package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
)

// TestEChartsIsWhatItsFileSays: the library is that of the version and hash that stand beside
// it, and has nothing that would end its script element.
func TestEChartsIsWhatItsFileSays(t *testing.T) {
	library := echarts()
	version, err := os.ReadFile("asset/echarts/VERSION")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(library))
	if !strings.Contains(string(version), hex.EncodeToString(sum[:])) {
		t.Errorf("the hash of the library, %x, is not in its VERSION", sum)
	}
	number := regexp.MustCompile(`Apache ECharts ([0-9.]+[0-9])`).FindSubmatch(version)
	if number == nil || !strings.Contains(library, `"`+string(number[1])+`"`) {
		t.Errorf("the library does not have the version %s", number)
	}
	for _, text := range []string{library, ownScript()} {
		if found := regexp.MustCompile(`(?i)</script|<!--`).FindString(text); found != "" {
			t.Errorf("a script holds %s", found)
		}
	}
}

// TestOneFileOfEachScript: all scripts of the folder are in the page, each once.
func TestOneFileOfEachScript(t *testing.T) {
	found, err := filepath.Glob("asset/page/*.js")
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != len(scripts) {
		t.Errorf("%d scripts in the folder, %d in the page", len(found), len(scripts))
	}
	// The statuses are those of package tune, and no script repeats them.
	names, err := json.Marshal(tune.Statuses())
	if err != nil {
		t.Fatal(err)
	}
	if all := ownScript(); !strings.Contains(all, "const statuses = "+string(names)+",") || strings.Count(all, tune.Constraints.Text()) != 1 {
		t.Errorf("the scripts do not have the statuses %s with their texts once", names)
	}
}

// TestHostileNamesStayInTheirBlock looks at the page as text: a hostile name is nowhere as it is.
func TestHostileNamesStayInTheirBlock(t *testing.T) {
	var b bytes.Buffer
	if err := mustReport(t, Source{hostileScript, everything(t)}).WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, hostile := range []string{hostileImage, hostileScript, "<!--<script>"} {
		if strings.Contains(page, hostile) {
			t.Errorf("%s stands in the page as it is", hostile)
		}
	}
	if strings.Contains(page, "{{") && regexp.MustCompile(`\{\{[a-z]+\}\}`).MatchString(page) {
		t.Error("a place in the page was left open")
	}
	if n := strings.Count(page, "<script"); n != 4 {
		t.Errorf("%d script elements, not 4", n)
	}
}

func TestMarkdown(t *testing.T) {
	recorded := everything(t)
	r := mustReport(t, Source{"a", recorded})
	var b bytes.Buffer
	if err := r.WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, hostile := range []string{"<img", "<script", "</script"} {
		if strings.Contains(regexp.MustCompile("`[^`]*`").ReplaceAllString(text, ""), hostile) {
			t.Errorf("%s stands in the table as it is:\n%s", hostile, text)
		}
	}
	var table []string
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "|") {
			table = append(table, line)
			if n := len(regexp.MustCompile(`[^\\]\|`).FindAllString(line, -1)); n != len(r.Runs[0].Parameters)+len(r.Runs[0].Measures)+1 {
				t.Errorf("%d cells: %s", n, line)
			}
		}
	}
	if len(table) != markdownRows+2 {
		t.Errorf("%d lines of a table", len(table))
	}
	best := r.Runs[0].Summary.Best
	for _, want := range []string{"Best: **" + figure.Milliseconds(best.Time) + " ms**", best.Options[:20]} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for i, row := range tune.Rank(recorded.Header.Objective, recorded.Results).Indices[:markdownRows] {
		if !strings.Contains(table[i+2], " "+figure.Milliseconds(recorded.Results[row].Figures().Time)+" ") {
			t.Errorf("row %d of the table: %s", i+1, table[i+2])
		}
	}
	if line := "The order and the figures of the first 4 are those of the final measurement"; !strings.Contains(text, line) || best.Row != 3 && best.Row != 4 && best.Row != 5 && best.Row != 8 {
		t.Errorf("the best is %d, and there is no %q in\n%s", best.Row, line, text)
	}
}

// TestFilesAppearWhole: where one of several cannot be made, all is as it was.
func TestFilesAppearWhole(t *testing.T) {
	folder := t.TempDir()
	good, bad := filepath.Join(folder, "a.html"), filepath.Join(folder, "none", "b.md")
	if err := os.WriteFile(good, []byte("before"), 0o640); err != nil {
		t.Fatal(err)
	}
	r := mustReport(t, Source{"r", everything(t)})
	if err := r.WriteFiles([]string{good, bad}, false); err == nil || !strings.Contains(err.Error(), "b.md") {
		t.Errorf("a file in a folder that is not there: %v", err)
	}
	if data, err := os.ReadFile(good); err != nil || string(data) != "before" {
		t.Errorf("a.html is %q: %v", data, err)
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) != 1 {
		t.Errorf("%v is left: %v", left, err)
	}
	if err := r.WriteFiles([]string{good, filepath.Join(folder, "b.md")}, false); err != nil {
		t.Error(err)
	}
	info, err := os.Stat(good)
	if err != nil || info.Mode().Perm() != 0o640 || info.Size() < 1e6 {
		t.Errorf("a.html: %v %v", info, err)
	}
}
