package compare

import (
	"fmt"
	"io"
	"strings"

	"github.com/ndtune/ndtune/internal/markdown"
)

// WriteMarkdown writes the tables to paste. Characters that Markdown or HTML would read are
// escaped.
func (c *Comparison) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n", markdown.Escape(c.Title()))
	for _, t := range c.Tables() {
		fmt.Fprintf(&b, "\n%s\n\n", markdown.Escape(t.Title))
		markdown.Table(&b, t.Head, t.Number, t.Rows)
		for i, note := range t.Notes {
			if i == 0 {
				b.WriteString("\n")
			}
			fmt.Fprintf(&b, "- %s\n", markdown.Escape(note))
		}
	}
	if why := c.NoOverall(); why != "" {
		fmt.Fprintf(&b, "\nno best over all: %s\n", markdown.Escape(why))
	}
	for i, n := range c.Notices {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "- %s\n", markdown.Escape(n))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
