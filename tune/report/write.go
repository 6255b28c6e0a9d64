package report

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/files"
)

// extensions are what [Report.WriteFiles] knows.
var extensions = []string{".html", ".htm", ".md", ".png", ".svg", ".pdf"}

// CheckPath says whether [Report.WriteFiles] knows the extension of path, so that a bad one is
// found before anything is read.
func CheckPath(path string) error {
	if !slices.Contains(extensions, extension(path)) {
		return fmt.Errorf("%s: the extension says no form of a report; known are .html, .md (a table) and, for a single plot, .png, .svg and .pdf", path)
	}
	return nil
}

// IsPage reports whether path is that of a page.
func IsPage(path string) bool {
	return slices.Contains([]string{".html", ".htm"}, extension(path))
}

// IsPlot reports whether path is that of a picture.
func IsPlot(path string) bool {
	return slices.Contains([]string{".png", ".svg", ".pdf"}, extension(path))
}

func extension(path string) string { return strings.ToLower(filepath.Ext(path)) }

// WriteFiles writes the report to each path in the form that its extension stands for, a
// picture of one plot where it is that of a picture. All files are made beside their places and
// renamed when all are complete: after an error in making them, all is as it was.
func (r *Report) WriteFiles(paths []string, plot Plot) error {
	failed := func(path string, err error) error { return fmt.Errorf("write the report to %s: %w", path, err) }
	var made []*files.Replacement
	for _, path := range paths {
		replacement, err := files.Create(path)
		if err != nil {
			return failed(path, err)
		}
		defer replacement.Discard()
		if err := r.write(replacement, extension(path), plot); err != nil {
			return failed(path, err)
		}
		made = append(made, replacement)
	}
	for i, replacement := range made {
		if err := replacement.Commit(); err != nil {
			return failed(paths[i], err)
		}
	}
	return nil
}

func (r *Report) write(w io.Writer, extension string, plot Plot) error {
	switch extension {
	case ".html", ".htm":
		return r.WriteHTML(w)
	case ".md":
		return r.WriteMarkdown(w)
	}
	return r.WritePlot(w, extension, plot)
}
