package check

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/internal/files"
)

// Formats are the forms in which a report is written.
func Formats() []string { return []string{"text", "json", "markdown"} }

// FormatOf returns the format that the extension of a file names, or "".
func FormatOf(path string) string {
	return map[string]string{".json": "json", ".md": "markdown", ".txt": "text"}[strings.ToLower(filepath.Ext(path))]
}

// Write writes the report in one of [Formats].
func (r *Report) Write(w io.Writer, format string) error {
	switch format {
	case "text":
		_, err := io.WriteString(w, r.text())
		return err
	case "json":
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(r)
	case "markdown":
		return r.writeMarkdown(w)
	}
	return fmt.Errorf("there is no format %q", format)
}

// path returns a file that the specification names, relative to the working folder as the specification is.
func (r *Report) path(file string) string {
	if filepath.IsAbs(file) || r.Spec == "" {
		return file
	}
	return filepath.ToSlash(filepath.Join(filepath.Dir(r.Spec), file))
}

// summary says what was checked, and what was found.
func (r *Report) summary() string {
	devices := []string{}
	for _, c := range r.Runs {
		devices = each.AppendNew(devices, c.Device)
	}
	text := fmt.Sprintf("%s: %s", r.Kernel, figure.Count(r.Chosen, "configuration"))
	if r.Pairs > 0 {
		text += fmt.Sprintf(" with all %d pairs of values", r.Pairs)
	}
	if len(devices) > 0 {
		text += ", on " + strings.Join(devices, " and ")
	}
	text += fmt.Sprintf(": %s", figure.Count(r.Faults(), "fault"))
	if notes := len(r.Findings) - r.Faults(); notes > 0 {
		text += ", " + figure.Count(notes, "note")
	}
	took := time.Duration(r.Seconds * float64(time.Second)).Round(100 * time.Millisecond)
	text += fmt.Sprintf(" (%d of %d checks finished, %s)", r.Checked(), len(r.Runs), took)
	if r.Stopped != "" {
		text += "; stopped: " + r.Stopped
	}
	return text
}

// share says how many of the checked configurations have a finding.
func (r *Report) share(f Finding) string {
	checked := each.Count(r.Runs, func(c Check) bool { return c.Device == f.Device })
	return fmt.Sprintf("in %d of %s", len(f.Configurations), figure.Count(checked, "configuration"))
}

// size returns the constants with which a configuration was simulated.
func (r *Report) size(f Finding) string {
	for _, c := range r.Runs {
		if c.Configuration == f.Configurations[0] && c.Device == f.Device {
			return c.Size
		}
	}
	return ""
}

func (r *Report) text() string {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s: %s\n", heading(f), f.Text)
		for _, l := range f.Where {
			fmt.Fprintf(&b, "  %s:%d: %s\n", r.path(l.File), l.Line, l.Text)
		}
		fmt.Fprintf(&b, "  %s", f.Kernel)
		if f.Entity != "" {
			fmt.Fprintf(&b, ", %s", f.Entity)
		}
		fmt.Fprintf(&b, ", on %s\n  %s, the smallest: %s", f.Device, r.share(f), f.Configurations[0])
		if size := r.size(f); size != "" {
			fmt.Fprintf(&b, " (%s)", size)
		}
		b.WriteString("\n\n")
	}
	for _, u := range r.omissions(func(c Check) []string { return []string{c.Unchecked} }) {
		fmt.Fprintf(&b, "not checked: %s\n  %s\n", u.why, strings.Join(u.configurations, "\n  "))
	}
	for _, u := range r.omissions(func(c Check) []string { return c.Skipped }) {
		fmt.Fprintf(&b, "not looked for in %s: %s\n", figure.Count(len(u.configurations), "configuration"), u.why)
	}
	fmt.Fprintln(&b, r.summary())
	return b.String()
}

// writeMarkdown writes the text as a block of code, in which nothing has a meaning to Markdown.
func (r *Report) writeMarkdown(w io.Writer) error {
	block := "    " + strings.ReplaceAll(excerpt.Visible(strings.TrimSpace(r.Spec+"\n"+r.text())), "\n", "\n    ")
	_, err := fmt.Fprintf(w, "## ndtune check\n\n%s\n", block)
	return err
}

func heading(f Finding) string {
	if f.Note {
		return "note, " + string(f.Kind)
	}
	return string(f.Kind)
}

// An omission is a reason why something was not checked, with the configurations that share it.
type omission struct {
	why            string
	configurations []string
}

// omissions returns the reasons that checks have, in their order.
func (r *Report) omissions(of func(Check) []string) (all []omission) {
	for _, c := range r.Runs {
		for _, why := range of(c) {
			if why == "" {
				continue
			}
			i := slices.IndexFunc(all, func(o omission) bool { return o.why == why })
			if i < 0 {
				i = len(all)
				all = append(all, omission{why: why})
			}
			all[i].configurations = append(all[i].configurations, c.Configuration)
		}
	}
	return all
}

// WriteFile writes the report to a file, in the format of its extension.
func (r *Report) WriteFile(path string) error {
	if err := files.Write(path, func(w io.Writer) error { return r.Write(w, FormatOf(path)) }); err != nil {
		return fmt.Errorf("write the report to %s: %w", path, err)
	}
	return nil
}
