package report

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/tune"
)

//go:embed asset/page asset/fragment.html asset/echarts/echarts.min.js.gz
var assets embed.FS

// scripts are the page's own, in the order in which they are put together.
var scripts = []string{
	"format.js", "element.js", "run.js", "colors.js", "scale.js", "chart.js",
	"comparison.js", "summary.js", "progress.js", "front.js", "distribution.js", "importance.js", "scatter.js", "heatmap.js",
	"parallel.js", "failures.js", "spent.js", "query.js", "table.js", "live.js", "main.js",
}

// WriteHTML writes the page: one file that works offline and asks nobody for anything.
func (r *Report) WriteHTML(w io.Writer) error {
	data, blob, err := r.encode()
	if err != nil {
		return err
	}
	// What the hashes do not name does not run, and nothing can be asked for anywhere: there is no
	// connect-src, img-src or form-action beside none.
	return writePage(w, pagePolicy(), r.title(), data, blob)
}

// encode is the report as JSON, in which <, > and & and the separators U+2028 and U+2029 are
// escaped, and the columns of all runs as pack makes them.
func (r *Report) encode() (data, blob string, err error) {
	var columns []Column
	end := 0
	for _, run := range r.Runs {
		end = place(run.Columns, end)
		columns = append(columns, run.Columns...)
	}
	if blob, err = pack(columns); err != nil {
		return "", "", err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return "", "", fmt.Errorf("write the report as JSON: %w", err)
	}
	return string(text), blob, nil
}

// pagePolicy is the Content-Security-Policy of the page.
func pagePolicy() string {
	return fmt.Sprintf("default-src 'none'; base-uri 'none'; form-action 'none'; script-src %s %s; style-src %s",
		hash(echarts()), hash(ownScript()), hash(asset("style.css")))
}

// writePage puts the page together, with data as encode escapes it.
func writePage(w io.Writer, policy, title, data, blob string) error {
	page := strings.NewReplacer(
		"{{policy}}", html.EscapeString(policy),
		"{{title}}", html.EscapeString(excerpt.Visible(title)),
		"{{style}}", asset("style.css"),
		"{{report}}", data,
		"{{columns}}", blob,
		"{{echarts}}", echarts(),
		"{{script}}", ownScript(),
	)
	_, err := page.WriteString(w, asset("page.html"))
	return err
}

func (r *Report) title() string {
	return strings.Join(each.Of(r.Runs, (*Run).Title), ", ")
}

// ownScript is one function of all scripts, so that their names are nobody else's. It begins with the statuses in the order of
// [columnStatus], and their texts.
func ownScript() string {
	texts := map[tune.Status]string{}
	for _, s := range tune.Statuses() {
		texts[s] = s.Text()
	}
	names, _ := json.Marshal(tune.Statuses())
	words, _ := json.Marshal(texts) // texts always have a form
	var b strings.Builder
	fmt.Fprintf(&b, "\"use strict\";\n(() => {\nconst statuses = %s, statusTexts = %s;\n", names, words)
	for _, name := range scripts {
		b.WriteString(asset(name))
	}
	b.WriteString("})();\n")
	return b.String()
}

// asset is a file of the page, with the line ends that a parser of HTML leaves: a hash is of
// what the browser sees.
func asset(name string) string {
	data, err := assets.ReadFile("asset/page/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return strings.ReplaceAll(string(data), "\r\n", "\n")
}

// echarts is the chart library.
var echarts = sync.OnceValue(func() string {
	data, err := assets.ReadFile("asset/echarts/echarts.min.js.gz")
	if err != nil {
		panic(err) // it is embedded
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		panic(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		panic(err)
	}
	return string(text)
})

// hash names the content of a script or a style in a Content-Security-Policy.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// LivePage is the page that shows runs as they go on, and its Content-Security-Policy. It asks
// for a stream of server-sent events at the path events, relative to its own, and for nothing
// else. Each event «part» is what [Report.Part] makes; the event «end» says that no more come.
func LivePage(tool, title, events string, created time.Time) (page []byte, policy string, err error) {
	data, err := json.Marshal(struct {
		*Report
		Live string `json:"live"`
	}{&Report{Tool: tool, Created: created.UTC().Truncate(time.Second), Runs: []*Run{}}, events})
	if err != nil {
		return nil, "", fmt.Errorf("write the page as JSON: %w", err)
	}
	policy = pagePolicy() + "; connect-src 'self'"
	var b bytes.Buffer
	err = writePage(&b, policy, title, string(data), "")
	return b.Bytes(), policy, err
}

// A Progress says how far a run is that goes on.
type Progress struct {
	// Session tells the runs of one process from those of another: a page that was connected to
	// another one begins anew.
	Session string  `json:"session"`
	Place   int     `json:"place"`   // of the run among those of the session
	Total   int     `json:"total"`   // configurations that it will have evaluated at most
	Resumed int     `json:"resumed"` // of the results, those that a log held
	Elapsed float64 `json:"elapsed"` // milliseconds since it began, without an earlier session
	Ended   string  `json:"ended"`   // how it ended; empty while it goes on
}

// Part is what a page lacks that has the first rows of the one run of this report, from an
// earlier part: one line of JSON. Of 0 rows it is all of the run. The other rows must be as
// they were.
func (r *Report) Part(from int, p Progress) ([]byte, error) {
	run := *r.Runs[0]
	var columns []Column
	known := uint32(0) // of the reasons: they stand in the order in which rows refer to them
	for i := range run.Columns {
		c := &run.Columns[i]
		if c.Name == columnRank && from > 0 {
			continue // new rows may have moved the ones that the page has
		}
		if c.Name == columnReason && from > 0 {
			known = slices.Max(run.index(columnReason)[:from])
		}
		columns = append(columns, c.since(from))
	}
	run.Columns = columns
	place(columns, 0)
	if from > 0 {
		run.Parameters = nil
		run.Reasons = run.Reasons[known:]
	}
	blob, err := pack(run.Columns)
	if err != nil {
		return nil, err
	}
	part, err := json.Marshal(struct {
		Progress Progress `json:"progress"`
		From     int      `json:"from"`
		Run      *Run     `json:"run"`
		Columns  string   `json:"columns"`
	}{p, from, &run, blob})
	if err != nil {
		return nil, fmt.Errorf("write a part of the report as JSON: %w", err)
	}
	return part, nil
}
