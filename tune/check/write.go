package check

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ndtune/ndtune/internal/figure"
)

// Formats are the forms in which a report is written.
func Formats() []string { return []string{"text", "json", "sarif", "markdown"} }

// FormatOf returns the format that the extension of a file names, or "".
func FormatOf(path string) string {
	return map[string]string{".json": "json", ".sarif": "sarif", ".md": "markdown", ".txt": "text"}[strings.ToLower(filepath.Ext(path))]
}

// Write writes the report in one of [Formats].
func (r *Report) Write(w io.Writer, format string) error {
	switch format {
	case "text":
		return r.writeText(w)
	case "json":
		return writeJSON(w, r)
	case "sarif":
		return writeJSON(w, r.sarif())
	case "markdown":
		return r.writeMarkdown(w)
	}
	return fmt.Errorf("there is no format %q", format)
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
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
		if !slices.Contains(devices, c.Device) {
			devices = append(devices, c.Device)
		}
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
	text += fmt.Sprintf(" (%d of %d checks finished, %s)", r.Checked(), len(r.Runs), time.Duration(r.Seconds*float64(time.Second)).Round(100*time.Millisecond))
	if r.Stopped != "" {
		text += "; stopped: " + r.Stopped
	}
	return text
}

// share says how many of the checked configurations have a finding.
func (r *Report) share(f Finding) string {
	checked := 0
	for _, c := range r.Runs {
		if c.Device == f.Device {
			checked++
		}
	}
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

func (r *Report) writeText(w io.Writer) error {
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
	for _, u := range r.unchecked() {
		fmt.Fprintf(&b, "not checked: %s\n  %s\n", u.why, strings.Join(u.configurations, "\n  "))
	}
	for _, u := range r.skipped() {
		fmt.Fprintf(&b, "not looked for in %s: %s\n", figure.Count(len(u.configurations), "configuration"), u.why)
	}
	fmt.Fprintln(&b, r.summary())
	_, err := io.WriteString(w, b.String())
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

func (r *Report) unchecked() []omission {
	return r.omissions(func(c Check) []string {
		if c.Unchecked == "" {
			return nil
		}
		return []string{c.Unchecked}
	})
}

func (r *Report) skipped() []omission {
	return r.omissions(func(c Check) []string { return c.Skipped })
}

func (r *Report) omissions(of func(Check) []string) (all []omission) {
	for _, c := range r.Runs {
		for _, why := range of(c) {
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

func (r *Report) writeMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## ndtune check: %s\n\n%s\n", code(r.Spec), escaped(r.summary()))
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n", escaped(heading(f)), escaped(f.Text))
		for _, l := range f.Where {
			fmt.Fprintf(&b, "- %s %s\n", code(fmt.Sprintf("%s:%d", r.path(l.File), l.Line)), code(l.Text))
		}
		fmt.Fprintf(&b, "- kernel %s, on %s; %s; the smallest: %s", code(f.Kernel), escaped(f.Device), r.share(f), code(f.Configurations[0]))
		if size := r.size(f); size != "" {
			fmt.Fprintf(&b, " (%s)", code(size))
		}
		b.WriteString("\n")
	}
	if omitted := r.unchecked(); len(omitted) > 0 {
		b.WriteString("\n### Not checked\n\n")
		for _, u := range omitted {
			first, _, _ := strings.Cut(u.why, "\n")
			fmt.Fprintf(&b, "- %s: %s", figure.Count(len(u.configurations), "configuration"), escaped(first))
			fmt.Fprintf(&b, " (%s)\n", code(u.configurations[0]))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// code returns a text as code in Markdown.
func code(text string) string {
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if text == "" {
		return ""
	}
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return fence + text + fence
}

// escaped returns a text without meaning to Markdown.
func escaped(text string) string {
	return strings.NewReplacer("\\", "\\\\", "*", "\\*", "_", "\\_", "<", "&lt;", "[", "\\[", "`", "\\`", "\n", " ").Replace(text)
}

// The parts of SARIF 2.1.0 that a report has: https://docs.oasis-open.org/sarif/sarif/v2.1.0/.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Results     []sarifResult     `json:"results"`
		Invocations []sarifInvocation `json:"invocations"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		URI   string      `json:"informationUri"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string    `json:"id"`
		Short sarifText `json:"shortDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
		Related   []sarifLocation `json:"relatedLocations,omitempty"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level   string    `json:"level"`
		Message sarifText `json:"message"`
	}
)

// sarif returns the report as SARIF. A finding without a line stands at the first line of the specification, since code hosts show
// no result without a place.
func (r *Report) sarif() sarifLog {
	rule := func(k Kind) string { return strings.ReplaceAll(string(k), " ", "-") }
	run := sarifRun{
		Tool:        sarifTool{sarifDriver{Name: "ndtune check", URI: "https://github.com/ndtune/ndtune"}},
		Results:     []sarifResult{},
		Invocations: []sarifInvocation{{Successful: r.Checked() > 0 && r.Stopped == ""}},
	}
	for _, k := range kinds {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{rule(k.Kind), sarifText{k.about}})
	}
	for _, f := range r.Findings {
		level := "error"
		if f.Note {
			level = "note"
		}
		text := fmt.Sprintf("%s: %s (kernel %s, %s, the smallest: %s)", f.Kind, f.Text, f.Kernel, r.share(f), f.Configurations[0])
		result := sarifResult{RuleID: rule(f.Kind), Level: level, Message: sarifText{text}}
		var places []sarifLocation
		for _, l := range f.Where {
			places = append(places, sarifLocation{sarifPhysical{sarifArtifact{r.path(l.File)}, sarifRegion{l.Line, l.Column}}})
		}
		if places == nil {
			places = []sarifLocation{{sarifPhysical{sarifArtifact{filepath.ToSlash(r.Spec)}, sarifRegion{StartLine: 1}}}}
		}
		result.Locations, result.Related = places[:1], places[1:]
		run.Results = append(run.Results, result)
	}
	for _, u := range r.unchecked() {
		run.Invocations[0].Notifications = append(run.Invocations[0].Notifications, sarifNotification{"warning", sarifText{figure.Count(len(u.configurations), "configuration") + " not checked: " + u.why}})
	}
	return sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}}
}

// WriteFile writes the report to a file, in the format of its extension.
func (r *Report) WriteFile(path string) error {
	var b strings.Builder
	if err := r.Write(&b, FormatOf(path)); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(b.String()), 0o666)
}
