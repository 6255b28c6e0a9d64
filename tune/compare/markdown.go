package compare

import (
	"fmt"
	"io"
	"strings"
)

// WriteMarkdown writes the tables to paste. Characters that Markdown or HTML would read are
// escaped.
func (c *Comparison) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n", escape(c.Title()))
	for _, t := range c.Tables() {
		fmt.Fprintf(&b, "\n%s\n\n", escape(t.Title))
		line := func(cells []string) {
			escaped := make([]string, len(cells))
			for i, cell := range cells {
				escaped[i] = escape(cell)
			}
			fmt.Fprintf(&b, "| %s |\n", strings.Join(escaped, " | "))
		}
		line(t.Head)
		rule := make([]string, len(t.Head))
		for i := range rule {
			if rule[i] = "---"; t.Number[i] {
				rule[i] = "---:"
			}
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(rule, " | "))
		for _, row := range t.Rows {
			line(row)
		}
		for i, note := range t.Notes {
			if i == 0 {
				b.WriteString("\n")
			}
			fmt.Fprintf(&b, "- %s\n", escape(note))
		}
	}
	if why := c.NoOverall(); why != "" {
		fmt.Fprintf(&b, "\nno best over all: %s\n", escape(why))
	}
	for i, n := range c.Notices {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "- %s\n", escape(n))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// escape takes what is special in Markdown, in a table or in HTML out of a text.
func escape(text string) string {
	var b strings.Builder
	for _, c := range text {
		switch {
		case c == '&':
			b.WriteString("&amp;")
		case c == '<':
			b.WriteString("&lt;")
		case c == '>':
			b.WriteString("&gt;")
		case strings.ContainsRune("\\`*_[]|~", c):
			b.WriteRune('\\')
			b.WriteRune(c)
		case c == '\n' || c == '\r' || c == '\t':
			b.WriteByte(' ')
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}
