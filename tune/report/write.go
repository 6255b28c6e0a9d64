package report

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
func (r *Report) WriteFiles(paths []string, plot Plot) (err error) {
	var made []partial
	defer func() {
		for _, p := range made {
			_ = os.Remove(p.temporary) // where it is still there
		}
	}()
	for _, path := range paths {
		p, err := makePartial(path, func(w io.Writer) error { return r.write(w, extension(path), plot) })
		if err != nil {
			return fmt.Errorf("write the report to %s: %w", path, err)
		}
		made = append(made, p)
	}
	for _, p := range made {
		if err := os.Rename(p.temporary, p.path); err != nil {
			return fmt.Errorf("write the report to %s: %w", p.path, err)
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

// A partial is a complete file that is not in its place yet.
type partial struct{ temporary, path string }

func makePartial(path string, write func(io.Writer) error) (p partial, err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // a link stays a link
	}
	mode := fs.FileMode(0)
	switch info, err := os.Stat(path); {
	case err == nil && !info.Mode().IsRegular():
		return p, errors.New("it is not a plain file")
	case err == nil:
		mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return p, err
	}
	temporary := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%d", filepath.Base(path), os.Getpid()))
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return p, err
	}
	if mode != 0 {
		_ = f.Chmod(mode) // as far as that goes
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		_ = os.Remove(temporary)
		return p, err
	}
	return partial{temporary, path}, nil
}
