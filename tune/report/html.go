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
	"strings"
)

//go:embed asset/page asset/echarts/echarts.min.js.gz
var assets embed.FS

// scripts are the page's own, in the order in which they are put together.
var scripts = []string{
	"format.js", "element.js", "run.js", "colors.js", "scale.js", "chart.js",
	"summary.js", "progress.js", "distribution.js", "importance.js", "scatter.js", "heatmap.js",
	"parallel.js", "failures.js", "spent.js", "query.js", "table.js", "main.js",
}

// WriteHTML writes the page: one file that works offline and asks nobody for anything.
func (r *Report) WriteHTML(w io.Writer) error {
	data, blob, err := r.encode()
	if err != nil {
		return err
	}
	library, err := echarts()
	if err != nil {
		return err
	}
	style, script := asset("style.css"), ownScript()
	// What the hashes do not name does not run, and nothing can be asked for anywhere: there is no
	// connect-src, img-src or form-action beside none.
	policy := fmt.Sprintf("default-src 'none'; base-uri 'none'; form-action 'none'; script-src %s %s; style-src %s",
		hash(library), hash(script), hash(style))
	page := strings.NewReplacer(
		"{{policy}}", html.EscapeString(policy),
		"{{title}}", html.EscapeString(r.title()),
		"{{style}}", style,
		"{{report}}", data,
		"{{columns}}", blob,
		"{{echarts}}", library,
		"{{script}}", script,
	)
	_, err = page.WriteString(w, asset("page.html"))
	return err
}

// encode is the report as JSON, in which <, > and & and the separators U+2028 and U+2029 are
// escaped, and the columns of all runs, gzipped, in base64.
func (r *Report) encode() (data, blob string, err error) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	offset := 0
	for _, run := range r.Runs {
		for i := range run.Columns {
			c := &run.Columns[i]
			c.Offset = offset
			padding := make([]byte, (8-len(c.bytes)%8)%8)
			offset += len(c.bytes) + len(padding)
			if _, err := z.Write(append(c.bytes[:len(c.bytes):len(c.bytes)], padding...)); err != nil {
				return "", "", err
			}
		}
	}
	if err := z.Close(); err != nil {
		return "", "", err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return "", "", fmt.Errorf("write the report as JSON: %w", err)
	}
	return string(text), base64.StdEncoding.EncodeToString(packed.Bytes()), nil
}

func (r *Report) title() string {
	titles := make([]string, len(r.Runs))
	for i, run := range r.Runs {
		titles[i] = run.Title()
	}
	return strings.Join(titles, ", ")
}

// ownScript is one function of all scripts, so that their names are nobody else's.
func ownScript() string {
	var b strings.Builder
	b.WriteString("\"use strict\";\n(() => {\n")
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

func echarts() (string, error) {
	data, err := assets.ReadFile("asset/echarts/echarts.min.js.gz")
	if err != nil {
		return "", err
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(z)
	return string(text), err
}

// hash names the content of a script or a style in a Content-Security-Policy.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
