package spec

import (
	"fmt"
	"path/filepath"
	"strings"
)

// An option is one option for the compiler and the field in which it stands.
type option struct {
	text string
	from field
}

// buildOptions reads the options for the compiler: a list with one option each, or a text
// with several, parted by spaces. Folders of -I are relative to this file. For the compiler
// they are made absolute, since it may run elsewhere; dirs has them as they are written.
func (f field) buildOptions() (options, dirs []string) {
	given := f.givenOptions()
	for i := 0; i < len(given); i++ {
		dir, ok := strings.CutPrefix(given[i].text, "-I")
		if !ok {
			options = append(options, given[i].text)
			continue
		}
		from := given[i].from
		if dir = strings.Trim(strings.TrimSpace(dir), `"`); dir == "" && i+1 < len(given) {
			i++
			dir = given[i].text
		}
		if err := f.checkFolder(dir); err != nil {
			from.fail(err)
			continue
		}
		dirs = append(dirs, dir)
		if f.fsys == nil { // the compiler reads the operating system's files only
			options = append(options, "-I"+f.absolute(dir))
		}
	}
	return options, dirs
}

func (f field) givenOptions() (options []option) {
	items := f.listOrOne()
	if len(items) == 1 && items[0].name == f.name {
		for _, text := range strings.Fields(f.text()) {
			options = append(options, option{text, f})
		}
		return options
	}
	for _, item := range items {
		if text := strings.TrimSpace(item.text()); text != "" {
			options = append(options, option{text, item})
		}
	}
	return options
}

func (d *document) checkFolder(name string) error {
	if name == "" {
		return fmt.Errorf("-I names no folder")
	}
	path := d.beside(d.path, name)
	info, err := d.stat(path)
	switch {
	case err != nil:
		return fmt.Errorf("-I: there is no folder %s", path)
	case !info.IsDir():
		return fmt.Errorf("-I: %s is a file, not a folder", path)
	}
	return nil
}

// absolute is the path of a name that stands in the document; in an fs.FS, which has no
// absolute paths, it begins at the root.
func (d *document) absolute(name string) string {
	path := d.beside(d.path, name)
	if d.fsys != nil {
		return path
	}
	if absolute, err := filepath.Abs(path); err == nil {
		return absolute
	}
	return path
}
